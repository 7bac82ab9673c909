// Batches: imports, mails to their people, campaigns, range replays and rebuilds (docs/interface.md#48-imports-and-batches).
import { z } from 'zod';
import { actor } from '../access/actor.schema.js';
import { delimiters } from '../shared/csv.rules.js';
import { importFields } from './columnTitles.rules.js';
import { charsets } from './importFile.rules.js';

export const batchKinds = ['members.import', 'webhooks.replay', 'campaign', 'passes.rebuild', 'cards.mail'] as const;

/**
 * A campaign for a time to come is `scheduled`. An import is `storing` while its file is uploaded, `queued` until a
 * worker takes it, `creating` while members are created, and `publishing` while their passes are issued and their events
 * published. Other batches are `queued`, then `running`.
 */
export const batchPhases = [
  'scheduled',
  'storing',
  'queued',
  'creating',
  'publishing',
  'running',
  'completed',
  'failed',
  'cancelled',
] as const;

export const batchPhase = z.enum(batchPhases);

/** The phases in which a worker processes the batch. */
export const bulkPhases = ['creating', 'publishing', 'running'] as const;

export const importCounts = z.object({
  total: z.int(),
  created: z.int(),
  deduped: z.int(),
  failed: z.int(),
  leftOut: z.int().optional().describe('phone numbers that cannot be read; their rows are imported without them'),
});
export type ImportCounts = z.infer<typeof importCounts>;

const row = z.int().describe('1 for the first row of data; empty lines do not count');
const line = z
  .int()
  .describe('the line at which the row begins, as spreadsheets count: the header is 1, and a line `sep=` has none');

export const importRow = z.object({
  row,
  line: line.optional(),
  outcome: z.enum(['created', 'deduped', 'failed']),
  memberId: z.string().optional(),
  memberCode: z.string().optional(),
  reason: z.string().optional(),
  leftOut: z.string().optional().describe('the cell without which the row was imported, and why'),
});
export type ImportResultRow = z.infer<typeof importRow>;

/** Of a file that has none of them it is absent. */
const unusedColumns = z.array(z.string()).optional();

export const importResult = z.object({
  batchId: z.string(),
  counts: importCounts,
  results: z.array(importRow),
});

export const importFailure = z.object({
  row,
  line,
  reason: z.string(),
  mistakes: z
    .array(
      z.object({
        field: z.string().optional(),
        display: z.string(),
      }),
    )
    .describe('`display` is in a language of Accept-Language'),
});
export const importColumn = z.object({ header: z.string(), field: z.enum(importFields).nullable() });

export const importDryRun = z.object({
  dryRun: z.literal(true),
  counts: importCounts.describe('what an import of the file would count'),
  failures: z.array(importFailure).describe('all rows that would fail'),
  leftOut: z.array(importFailure).optional().describe('all rows that would lack a cell'),
  withoutEmail: z.int().describe('of `created`'),
  unusedColumns,
  file: z
    .object({
      charset: z.enum(charsets),
      delimiter: z
        .enum(delimiters)
        .meta({ shown: { type: 'string', examples: [','] } })
        .describe('`,`, `;` or a tab'),
      columns: z.array(importColumn),
    })
    .describe('how the file was read; a column whose `field` is null is ignored'),
});

export const batch = z.object({
  id: z.string(),
  kind: z.enum(batchKinds),
  phase: batchPhase,
  programId: z.string().optional(),
  counts: importCounts,
  passIssuance: z.object({ apple: z.int(), google: z.int() }),
  percent: z.number(),
  ratePerSecond: z.number(),
  startedAt: z.iso.datetime(),
  finishedAt: z.iso.datetime().nullable(),
  sendAt: z.iso.datetime().optional().describe('only of a campaign that waits for a time, or did'),
  startedBy: actor,
  automatic: z.boolean().optional(),
  reason: z.string().optional(),
  quiet: z.boolean().optional().describe('only of an import: no event for each member'),
  mapping: z
    .record(z.string(), z.enum(importFields).nullable())
    .optional()
    .describe('only of an import that had one: to send mended rows with'),
  unusedColumns: unusedColumns.describe('headers that the mapping leaves out'),
  repairs: z.string().optional().describe('only of an import: the one whose failed rows were sent again with it'),
  repairedBy: z
    .string()
    .optional()
    .describe(
      'only of an import: the newest one that its failed rows were sent again with, unless that one stopped early',
    ),
  cancelRequested: z.boolean().optional(),
  mailsCardsOf: z
    .string()
    .optional()
    .describe('only of `cards.mail`: the import whose people get the link to their card'),
  cardMails: z
    .enum(['possible', 'started'])
    .optional()
    .describe('only of an import that made members: whether they can be mailed the link to their card, or are'),
});

export const cardMails = z.object({
  people: z.int().describe('members that the import created and that have an email'),
  withoutEmail: z.int().describe('those that have none, and get nothing'),
  minutes: z.int().describe('how long the mails of the program take for all of them'),
});
export type BatchKind = (typeof batchKinds)[number];
export type BatchPhase = (typeof batchPhases)[number];

const finished: readonly BatchPhase[] = ['completed', 'failed', 'cancelled'];

export const isFinished = (phase: BatchPhase): boolean => finished.includes(phase);

export interface BatchWork {
  phase: BatchPhase;
  counts: Pick<ImportCounts, 'total' | 'created'>;
  /** Processed rows of an import, or processed targets of another batch. */
  done: number;
  /** Created members whose passes were issued and whose events were published. */
  completedMembers?: number;
  startedAt: Date;
  phaseStartedAt?: Date;
  finishedAt?: Date;
}

const share = (part: number, whole: number): number => (whole > 0 ? Math.min(part / whole, 1) : 0);

/** 0 to 100 with one decimal. An import that creates members is at 50 when all rows are processed. */
export function percentOf({ phase, counts, done, completedMembers = 0 }: BatchWork): number {
  if (phase === 'completed') return 100;
  const rows = share(done, counts.total);
  if (completedMembers === 0) return round((phase === 'running' ? 100 : 50) * rows);
  return round(50 * rows + 50 * share(completedMembers, counts.created));
}

/** Units per second: of the current phase, or of the whole batch once it has ended. */
export function ratePerSecondOf(work: BatchWork, now: Date): number {
  const since = work.finishedAt ? work.startedAt : (work.phaseStartedAt ?? work.startedAt);
  const seconds = Math.max((work.finishedAt ?? now).getTime() - since.getTime(), 1) / 1_000;
  return round((work.phase === 'publishing' ? (work.completedMembers ?? 0) : work.done) / seconds);
}

const round = (value: number): number => Math.round(value * 10) / 10;
