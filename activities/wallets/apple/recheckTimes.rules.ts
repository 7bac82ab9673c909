import type { MemberRow } from '../../../schemas/members/members.rows.js';

/** The time from the first push to the first check whether the phone has fetched (repush.activity.ts). */
export const firstRecheckMs = 60_000;

/** The longest time assumed between the download of a pass and its registration; the pass may change in between. */
export const installMs = 10 * 60_000;

/** Whether the newest version may be newer than the pass that the phone registered. */
export function mayBeNewer(
  { pass: { tag }, createdAt }: Pick<MemberRow, 'pass' | 'createdAt'>,
  registeredAt: Date,
): boolean {
  return tag > createdAt && registeredAt.getTime() - tag.getTime() < installMs;
}
