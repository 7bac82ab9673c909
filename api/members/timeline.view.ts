// The timeline of a member as callers see it (docs/interface.md#27-timeline-item).
import type { z } from 'zod';
import type { TimelineRow } from '../../schemas/members/members.rows.js';
import type { timelineItem } from '../../schemas/members/members.schema.js';

export function presentTimelineItem({
  _id: id,
  type,
  outcome,
  platform,
  occurredAt,
  detail,
}: TimelineRow): z.input<typeof timelineItem> {
  return {
    id,
    type,
    outcome,
    ...(platform && { platform }),
    occurredAt: occurredAt.toISOString(),
    ...(detail && { detail }),
  };
}
