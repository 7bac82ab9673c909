// Adds the last visit, from the ledger, to the members that an older version of the service wrote.
import type { Deps } from '../platform/deps.js';
import { update } from '../platform/mongodb/statements.js';
import { writeBulk } from '../platform/mongodb/transact.js';
import type { MemberRow } from '../schemas/members/members.rows.js';
import { reversible } from '../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../schemas/points/points.rows.js';
import { visitsOf } from '../schemas/points/visits.rules.js';

const lacking = { seenAt: { $exists: false } };
const perStep = 200;

type Lacking = Pick<MemberRow, '_id' | 'merchantId' | 'createdAt'>;

/** Can run while the service is running, and in several processes. */
export async function addVisits(deps: Deps): Promise<void> {
  const { programs, members } = deps.collections;
  for await (const { _id: programId, merchantId, timeZone = 'UTC' } of programs.find({})) {
    const projection = { merchantId: 1, createdAt: 1 };
    const found = members.find({ merchantId, programId, ...lacking }, { projection, batchSize: perStep });
    let some: Lacking[] = [];
    for await (const member of found) {
      some.push(member);
      if (some.length < perStep) continue;
      await addTo(deps, some, timeZone);
      some = [];
    }
    if (some.length > 0) await addTo(deps, some, timeZone);
  }
}

async function addTo(deps: Deps, members: readonly Lacking[], zone: string): Promise<void> {
  const byMember = new Map<string, LedgerRow[]>();
  const entries = deps.collections.ledger.find(
    {
      memberId: { $in: members.map(({ _id }) => _id) },
      type: { $in: [...reversible] },
      reversedBy: { $exists: false },
    },
    { projection: { memberId: 1, type: 1, delta: 1, correction: 1, occurredAt: 1, createdAt: 1 } },
  );
  for await (const entry of entries) {
    const own = byMember.get(entry.memberId) ?? [];
    own.push(entry);
    byMember.set(entry.memberId, own);
  }
  await writeBulk(
    deps,
    members.map(({ _id, merchantId, createdAt }) => {
      const { fields } = visitsOf(byMember.get(_id) ?? [], zone);
      const set = { ...fields, seenAt: fields.lastVisitAt ?? createdAt };
      // Matches nothing when a change has set the fields since they were read.
      return update(deps, 'members', { _id, merchantId, ...lacking }, { $set: set });
    }),
  );
}
