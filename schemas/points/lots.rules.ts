// The arithmetic of lots: points that expire together. The lots of a member always add up to its balance. A ledger
// entry stores what its change did to each lot, so that a reversal is exact
// (docs/decisions/points-expire-by-lots.md). Lots are in the order in which they expire.

export interface Lot {
  /** The member's version after the change that added the lot; 0 for the balance from before the program had expiry. */
  id: number;
  points: number;
  /** 1 to `points`. */
  left: number;
  /** When it expires. */
  at: Date;
}

/** A change of one lot by `by` points (negative: taken from it). */
export interface LotChange extends Omit<Lot, 'left'> {
  by: number;
}

export interface LotsAfter {
  lots: Lot[];
  /** The `by` add up to the change of the balance. */
  changes: LotChange[];
}

/**
 * Keeps the row of a member small. Above this number, neighbouring lots are merged, those with the same expiry first.
 */
export const maxLots = 200;

const soonestFirst = (one: Lot, other: Lot): number => one.at.getTime() - other.at.getTime() || one.id - other.id;

/** Merges lots above the maximum into the one that expires later, so that no point expires early. */
function bounded(lots: readonly Lot[]): Lot[] {
  const all = [...lots].sort(soonestFirst);
  while (all.length > maxLots) {
    let nearest = 1;
    const gap = (index: number) => Number(all[index]?.at) - Number(all[index - 1]?.at);
    for (let index = 2; index < all.length; index += 1) if (gap(index) < gap(nearest)) nearest = index;
    const [soon, late] = all.slice(nearest - 1, nearest + 1);
    if (!soon || !late) break;
    all.splice(nearest - 1, 2, { ...late, points: late.points + soon.points, left: late.left + soon.left });
  }
  return all;
}

const changed = ({ id, points, at }: Omit<Lot, 'left'>, by: number): LotChange => ({ id, points, at, by });

export function addLot(lots: readonly Lot[], lot: Omit<Lot, 'left'>): LotsAfter {
  if (lot.points === 0) return { lots: [...lots], changes: [] };
  return { lots: bounded([...lots, { ...lot, left: lot.points }]), changes: [changed(lot, lot.points)] };
}

/** Takes `points` from the lots in order; there must be enough. */
export function spend(lots: readonly Lot[], points: number): LotsAfter {
  const after: LotsAfter = { lots: [], changes: [] };
  let missing = points;
  for (const lot of lots) {
    const taken = Math.min(lot.left, missing);
    missing -= taken;
    if (taken > 0) after.changes.push(changed(lot, -taken));
    if (taken < lot.left) after.lots.push({ ...lot, left: lot.left - taken });
  }
  return after;
}

/** Returns at most `points` to the lots from which a spending took them. */
function refill(lots: readonly Lot[], changes: readonly LotChange[], points: number): LotsAfter {
  const after: LotsAfter = { lots: [...lots], changes: [] };
  let missing = points;
  for (const { by, ...lot } of changes) {
    const given = Math.min(Math.max(-by, 0), missing);
    if (given === 0) continue;
    missing -= given;
    const index = after.lots.findIndex(({ id }) => id === lot.id);
    const own = after.lots[index];
    if (own) after.lots[index] = { ...own, left: own.left + given };
    else after.lots.push({ ...lot, left: given });
    after.changes.push(changed(lot, given));
  }
  return { lots: bounded(after.lots), changes: after.changes };
}

/** Takes `points` from the lot that an earning added, or into which it was merged, and the rest from the other lots. */
function takeBack(lots: readonly Lot[], changes: readonly LotChange[], points: number): LotsAfter {
  const added = changes.find(({ by }) => by > 0);
  const own =
    added && (lots.find(({ id }) => id === added.id) ?? lots.find(({ at }) => at.getTime() === added.at.getTime()));
  const after = spend(own ? [own, ...lots.filter((lot) => lot !== own)] : lots, points);
  return { ...after, lots: after.lots.sort(soonestFirst) };
}

/**
 * Undoes `changes`. `points` is the change of the balance by the reversal. A refilled lot keeps its expiry, even if it
 * is over: then it expires again.
 */
export function undo(lots: readonly Lot[], changes: readonly LotChange[], points: number): LotsAfter {
  return points > 0 ? refill(lots, changes, points) : takeBack(lots, changes, -points);
}

/** The lots that expire at `now` or have expired. */
export function removeExpired(lots: readonly Lot[], now: Date): LotsAfter {
  const isOver = ({ at }: Lot) => at.getTime() <= now.getTime();
  return {
    lots: lots.filter((lot) => !isOver(lot)),
    changes: lots.filter(isOver).map((lot) => changed(lot, -lot.left)),
  };
}

export const sumOf = (lots: readonly Lot[]): number => lots.reduce((sum, { left }) => sum + left, 0);

/** The next three expiries, one line for each date. */
export function expiringOf(lots: readonly Lot[]): { points: number; at: Date }[] {
  const lines: { points: number; at: Date }[] = [];
  for (const { left, at } of lots) {
    const last = lines.at(-1);
    if (last?.at.getTime() === at.getTime()) last.points += left;
    else lines.push({ points: left, at });
  }
  return lines.slice(0, 3);
}
