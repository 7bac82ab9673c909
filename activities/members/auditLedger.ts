// Compares each member with the sum of its ledger. Reads a bounded number of members at a time and keeps one sum for
// each, however long a ledger is. Members may change meanwhile: a member is compared with the rows up to the version in
// which it was read.
import type { Deps } from '../../platform/deps.js';
import type { LedgerRow, MemberRow } from '../../schemas/collections.js';

const memberBatchSize = 200;
const rowBatchSize = 500;

type Audited = Pick<MemberRow, '_id' | 'memberCode' | 'balance' | 'lifetimePoints' | 'version'>;
type Row = Pick<LedgerRow, 'memberId' | 'delta' | 'effect' | 'memberVersion'>;

interface Difference {
  memberId: string;
  memberCode: string;
  field: 'balance' | 'lifetimePoints';
  /** What the member has, and what its ledger says in sum. */
  has: number;
  sum: number;
}

async function differencesOf({ collections }: Pick<Deps, 'collections'>, members: Audited[]): Promise<Difference[]> {
  const sums = new Map(members.map((member) => [member._id, { member, balance: 0, lifetimePoints: 0 }]));
  const rows = collections.ledger
    .find({ memberId: { $in: [...sums.keys()] } })
    .project<Row>({ memberId: 1, delta: 1, 'effect.lifetimePoints': 1, memberVersion: 1 })
    .batchSize(rowBatchSize);
  for await (const { memberId, delta, effect, memberVersion } of rows) {
    const sum = sums.get(memberId);
    if (!sum || memberVersion > sum.member.version) continue;
    sum.balance += delta;
    // Rows from before there were reversals only ever added what the balance gained.
    sum.lifetimePoints += effect?.lifetimePoints ?? Math.max(delta, 0);
  }
  return [...sums.values()].flatMap(({ member, ...sum }) =>
    (['balance', 'lifetimePoints'] as const).flatMap((field) =>
      member[field] === sum[field]
        ? []
        : [{ memberId: member._id, memberCode: member.memberCode, field, has: member[field], sum: sum[field] }],
    ),
  );
}

/** Yields, for each group of members of the merchant, their number and their differences. */
export async function* auditLedger(
  deps: Pick<Deps, 'collections'>,
  merchantId: string,
): AsyncGenerator<{ members: number; differences: Difference[] }> {
  const members = deps.collections.members
    .find({ merchantId })
    .project<Audited>({ memberCode: 1, balance: 1, lifetimePoints: 1, version: 1 })
    .batchSize(memberBatchSize);
  let group: Audited[] = [];
  for await (const member of members) {
    group.push(member);
    if (group.length < memberBatchSize) continue;
    yield { members: group.length, differences: await differencesOf(deps, group) };
    group = [];
  }
  if (group.length > 0) yield { members: group.length, differences: await differencesOf(deps, group) };
}
