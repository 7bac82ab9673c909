// The timeline lines of a push: one for each wallet and change, and another when a late push succeeds.

import type { EventRow } from '../../schemas/events/events.rows.js';
import type { TimelineRow } from '../../schemas/members/members.rows.js';
import { derivedId } from '../../schemas/shared/ids.js';
import type { Platform } from '../../schemas/shared/passUpdate.schema.js';
import { timelineRow } from '../members/timelineRow.rules.js';
import type { ApplePush } from './apple/pushApple.effect.js';
import type { GooglePush } from './google/pushGoogle.effect.js';

const types: Record<Platform, string> = { apple: 'push_sent', google: 'google_object_patched' };

/**
 * In stub mode each change adds a line with outcome `skipped` for each stub wallet, even when the member has no device
 * (docs/interface.md#101-modes).
 */
export function skippedLines(event: EventRow): TimelineRow[] {
  const { passUpdate, memberId } = event;
  if (!passUpdate || !memberId) return [];
  return (['apple', 'google'] as const)
    .filter((platform) => passUpdate[platform].mode === 'stub')
    .map((platform) => timelineRow(event, { memberId, type: types[platform], outcome: 'skipped', platform }));
}

export interface PushResults {
  toDevices: ApplePush | null;
  toObject: GooglePush | null;
  /** The time of a late attempt; false for the first attempt. */
  late: Date | false;
}

const outcomeOf = (isDone: boolean): TimelineRow['outcome'] => (isDone ? 'success' : 'failure');

const googleOutcome = ({ objectPatched, hasUsers }: GooglePush): TimelineRow['outcome'] =>
  hasUsers === false ? 'skipped' : outcomeOf(objectPatched);

export function pushLines(event: EventRow, { toDevices, toObject, late }: PushResults): TimelineRow[] {
  const results = [
    ...(toDevices && toDevices.devicesAttempted > 0
      ? [{ platform: 'apple' as const, ...toDevices, outcome: outcomeOf(toDevices.devicesNotified > 0) }]
      : []),
    ...(toObject ? [{ platform: 'google' as const, ...toObject, outcome: googleOutcome(toObject) }] : []),
  ];
  // A late attempt that does not reach the wallet adds no line.
  return results
    .filter(({ unreached }) => !(late && unreached))
    .map(({ platform, outcome, unreached, detail }) => {
      const line = timelineRow(event, {
        memberId: event.memberId ?? '',
        type: types[platform],
        outcome,
        platform,
        ...((detail || unreached) && { detail: [detail, unreached && 'is tried again'].filter(Boolean).join('; ') }),
      });
      return late ? { ...line, _id: derivedId('timeline', event._id, 'late', platform), occurredAt: late } : line;
    });
}
