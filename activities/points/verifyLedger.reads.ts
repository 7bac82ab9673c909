// Compares each member with the sum of its ledger. It reads a bounded number of members at a time and keeps one sum for
// each, however long a ledger is. Members may change during the run: a member is compared with its rows up to the
// version that was read.
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { sumOf } from '../../schemas/points/lots.rules.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';

const memberBatchSize = 200;
const rowBatchSize = 500;

type Compared = Pick<
  MemberRow,
  '_id' | 'memberCode' | 'balance' | 'lifetimePoints' | 'version' | 'programId' | 'expiry'
>;
type Row = Pick<LedgerRow, 'memberId' | 'delta' | 'effect' | 'memberVersion'>;

interface Difference {
  memberId: string;
  memberCode: string;
  field: 'balance' | 'lifetimePoints' | 'lots';
  /** The member's value, and the sum of its ledger (`lots`: what is left of them). */
  has: number;
  sum: number;
}

/** `since`: from when on the points of a program expire. Older lots remain from a rule that was removed. */
async function differencesOf(
  { collections }: Pick<Deps, 'collections'>,
  members: Compared[],
  since: ReadonlyMap<string, number>,
): Promise<Difference[]> {
  const sums = new Map(members.map((member) => [member._id, { member, balance: 0, lifetimePoints: 0 }]));
  const rows = collections.ledger
    .find({ memberId: { $in: [...sums.keys()] } })
    .project<Row>({ memberId: 1, delta: 1, 'effect.lifetimePoints': 1, memberVersion: 1 })
    .batchSize(rowBatchSize);
  for await (const { memberId, delta, effect, memberVersion } of rows) {
    const sum = sums.get(memberId);
    if (!sum || memberVersion > sum.member.version) continue;
    sum.balance += delta;
    // Rows without `effect` are from before reversals existed: they count what the balance gained.
    sum.lifetimePoints += effect?.lifetimePoints ?? Math.max(delta, 0);
  }
  return [...sums.values()].flatMap(({ member, balance, lifetimePoints }) => {
    const { _id: memberId, memberCode, programId, expiry } = member;
    const isCurrent = expiry && expiry.since.getTime() === since.get(programId);
    const compared = [
      { field: 'balance' as const, has: member.balance, sum: balance },
      { field: 'lifetimePoints' as const, has: member.lifetimePoints, sum: lifetimePoints },
      ...(isCurrent ? [{ field: 'lots' as const, has: member.balance, sum: sumOf(expiry.lots) }] : []),
    ];
    return compared.filter(({ has, sum }) => has !== sum).map((each) => ({ memberId, memberCode, ...each }));
  });
}

/** Yields, for each group of members of the merchant, the number of members and their differences. */
export async function* verifyLedger(
  deps: Pick<Deps, 'collections'>,
  merchantId: string,
): AsyncGenerator<{ members: number; differences: Difference[] }> {
  const expiries = await deps.collections.expiries.find({ merchantId }).toArray();
  const since = new Map(expiries.map((row) => [row._id, row.since.getTime()]));
  const members = deps.collections.members
    .find({ merchantId })
    .project<Compared>({ memberCode: 1, balance: 1, lifetimePoints: 1, version: 1, programId: 1, expiry: 1 })
    .batchSize(memberBatchSize);
  let group: Compared[] = [];
  for await (const member of members) {
    group.push(member);
    if (group.length < memberBatchSize) continue;
    yield { members: group.length, differences: await differencesOf(deps, group, since) };
    group = [];
  }
  if (group.length > 0) yield { members: group.length, differences: await differencesOf(deps, group, since) };
}
