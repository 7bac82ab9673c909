// Adds the last visit, from the ledger, to the members that an older version of the service wrote.
import type { Deps } from '../platform/deps.js';
import { update } from '../platform/mongodb/statements.js';
import { writeBulk } from '../platform/mongodb/transact.js';
import type { MemberRow } from '../schemas/members/members.rows.js';
import { reversible } from '../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../schemas/points/points.rows.js';
import { isVisit, latest, soldAt } from '../schemas/points/visits.rules.js';
import { localDay } from '../schemas/shared/calendar.rules.js';

const lacking = { seenAt: { $exists: false } };
const perStep = 200;

type Lacking = Pick<MemberRow, '_id' | 'merchantId' | 'createdAt'>;

/** Can run while the service is running, and in several processes. */
export async function addVisits(deps: Deps): Promise<void> {
  const { programs, members } = deps.collections;
  for await (const { _id: programId, merchantId, timeZone = 'UTC' } of programs.find({})) {
    const found = members.find({ merchantId, programId, ...lacking }, { projection: { merchantId: 1, createdAt: 1 } });
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
  const visits = new Map<string, LedgerRow[]>();
  const entries = deps.collections.ledger.find(
    {
      memberId: { $in: members.map(({ _id }) => _id) },
      type: { $in: [...reversible] },
      reversedBy: { $exists: false },
    },
    { projection: { memberId: 1, type: 1, delta: 1, correction: 1, occurredAt: 1, createdAt: 1 } },
  );
  for await (const entry of entries)
    if (isVisit(entry)) visits.set(entry.memberId, [...(visits.get(entry.memberId) ?? []), entry]);
  await writeBulk(
    deps,
    members.map(({ _id, merchantId, createdAt }) => {
      const own = visits.get(_id) ?? [];
      const last = latest(own.map(soldAt));
      const reward = latest(own.filter(({ type }) => type === 'redeem').map(soldAt));
      const set = {
        seenAt: last ?? createdAt,
        ...(last && { lastVisitAt: last, visitDays: new Set(own.map((one) => localDay(zone, soldAt(one)))).size }),
        ...(reward && { lastRewardAt: reward }),
      };
      // Matches nothing when a change has set the fields since they were read.
      return update(deps, 'members', { _id, merchantId, ...lacking }, { $set: set });
    }),
  );
}
