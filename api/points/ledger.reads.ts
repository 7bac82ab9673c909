// Reads of the ledger of one member.
import type { Deps } from '../../platform/deps.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { readPage } from '../http/page.reads.js';
import { type MemberAt, readMember } from '../members/members.reads.js';

export async function listLedger(
  deps: Deps,
  { reference, ...at }: MemberAt & { page: number; pageSize: number; reference?: string | undefined },
): Promise<{ items: LedgerRow[]; total: number }> {
  const member = await readMember(deps, at);
  const { ledger } = deps.collections;
  const { memberId, merchantId } = at;
  const filter = reference === undefined ? { memberId } : { memberId, merchantId, reference };
  return readPage(deps, {
    ...at,
    read: (skip) => ledger.find(filter).sort({ memberVersion: -1 }).skip(skip).limit(at.pageSize).toArray(),
    count: async () => (reference === undefined ? member.ledgerCount : ledger.countDocuments(filter)),
  });
}
