// Reading what is known of one member: itself, its timeline, its ledger.
import type { MemberRow, TimelineRow, TransactionRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import { isUuid } from '../schemas/ids.js';
import type { Store } from './deps.js';

export interface MemberAt {
  merchantId: string;
  memberId: string;
}

/** Throws MEMBER_NOT_FOUND, for a malformed id too. */
export async function readMember(store: Store, { merchantId, memberId }: MemberAt): Promise<MemberRow> {
  const member = isUuid(memberId) ? await store.read.member({ _id: memberId, merchantId }) : null;
  if (!member) throw new ServiceError('MEMBER_NOT_FOUND');
  return member;
}

/** By what a reader sees on a pass: the member code in any case, or the serial of a legacy pass. */
export async function memberByCode(
  store: Store,
  { merchantId, code }: { merchantId: string; code: string },
): Promise<MemberRow | null> {
  const serialNumber = code.toLowerCase();
  return store.rows.members.findOne(
    isUuid(serialNumber) ? { serialNumber, merchantId } : { merchantId, memberCode: code.toUpperCase() },
  );
}

/** Newest first. */
export function timelineOf(store: Store, { memberId, limit }: { memberId: string; limit: number }) {
  return store.rows.timeline.find({ memberId }).sort({ occurredAt: -1, _id: -1 }).limit(limit);
}

export async function listTimeline(store: Store, at: MemberAt & { limit: number }): Promise<TimelineRow[]> {
  await readMember(store, at);
  return timelineOf(store, at).toArray();
}

export async function listTransactions(
  store: Store,
  at: MemberAt & { page: number; pageSize: number },
): Promise<{ items: TransactionRow[]; total: number }> {
  const member = await readMember(store, at);
  const items = await store.rows.transactions
    .find({ memberId: at.memberId })
    .sort({ memberVersion: -1 })
    .skip((at.page - 1) * at.pageSize)
    .limit(at.pageSize)
    .toArray();
  return { items, total: member.transactionCount };
}
