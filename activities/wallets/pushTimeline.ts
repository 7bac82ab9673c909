// What the timeline says of a push: one line a wallet and change, and one more when a wallet took late what it did not take
// at once.
import type { EventRow, TimelineRow } from '../../schemas/collections.js';
import { derivedId } from '../../schemas/ids.js';
import type { Platform } from '../../schemas/passUpdate.js';
import { timelineRow } from '../timelineRow.js';
import type { ApplePush } from './pushApple.js';
import type { GooglePush } from './pushGoogle.js';

const types: Record<Platform, string> = { apple: 'push_sent', google: 'google_object_patched' };

/** decisions.md: in stub mode each change leaves both lines with outcome `skipped`, devices or not. */
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
  /** When it was told late; false for the first try. */
  late: Date | false;
}

export function pushLines(event: EventRow, { toDevices, toObject, late }: PushResults): TimelineRow[] {
  const results = [
    ...(toDevices && toDevices.devicesAttempted > 0
      ? [{ platform: 'apple' as const, ...toDevices, ok: toDevices.devicesNotified > 0 }]
      : []),
    ...(toObject ? [{ platform: 'google' as const, ...toObject, ok: toObject.objectPatched }] : []),
  ];
  // A late try that is not the last one has nothing new to say.
  return results
    .filter(({ unreached }) => !(late && unreached))
    .map(({ platform, ok, unreached, detail }) => {
      const line = timelineRow(event, {
        memberId: event.memberId ?? '',
        type: types[platform],
        outcome: ok ? 'success' : 'failure',
        platform,
        ...((detail || unreached) && { detail: [detail, unreached && 'is tried again'].filter(Boolean).join('; ') }),
      });
      return late ? { ...line, _id: derivedId('timeline', event._id, 'late', platform), occurredAt: late } : line;
    });
}
