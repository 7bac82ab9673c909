// Which taps of a till have arrived. A device counts its taps from 1 at each pairing; what it counted and what never
// came is a gap.

export interface Gap {
  from: number;
  to: number;
  /** When the service learned that these taps exist. */
  since: Date;
}

/** The taps of one pairing. */
export interface Taps {
  /** The highest number that is known: of a tap that arrived, or that the device said. */
  upTo: number;
  /** What of it has not arrived, in order. */
  gaps: Gap[];
  /** What has not arrived below the gaps. Which of the numbers up to `upTo` these are is not kept. */
  unnamed?: { upTo: number; taps: number; since: Date };
}

export const noTaps: Taps = { upTo: 0, gaps: [] };

/** A till that skips numbers all the time would otherwise fill its row. */
const maxGaps = 2_000;

export interface Arrival {
  sequence: number;
  at: Date;
}

const sizeOf = ({ from, to }: Gap): number => to - from + 1;

const sumOf = (gaps: readonly Gap[]): number => gaps.reduce((sum, gap) => sum + sizeOf(gap), 0);

export const missingOf = ({ gaps, unnamed }: Pick<Taps, 'gaps' | 'unnamed'>): number =>
  sumOf(gaps) + (unnamed?.taps ?? 0);

export const receivedOf = (taps: Taps): number => taps.upTo - missingOf(taps);

/** The device has counted up to this number. */
export function counted(taps: Taps, upTo: number, since: Date): Taps {
  if (upTo <= taps.upTo) return taps;
  return bounded({ ...taps, upTo, gaps: [...taps.gaps, { from: taps.upTo + 1, to: upTo, since }] });
}

/** Of the oldest gaps beyond the limit only the number of taps is kept, so that no tap that arrived is named. */
function bounded(taps: Taps): Taps {
  const beyond = taps.gaps.slice(0, -maxGaps);
  const last = beyond.at(-1);
  if (!last) return taps;
  const { unnamed } = taps;
  const times = [...beyond.map(({ since }) => since), ...(unnamed ? [unnamed.since] : [])];
  return {
    ...taps,
    gaps: taps.gaps.slice(-maxGaps),
    unnamed: {
      upTo: last.to,
      taps: sumOf(beyond) + (unnamed?.taps ?? 0),
      since: new Date(Math.max(...times.map((time) => time.getTime()))),
    },
  };
}

/** It may be one that was counted before; the number is then too low, which names no tap that arrived. */
function arrivedUnnamed(taps: Taps, sequence: number): Taps {
  const { unnamed, ...rest } = taps;
  if (!unnamed || sequence > unnamed.upTo) return taps;
  return unnamed.taps > 1 ? { ...rest, unnamed: { ...unnamed, taps: unnamed.taps - 1 } } : rest;
}

function arrived(before: Taps, { sequence, at }: Arrival): Taps {
  const taps = counted(before, sequence, at);
  const { gaps } = taps;
  const index = gaps.findIndex(({ from, to }) => from <= sequence && sequence <= to);
  const gap = gaps[index];
  if (!gap) return arrivedUnnamed(taps, sequence);
  const left = [
    { ...gap, to: sequence - 1 },
    { ...gap, from: sequence + 1 },
  ].filter((each) => each.from <= each.to);
  return bounded({ ...taps, gaps: gaps.toSpliced(index, 1, ...left) });
}

/** Taps may arrive in any order, and more than once. */
export const withArrivals = (taps: Taps, arrivals: readonly Arrival[]): Taps =>
  arrivals.toSorted((a, b) => a.sequence - b.sequence).reduce(arrived, taps);

const overdueMs = 60_000;

/** How many taps have been missing for longer than a minute. */
export function overdueOf({ gaps, unnamed }: Pick<Taps, 'gaps' | 'unnamed'>, now: Date): number {
  const isOverdue = ({ since }: { since: Date }) => now.getTime() - since.getTime() > overdueMs;
  return sumOf(gaps.filter(isOverdue)) + (unnamed && isOverdue(unnamed) ? unnamed.taps : 0);
}
