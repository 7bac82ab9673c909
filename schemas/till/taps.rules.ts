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
}

export const noTaps: Taps = { upTo: 0, gaps: [] };

/** A till that skips numbers all the time would otherwise fill its row; the newest gaps then become one. */
const maxGaps = 2_000;

export interface Arrival {
  sequence: number;
  at: Date;
}

const sizeOf = ({ from, to }: Gap): number => to - from + 1;

export const missingOf = ({ gaps }: Pick<Taps, 'gaps'>): number => gaps.reduce((sum, gap) => sum + sizeOf(gap), 0);

export const receivedOf = (taps: Taps): number => taps.upTo - missingOf(taps);

/** The device has counted up to this number. */
export function counted(taps: Taps, upTo: number, since: Date): Taps {
  if (upTo <= taps.upTo) return taps;
  return { upTo, gaps: joined([...taps.gaps, { from: taps.upTo + 1, to: upTo, since }]) };
}

function joined(gaps: Gap[]): Gap[] {
  const [last, before] = [gaps.at(-1), gaps.at(-2)];
  if (gaps.length <= maxGaps || !last || !before) return gaps;
  return [...gaps.slice(0, -2), { ...before, to: last.to }];
}

function arrived(taps: Taps, { sequence, at }: Arrival): Taps {
  const { upTo, gaps } = counted(taps, sequence, at);
  const index = gaps.findIndex(({ from, to }) => from <= sequence && sequence <= to);
  const gap = gaps[index];
  if (!gap) return { upTo, gaps };
  const left = [
    { ...gap, to: sequence - 1 },
    { ...gap, from: sequence + 1 },
  ].filter((each) => each.from <= each.to);
  return { upTo, gaps: gaps.toSpliced(index, 1, ...left) };
}

/** Taps may arrive in any order, and more than once. */
export const withArrivals = (taps: Taps, arrivals: readonly Arrival[]): Taps =>
  arrivals.toSorted((a, b) => a.sequence - b.sequence).reduce(arrived, taps);

const overdueMs = 60_000;

/** How many taps have been missing for longer than a minute. */
export const overdueOf = ({ gaps }: Pick<Taps, 'gaps'>, now: Date): number =>
  gaps.filter(({ since }) => now.getTime() - since.getTime() > overdueMs).reduce((sum, gap) => sum + sizeOf(gap), 0);
