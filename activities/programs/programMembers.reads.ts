// Counts the members of a program at a cost that does not grow with their number. Filters match few rows, because the
// embedded engine reads all matches before it applies a limit.
import type { Deps } from '../../platform/deps.js';
import { isTimeLimit } from '../../platform/mongodb/isUnavailable.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { ProgramAt } from './programHead.reads.js';

/** The counter of the program's members. It may lag after a crash. */
async function countedMembers(deps: Deps, { merchantId, programId }: ProgramAt): Promise<number> {
  return (await deps.collections.counters.findOne({ _id: `${merchantId}:${programId}` }))?.members ?? 0;
}

/** Whether anybody has enrolled. Reads members only when the counter is 0. */
export async function hasMembers(deps: Deps, at: ProgramAt): Promise<boolean> {
  if ((await countedMembers(deps, at)) > 0) return true;
  const { merchantId, programId } = at;
  return (await deps.collections.members.findOne({ merchantId, programId }, { projection: { _id: 1 } })) !== null;
}

const perSlice = 2_000;
const maxSlices = 0x10000;

/**
 * Ranges of ids, each with about `perSlice` members of the program, and possibly members of other programs. Ids are
 * random. A real MongoDB reads all members in one range by an index and stops at the limit.
 */
async function idRanges(deps: Deps, at: ProgramAt): Promise<object[]> {
  if (!deps.config.MONGODB_EMBEDDED) return [{}];
  const count = Math.min(Math.ceil((await countedMembers(deps, at)) / perSlice), maxSlices);
  const bound = (index: number) =>
    Math.floor((index * maxSlices) / count)
      .toString(16)
      .padStart(4, '0');
  if (count < 2) return [{}];
  return Array.from({ length: count }, (_, index) => ({
    _id: { $gte: index === 0 ? '' : bound(index), ...(index < count - 1 && { $lt: bound(index + 1) }) },
  }));
}

export type MemberSnapshot = Pick<MemberRow, 'balance' | 'lifetimePoints' | 'deviceCount' | 'pass' | 'expiry'>;

const projection = { _id: 0, balance: 1, lifetimePoints: 1, expiry: 1, deviceCount: 1, 'pass.googleSaved': 1 } as const;

/**
 * Reads at most `most` members of the program, for at most `forMs`. Resolves with false when not all members were read.
 */
export async function readSome(
  deps: Deps,
  { most, forMs, ...at }: ProgramAt & { most: number; forMs: number },
  each: (member: MemberSnapshot) => void,
): Promise<boolean> {
  const { merchantId, programId } = at;
  const until = performance.now() + forMs;
  let read = 0;
  try {
    for (const range of await idRanges(deps, at)) {
      const members = deps.collections.members
        .find({ ...range, merchantId, programId }, { projection, batchSize: 1_000 })
        .limit(most - read + 1);
      for await (const member of members) {
        if (read === most || performance.now() > until) return false;
        read += 1;
        each(member);
      }
    }
    return true;
  } catch (error) {
    if (isTimeLimit(error)) return false;
    throw error;
  }
}
