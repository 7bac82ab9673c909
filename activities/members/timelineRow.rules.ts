// A line of a member's timeline. Its id is derived from event, type and platform, so a line that is written twice
// exists once.

import type { EventRow } from '../../schemas/events/events.rows.js';
import type { TimelineRow } from '../../schemas/members/members.rows.js';
import { derivedId } from '../../schemas/shared/ids.js';

export function timelineRow(
  event: Pick<EventRow, '_id' | 'merchantId' | 'occurredAt'>,
  line: Pick<TimelineRow, 'memberId' | 'type' | 'outcome'> & Partial<Pick<TimelineRow, 'platform' | 'detail'>>,
): TimelineRow {
  const _id = derivedId('timeline', event._id, line.type, line.platform ?? '');
  return { _id, merchantId: event.merchantId, occurredAt: event.occurredAt, ...line };
}
