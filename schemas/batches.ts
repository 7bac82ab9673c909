// Batches: imports, campaigns, range replays (interface 4.3 import; decisions.md "Timeline, ledger, import").
import { z } from 'zod';
import { actor } from './members.js';

export const batchKinds = ['members.import', 'webhooks.replay', 'campaign', 'passes.rebuild'] as const;
export const batchPhases = [
  'storing',
  'creating',
  'issuing',
  'publishing',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const;

export const importCounts = z.object({ total: z.int(), created: z.int(), deduped: z.int(), failed: z.int() });
export type ImportCounts = z.infer<typeof importCounts>;

export const importRow = z.object({
  row: z.int(),
  outcome: z.enum(['created', 'deduped', 'failed']),
  memberId: z.string().optional(),
  memberCode: z.string().optional(),
  reason: z.string().optional(),
});

export const importResult = z.object({ batchId: z.string(), counts: importCounts, results: z.array(importRow) });

export const batch = z.object({
  id: z.string(),
  kind: z.enum(batchKinds),
  phase: z.enum(batchPhases),
  programId: z.string().optional(),
  counts: importCounts,
  passIssuance: z.object({ apple: z.int(), google: z.int() }),
  percent: z.number(),
  ratePerSecond: z.number(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
  startedBy: actor,
  reason: z.string().optional(),
  dryRun: z.boolean().optional(),
});
export type BatchKind = (typeof batchKinds)[number];
export type BatchPhase = (typeof batchPhases)[number];
export type ImportOutcome = z.infer<typeof importRow>['outcome'];
