// The story of the demo's café, before it is made to happen.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { goals, type Story, tellStory } from '../../../stack/cafe/story.js';

const dayMs = 86_400_000;
const end = new Date('2026-11-26T15:20:00.000Z');
const actsOn = ({ acts }: Story, weekday: number) => acts.filter(({ at }) => at.getUTCDay() === weekday).length;

test('the same end tells the same story', () => {
  expect(tellStory(end)).toEqual(tellStory(end));
});

test('at whatever time it ends, everything is possible, in order, within 60 days, and before the end', () => {
  const anyEnd = fc.date({ min: new Date('2026-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });
  fc.assert(
    fc.property(anyEnd, (until) => {
      const { acts, guests, imported, importedAt, second, campaign, webhook } = tellStory(until);
      const balances = guests.map(({ initialPoints = 0 }, index) => (index < imported ? initialPoints : undefined));
      let before = importedAt;
      for (const { at, kind, guest, gives } of acts) {
        expect(at >= before && at < until).toBe(true);
        before = at;
        const { style = 'stamps' } = guests[guest] ?? {};
        const balance = balances[guest];
        if (kind === 'join') expect(balance).toBeUndefined();
        else expect(balance).toBeDefined();
        const had = balance ?? 0;
        if (kind === 'reward') expect(had).toBeGreaterThanOrEqual(goals[style]);
        const left = style === 'stamps' ? 0 : had - goals[style];
        balances[guest] = kind === 'reward' ? left : had + gives;
        if (style === 'stamps') expect(balances[guest]).toBeLessThanOrEqual(goals.stamps);
      }
      expect(until.getTime() - importedAt.getTime()).toBeLessThanOrEqual(60 * dayMs);
      expect([importedAt, campaign.at, second.at, webhook.since, webhook.bad.from, until]).toEqual(
        [importedAt, campaign.at, second.at, webhook.since, webhook.bad.from, until].toSorted((a, b) => +a - +b),
      );
      const bad = acts.filter(({ at }) => at >= webhook.bad.from && at < webhook.bad.to);
      expect(bad.length).toBeGreaterThan(2);
      expect(bad.every(({ kind }) => kind !== 'join')).toBe(true);
    }),
    { numRuns: 30 },
  );
});

test('some 300 people come, most on a Saturday and fewest on a Sunday, and some have stayed away', () => {
  const story = tellStory(end);
  expect(story.guests.length).toBeGreaterThan(280);
  const byWeekday = [0, 1, 2, 3, 4, 5, 6].map((weekday) => actsOn(story, weekday));
  expect(Math.min(...byWeekday)).toBe(byWeekday[0]);
  const last = new Map(story.acts.map(({ guest, at }) => [guest, at]));
  const away = [...last.values()].filter((at) => end.getTime() - at.getTime() > 30 * dayMs);
  expect(away.length).toBeGreaterThan(10);
  expect(story.acts.filter(({ kind }) => kind === 'reward').length).toBeGreaterThan(30);
});
