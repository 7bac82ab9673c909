// The timeline as CSV (RFC 4180, UTF-8 with BOM), streamed row by row. A cell that a spreadsheet would run as a formula
// gets a leading apostrophe.
import { Readable } from 'node:stream';
import type { TimelineRow } from '../../schemas/members/members.rows.js';
import { csvLine } from '../../schemas/shared/csv.rules.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { timelineOf } from './members.reads.js';

const columns = ['id', 'type', 'outcome', 'platform', 'occurredAt', 'detail'];

function cells({ _id, type, outcome, platform, occurredAt, detail }: TimelineRow): string[] {
  return [_id, type, outcome, platform ?? '', occurredAt.toISOString(), detail ?? ''];
}

export function timelineCsv(deps: ApiDeps, { memberId }: { memberId: string }): Readable {
  async function* lines() {
    yield `\uFEFF${csvLine(columns)}`;
    const rows = timelineOf(deps, { memberId, limit: deps.config.EVENTS_CSV_MAX_ROWS }).batchSize(500);
    for await (const row of rows) yield csvLine(cells(row));
  }
  return Readable.from(lines());
}
