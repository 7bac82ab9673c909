// What happened in the demo's café in the 60 days before its first start: who joined, came and took a reward. A rule
// without a database; history.ts makes it happen.
import { createDraw, drawGuests, type Guest, type Style } from './people.js';

export const goals = { stamps: 10, points: 100, tiered: 500 } as const satisfies Record<Style, number>;
/** What one visit gives, at least and at most. */
const gives = { stamps: [1, 1], points: [4, 14], tiered: [12, 60] } as const satisfies Record<Style, [number, number]>;

export interface Act {
  at: Date;
  kind: 'join' | 'visit' | 'reward';
  /** The place of the guest in the list. */
  guest: number;
  /** Stamps or points of a visit. */
  gives: number;
}

export interface Story {
  guests: Guest[];
  /** So many of the guests, from the first, come with the card file of the old paper cards. */
  imported: number;
  importedAt: Date;
  /** A second, small file, some of whose rows cannot be read. */
  second: { at: Date; csv: string };
  campaign: { at: Date; message: string };
  /** From then on the café's order system hears of each visit, except in its bad hour. */
  webhook: { since: Date; bad: { from: Date; to: Date } };
  /** In their order. */
  acts: Act[];
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const historyDays = 60;
const counts = { imported: 205, joined: 85 };
/** From Sunday on: a Saturday is the fullest day. */
const weekdays = [0.35, 0.6, 0.6, 0.65, 0.7, 0.85, 1];
/** From seven o'clock on. */
const hours = [3, 6, 5, 3, 2, 3, 4, 2, 3, 4, 3, 1];
const opens = 7;

const secondFile = [
  'firstName,lastName,email,initialPoints',
  'Ida,Sommer,ida.sommer@cafe.example,2',
  'Theo,Brandt,theo.brandt(at)cafe.example,1',
  'Mara,Hellmann,mara.hellmann@cafe.example,0',
  'Oskar,Lindt,oskar.lindt@cafe.example,25',
  'Nora,Winkler,nora.winkler@cafe.example,4',
  'Pia,Krämer,pia.kraemer@cafe.example,many',
  'Ida,Sommer,ida.sommer@cafe.example,2',
  'Lukas,Thal,lukas.thal@cafe.example,3',
  'Emma,Roth,emma.roth@,1',
  'Jan,Vogt,jan.vogt@cafe.example,1',
  '',
].join('\n');

export function tellStory(end: Date): Story {
  const draw = createDraw(1_971);
  const lastMidnight = Math.floor(end.getTime() / dayMs) * dayMs;
  /** `ago` whole days before the last one, at an hour. */
  const moment = (ago: number, hour: number) => new Date(lastMidnight - ago * dayMs + hour * hourMs);
  const guests = drawGuests(draw, counts.imported + counts.joined, ['stamps']);
  const styles: Style[] = ['stamps', 'tiered', 'stamps', 'points', 'stamps'];
  guests.forEach((guest, index) => {
    if (index < counts.imported) guest.initialPoints = Math.floor(draw() * goals.stamps);
    else guest.style = styles[index % styles.length] ?? 'stamps';
  });
  const importedAt = moment(historyDays - 1, 6);
  const timeOn = (ago: number): Date => moment(ago, opens + hourOf(draw()) + draw());
  const acts = guests
    .flatMap((guest, index) => lifeOf({ guest, index, isImported: index < counts.imported, draw, timeOn }))
    .filter(({ at }) => at < end)
    .toSorted((one, other) => one.at.getTime() - other.at.getTime());
  const since = moment(4, 0);
  return {
    ...{ guests, importedAt, imported: counts.imported },
    second: { at: moment(5, 6), csv: secondFile },
    campaign: { at: moment(20, 6.5), message: 'New in the café: cold brew. Come and try it.' },
    webhook: { since, bad: fullestHour(acts, { from: moment(3, 0), to: moment(0, 0) }) },
    acts,
  };
}

/** An hour after opening, of 0 to 11: the morning is the fullest. */
function hourOf(drawn: number): number {
  let left = drawn * hours.reduce((sum, each) => sum + each, 0);
  for (const [hour, share] of hours.entries()) {
    left -= share;
    if (left < 0) return hour;
  }
  return hours.length - 1;
}

interface Life {
  guest: Guest;
  index: number;
  isImported: boolean;
  draw: () => number;
  timeOn: (ago: number) => Date;
}

/** What one guest did, in order. */
function lifeOf({ guest, index, isImported, draw, timeOn }: Life): Act[] {
  const acts: Act[] = [];
  const goal = goals[guest.style];
  let balance = guest.initialPoints ?? 0;
  let ago = isImported ? historyDays - 1 - Math.floor(draw() * guest.every) : Math.floor(draw() * (historyDays - 1));
  const stamp = (at: Date) => {
    const [least, most] = gives[guest.style];
    const given = least + Math.floor(draw() * (most - least + 1));
    acts.push({ at, kind: 'visit', guest: index, gives: given });
    balance += given;
  };
  if (!isImported) {
    const at = timeOn(ago);
    acts.push({ at, kind: 'join', guest: index, gives: 0 });
    stamp(new Date(at.getTime() + 60_000));
    ago -= Math.ceil(guest.every * (0.5 + draw()));
  }
  while (ago >= guest.lastDay) {
    const at = timeOn(ago);
    if (draw() > (weekdays[at.getUTCDay()] ?? 1)) {
      ago -= 1;
      continue;
    }
    const isFull = guest.style === 'stamps' ? balance === goal : balance >= goal && draw() < 0.7;
    if (isFull) {
      acts.push({ at, kind: 'reward', guest: index, gives: 0 });
      balance = guest.style === 'stamps' ? 0 : balance - goal;
    }
    stamp(new Date(at.getTime() + 30_000));
    ago -= Math.max(1, Math.round(guest.every * (0.6 + 0.8 * draw())));
  }
  return acts;
}

/** The hour of the span with the most acts, in which no guest joins. */
function fullestHour(acts: readonly Act[], { from, to }: { from: Date; to: Date }): { from: Date; to: Date } {
  const byHour = new Map<number, number>();
  for (const { at, kind } of acts) {
    if (at < from || at >= to) continue;
    const hour = Math.floor(at.getTime() / hourMs);
    byHour.set(hour, (byHour.get(hour) ?? 0) + (kind === 'join' ? Number.NEGATIVE_INFINITY : 1));
  }
  const [hour] = [...byHour].reduce((best, each) => (each[1] > best[1] ? each : best), [from.getTime() / hourMs, 0]);
  return { from: new Date(hour * hourMs), to: new Date((hour + 1) * hourMs) };
}
