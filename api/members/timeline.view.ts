// The timeline of a member as callers see it (docs/interface.md#27-timeline-item).
import type { TimelineRow } from '../../schemas/members/members.rows.js';
import { timelineItem } from '../../schemas/members/members.schema.js';
import { shown } from '../../schemas/shared/answers.js';

export const presentTimelineItem = (row: TimelineRow) => shown(timelineItem, row);
