// Timeline items and ledger entries as callers see them (docs/interface.md, sections 2.7 and 2.8).
import type { z } from 'zod';
import type { TimelineRow } from '../../schemas/members/members.rows.js';
import type { timelineItem } from '../../schemas/members/members.schema.js';
import { entryFacts, type transaction } from '../../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';

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

const factNames = Object.keys(entryFacts.shape) as (keyof typeof entryFacts.shape)[];

export function presentTransaction(row: LedgerRow): z.input<typeof transaction> {
  const known = factNames.filter((name) => row[name] !== undefined).map((name) => [name, row[name]]);
  const facts: z.input<typeof entryFacts> = Object.fromEntries(known);
  const { _id: id, occurredAt, createdAt } = row;
  return {
    id,
    ...facts,
    ...(occurredAt && { occurredAt: occurredAt.toISOString() }),
    createdAt: createdAt.toISOString(),
  };
}
