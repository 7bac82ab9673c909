// Reads of one member, by its id or the code that a scanner reads, and of its timeline.
import { withoutDue } from '../../activities/members/expireDue.writes.js';
import type { Deps } from '../../platform/deps.js';
import { findByIds } from '../../platform/mongodb/findByIds.js';
import type { MemberRow, TimelineRow } from '../../schemas/members/members.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { isUuid } from '../../schemas/shared/ids.js';
import { readCode } from '../../schemas/shared/text.js';

export interface MemberAt {
  merchantId: string;
  memberId: string;
}

/** The member, after what was due has expired. Throws MEMBER_NOT_FOUND, also for a malformed id. */
export async function readMember(deps: Deps, { merchantId, memberId }: MemberAt): Promise<MemberRow> {
  const found = isUuid(memberId) ? await deps.read.member({ _id: memberId, merchantId }) : null;
  const [member] = found ? await withoutDue(deps, [found]) : [];
  if (!member) throw new ServiceError('MEMBER_NOT_FOUND');
  return member;
}

interface ScannedCode {
  merchantId: string;
  programId?: string | undefined;
  code: string;
}

/**
 * Finds the members by the code that a scanner reads. The member code in any case, and the serial number of a legacy
 * pass, belong to one member, who comes first; an external id may belong to one in each program.
 */
export async function membersByCode(deps: Deps, { merchantId, programId, code }: ScannedCode): Promise<MemberRow[]> {
  const { members, externalIds } = deps.collections;
  const read = readCode(code);
  const serialNumber = read.toLowerCase();
  const [own, rows] = await Promise.all([
    members.findOne(
      isUuid(serialNumber) ? { serialNumber, merchantId } : { merchantId, memberCode: read.toUpperCase() },
    ),
    externalIds.find({ merchantId, externalId: read }).toArray(),
  ]);
  const ids = rows.map(({ memberId }) => memberId).filter((id) => id !== own?._id);
  const others = await findByIds(deps, 'members', { ids, merchantId });
  return [...(own ? [own] : []), ...others].filter((row) => programId === undefined || row.programId === programId);
}

/** Throws MEMBER_NOT_FOUND, and VALIDATION_FAILED for a code of members of several programs without `programId`. */
export async function scannedMember(deps: Deps, scanned: ScannedCode): Promise<MemberRow> {
  const [member, another] = await membersByCode(deps, scanned);
  if (!member) throw new ServiceError('MEMBER_NOT_FOUND');
  if (another && scanned.programId === undefined)
    throw new ServiceError('VALIDATION_FAILED', [
      { path: 'programId', message: 'is required: several members have this code' },
    ]);
  return member;
}

/** The timeline of a member, newest first. */
export function timelineOf(deps: Deps, { memberId, limit }: { memberId: string; limit: number }) {
  return deps.collections.timeline.find({ memberId }).sort({ occurredAt: -1, _id: -1 }).limit(limit);
}

export async function listTimeline(deps: Deps, at: MemberAt & { limit: number }): Promise<TimelineRow[]> {
  await readMember(deps, at);
  return timelineOf(deps, at).toArray();
}

/** MERCHANT_MAX_TAGS is at most this number. Concurrent requests may exceed a merchant's limit by a few. */
const mostTags = 10_000;

export async function listTags(deps: Deps, { merchantId }: { merchantId: string }): Promise<string[]> {
  const rows = await deps.collections.tags.find({ merchantId }).sort({ tag: 1 }).limit(mostTags).toArray();
  return rows.map((row) => row.tag).sort();
}
