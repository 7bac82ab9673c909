// Batches: their progress, their cancellation, and imports that are too large for one answer
// (docs/interface.md#48-imports-and-batches).
import { z } from 'zod';
import { endpoint, pageOf, paging } from '../access/endpoint.schema.js';
import { languages } from '../shared/languages/index.js';
import { batch, batchKinds, importDryRun, importResult } from './batches.schema.js';
import { importOptions } from './importOptions.schema.js';

const tag = 'Batches';
const view = 'merchants.members:view';
const one = '/merchants/me/batches/:id';

export const batchEndpoints = {
  importMembers: endpoint('post', '/merchants/me/members/import', {
    tag: 'Members',
    summary: 'Import members from a CSV file',
    description:
      'multipart/form-data with `programId` and one `file` (text/csv, at most 1 MiB and 5000 rows). Headers in any case and order: firstName, lastName, email, phone, initialPoints, externalId; `mapping` gives other headers a field. Commas, semicolons or tabs; UTF-8, UTF-16, or windows-1252 when the Content-Type of the part says so. `dryRun` answers what would happen, and writes nothing.',
    access: 'merchants.members:create',
    query: importOptions,
    audit: { action: 'import.start', writes: ['batches'] },
    upload: 'csv',
    idempotent: true,
    result: z.union([importResult, importDryRun]),
    errors: ['IMPORT_INVALID', 'IMPORT_TOO_LARGE', 'PROGRAM_NOT_FOUND', 'PROGRAM_ARCHIVED'],
  }),
  startImport: endpoint('post', '/merchants/me/imports', {
    tag,
    summary: 'Import members from a large CSV file; the answer is its batch',
    description:
      'As `POST /merchants/me/members/import`, with up to 1,000,000 rows and 256 MiB. The file is the body (text/csv, `programId` in the query) or the part `file` of multipart/form-data, after the other parts. 202 with the batch; 200 of a dry run.',
    access: 'merchants.members:create',
    query: importOptions,
    audit: { action: 'import.start', writes: ['batches'] },
    upload: 'csv',
    rawUpload: true,
    idempotent: true,
    result: z.union([batch, importDryRun]),
    statuses: [202, 200],
    errors: ['IMPORT_INVALID', 'IMPORT_TOO_LARGE', 'PROGRAM_NOT_FOUND', 'PROGRAM_ARCHIVED'],
  }),
  listBatches: endpoint('get', '/merchants/me/batches', {
    tag,
    summary: 'List batches, newest first',
    access: view,
    query: paging.extend({ kind: z.enum(batchKinds).optional() }),
    result: pageOf(batch),
  }),
  getBatch: endpoint('get', one, {
    tag,
    summary: 'The progress of a batch: phase, counts, percent, rate',
    access: view,
    starterMay: true,
    result: batch,
    errors: ['BATCH_NOT_FOUND'],
  }),
  cancelBatch: endpoint('post', `${one}/cancel`, {
    tag,
    summary: 'End a batch before its time',
    description:
      'An import and its `cards.mail` need `merchants.members:edit`, a campaign or a replay `merchants.campaigns:edit`, a rebuild `merchants.members:edit` in a console session. Members that were created stay, get their passes and are published. The batch ends as `cancelled`, with `batch.failed`. A batch that creates nothing any more, or is over, is answered as it is.',
    access: 'merchants.members:edit',
    audit: { action: 'batch.cancel', writes: ['batches'] },
    otherAccess: 'merchants.campaigns:edit',
    result: batch,
    errors: ['BATCH_NOT_FOUND', 'CONSOLE_SESSION_REQUIRED'],
  }),
  exportFailedRows: endpoint('get', `${one}/errors.csv`, {
    tag,
    summary: 'The failed rows with their number and the reason, to correct and upload again',
    description:
      'With the delimiter of the file. First the column `row`, then the columns of the file, then `reason`; leave both in the mended file: by them an import knows it, and takes off the apostrophes that guard cells against formulas. Rows are kept for 7 days.',
    access: view,
    starterMay: true,
    query: z.strictObject({
      language: z.enum(languages).optional().describe('reasons for people: with row, column and cell'),
    }),
    audit: { action: 'import.export-errors', writes: [], target: 'id' },
    result: 'text/csv',
    errors: ['BATCH_NOT_FOUND'],
  }),
  exportKnownRows: endpoint('get', `${one}/known.csv`, {
    tag,
    summary: 'The rows that met an existing member, with the points that they did not give',
    description:
      'As `errors.csv`, of the outcome `deduped`, with `pointsNotGiven` in place of `reason`: an existing member is left as it is, and can be given the points.',
    access: view,
    starterMay: true,
    audit: { action: 'import.export-known', writes: [], target: 'id' },
    result: 'text/csv',
    errors: ['BATCH_NOT_FOUND'],
  }),
};
