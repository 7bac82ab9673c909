// Timeline items and ledger entries as callers see them (docs/interface.md, sections 2.7 and 2.8).
import type { z } from 'zod';
import type { TimelineRow } from '../../schemas/members/members.rows.js';
import type { timelineItem } from '../../schemas/members/members.schema.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import type { transaction } from '../../schemas/points/transactions.schema.js';

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

export function presentTransaction(row: LedgerRow): z.input<typeof transaction> {
  const { _id: id, type, field, previous, current, delta, tier, previousTier, changeMessage, actor, createdAt } = row;
  const { reverses, reversedBy, reason, rewardId, amount, currency, reference, location, occurredAt, rule } = row;
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
    ...(reverses !== undefined && { reverses }),
    ...(reversedBy !== undefined && { reversedBy }),
    ...(reason !== undefined && { reason }),
    ...(rewardId !== undefined && { rewardId }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(reference !== undefined && { reference }),
    ...(location !== undefined && { location }),
    ...(occurredAt && { occurredAt: occurredAt.toISOString() }),
    ...(rule && { rule }),
    actor,
    createdAt: createdAt.toISOString(),
  };
}
