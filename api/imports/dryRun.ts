// A dry run: rows are read and decided as in an import, and counted, without a write. For each row that would become a
// member, email and external id are kept as 52 bits of their hash, so that a million rows need little memory.
import type { z } from 'zod';
import { decideRow, storedPeople } from '../../activities/batches/imports/decideRow.js';
import type { importDryRun } from '../../schemas/batches.js';
import { sha256 } from '../../schemas/ids.js';
import type { Program } from '../../schemas/programs.js';
import type { ApiDeps } from '../apiDeps.js';
import type { UploadedRows } from './uploadRows.js';

const hashOf = (text: string): number => Number.parseInt(sha256(text).slice(0, 13), 16);

type Shown = z.input<typeof importDryRun>['failures'][number];

const shownFailures = 100;
export const rowsPerLookup = 1_000;

export async function dryRun(
  deps: ApiDeps,
  { program, rows: { charset, delimiter, cells, columns, chunks } }: { program: Program; rows: UploadedRows },
): Promise<z.input<typeof importDryRun>> {
  const counts = { total: 0, created: 0, deduped: 0, failed: 0 };
  const failures: Shown[] = [];
  const leftOut: Shown[] = [];
  let allLeftOut = 0;
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
        if (email !== undefined) emails.add(hashOf(email));
        if (externalId !== undefined) externalIds.add(hashOf(externalId));
      }
      const { row, line } = entry;
      if (decision.outcome === 'failed' && failures.length < shownFailures)
        failures.push({ row, line, reason: decision.reason });
      if (entry.leftOut === undefined) continue;
      allLeftOut += 1;
      if (leftOut.length < shownFailures) leftOut.push({ row, line, reason: entry.leftOut });
    }
  }
  const shownColumns = cells.map((header, index) => ({ header, field: columns.fields[index] ?? null }));
  const lacking = allLeftOut > 0;
  return {
    dryRun: true,
    counts: { ...counts, ...(lacking && { leftOut: allLeftOut }) },
    failures,
    ...(lacking && { leftOut }),
    file: { charset, delimiter, columns: shownColumns },
  };
}
