// Reads of one member: the member, its timeline, its ledger.

import type { Deps } from '../../platform/deps.js';
import type { LedgerRow, MemberRow, TimelineRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { isUuid } from '../../schemas/ids.js';
import { readPage } from './readPage.js';

export interface MemberAt {
  merchantId: string;
  memberId: string;
}

/** Throws MEMBER_NOT_FOUND, also for a malformed id. */
export async function readMember(deps: Deps, { merchantId, memberId }: MemberAt): Promise<MemberRow> {
  const member = isUuid(memberId) ? await deps.read.member({ _id: memberId, merchantId }) : null;
  if (!member) throw new ServiceError('MEMBER_NOT_FOUND');
  return member;
}

/**
 * Finds a member by the code that a scanner reads: the member code in any case, or the serial number of a legacy pass.
 */
export async function memberByCode(
  deps: Deps,
  { merchantId, code }: { merchantId: string; code: string },
): Promise<MemberRow | null> {
  const serialNumber = code.toLowerCase();
  return deps.collections.members.findOne(
    isUuid(serialNumber) ? { serialNumber, merchantId } : { merchantId, memberCode: code.toUpperCase() },
  );
}

/** The timeline of a member, newest first. */
export function timelineOf(deps: Deps, { memberId, limit }: { memberId: string; limit: number }) {
  return deps.collections.timeline.find({ memberId }).sort({ occurredAt: -1, _id: -1 }).limit(limit);
}

export async function listTimeline(deps: Deps, at: MemberAt & { limit: number }): Promise<TimelineRow[]> {
  await readMember(deps, at);
  return timelineOf(deps, at).toArray();
}

export async function listLedger(
  deps: Deps,
  at: MemberAt & { page: number; pageSize: number },
): Promise<{ items: LedgerRow[]; total: number }> {
  const member = await readMember(deps, at);
  return readPage(deps, {
    ...at,
    read: (skip) =>
      deps.collections.ledger
        .find({ memberId: at.memberId })
        .sort({ memberVersion: -1 })
        .skip(skip)
        .limit(at.pageSize)
        .toArray(),
    count: async () => member.ledgerCount,
  });
}
