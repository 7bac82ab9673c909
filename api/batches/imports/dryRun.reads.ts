// A dry run: rows are read and decided as in an import, and counted, without a write. For each row that would become a
// member, email and external id are kept as 52 bits of their hash, and the rows that fail are streamed, so that a
// million rows need little memory.
import { Readable } from 'node:stream';
import type { z } from 'zod';
import { decideRow, storedPeople } from '../../../activities/batches/imports/decideRow.rules.js';
import type { importDryRun } from '../../../schemas/batches/batches.schema.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { sha256 } from '../../../schemas/shared/ids.js';
import type { Language } from '../../../schemas/shared/languages/index.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import { createFailureList, type FailureList } from './failureList.rules.js';
import type { UploadedRows } from './uploadRows.rules.js';

const hashOf = (text: string): number => Number.parseInt(sha256(text).slice(0, 13), 16);

export const rowsPerLookup = 1_000;

interface DryRun {
  program: Program;
  rows: UploadedRows;
  /** Of the sentences about the mistakes. */
  language: Language;
}

export async function dryRun(
  deps: ApiDeps,
  { program, rows: { charset, delimiter, cells, columns, chunks }, language }: DryRun,
): Promise<Readable> {
  const counts = { total: 0, created: 0, deduped: 0, failed: 0 };
  const failures = createFailureList(language);
  const leftOut = createFailureList(language);
  let withoutEmail = 0;
  const emails = new Set<number>();
  const externalIds = new Set<number>();
  for await (const rows of chunks) {
    const stored = await storedPeople(deps, { program, rows });
    const known = {
      ownerOf: (email: string) => stored.owners.has(email) || emails.has(hashOf(email)) || undefined,
      holderOf: (externalId: string) =>
        stored.holders.has(externalId) || externalIds.has(hashOf(externalId)) || undefined,
      isTaken: (externalId: string) => stored.taken.has(externalId),
    };
    for (const entry of rows) {
      const decision = decideRow(entry, known);
      counts.total += 1;
      counts[decision.outcome] += 1;
      if (decision.outcome === 'created') {
        const { email, externalId } = decision.person;
        if (email === undefined) withoutEmail += 1;
        else emails.add(hashOf(email));
        if (externalId !== undefined) externalIds.add(hashOf(externalId));
      }
      const { row, line, mistakes = [] } = entry;
      if (decision.outcome === 'failed') failures.add({ row, line, ...decision });
      if (entry.leftOut !== undefined) leftOut.add({ row, line, reason: entry.leftOut, mistakes });
    }
  }
  const shownColumns = cells.map((header, index) => ({ header, field: columns.fields[index] ?? null }));
  const { unused } = columns;
  return Readable.from(
    answer({ counts, failures, leftOut, withoutEmail, unused, file: { charset, delimiter, columns: shownColumns } }),
  );
}

type Answer = Pick<z.input<typeof importDryRun>, 'counts' | 'file' | 'withoutEmail'> &
  Record<'failures' | 'leftOut', FailureList> & { unused: readonly string[] };

/** Apart from the function that reads the rows, whose hashes would be kept until the answer is sent. */
async function* answer({ counts, failures, leftOut, withoutEmail, unused, file }: Answer): AsyncGenerator<string> {
  const isLacking = leftOut.size() > 0;
  const head = {
    dryRun: true,
    counts: { ...counts, ...(isLacking && { leftOut: leftOut.size() }) },
    withoutEmail,
    ...(unused.length > 0 && { unusedColumns: unused }),
  };
  yield `{"success":true,"data":${JSON.stringify(head).slice(0, -1)},"failures":`;
  yield* failures.json();
  if (isLacking) yield ',"leftOut":';
  if (isLacking) yield* leftOut.json();
  yield `,"file":${JSON.stringify(file)}}}`;
}
