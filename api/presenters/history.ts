// Timeline and ledger as callers see them (decisions.md "Timeline, ledger, import").
import type { z } from 'zod';
import type { TimelineRow, TransactionRow } from '../../schemas/collections.js';
import type { timelineItem, transaction } from '../../schemas/members.js';

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

export function presentTransaction(row: TransactionRow): z.input<typeof transaction> {
  const { _id: id, type, field, previous, current, delta, tier, previousTier, changeMessage, actor, createdAt } = row;
  return {
    id,
    type,
    field,
    previous,
    current,
    delta,
    ...(tier !== undefined && { tier }),
    ...(previousTier !== undefined && { previousTier }),
    ...(changeMessage !== undefined && { changeMessage }),
    actor,
    createdAt: createdAt.toISOString(),
  };
}
