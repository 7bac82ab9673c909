// Batches: their progress, their cancellation, and imports that are too large for one answer
// (docs/interface.md#48-imports-and-batches).
import { z } from 'zod';
import { batch } from '../batches.js';
import { text } from '../text.js';
import { endpoint, pageOf, paging, queryFlag } from './endpoint.js';

const tag = 'Batches';
const view = 'merchants.members:view';
const one = '/merchants/me/batches/:id';

export const batchEndpoints = {
  startImport: endpoint('post', '/merchants/me/imports', {
    tag,
    summary: 'Import members from a large CSV file; the answer is the batch that carries it',
    description:
      'As `POST /merchants/me/members/import`, with up to 1,000,000 rows and 256 MB. The file is the body (text/csv, `programId` in the query) or the part `file` of multipart/form-data, after the part `programId`. `dryRun=true` says what would be created, deduped and failed, and creates nothing.',
    access: 'merchants.members:create',
    query: z.strictObject({ programId: text(1, 64).optional(), dryRun: queryFlag.optional() }),
    upload: 'csv',
    rawUpload: true,
    result: batch,
    statuses: [202],
    errors: ['IMPORT_INVALID', 'IMPORT_TOO_LARGE', 'PROGRAM_NOT_FOUND', 'PROGRAM_ARCHIVED'],
  }),
  listBatches: endpoint('get', '/merchants/me/batches', {
    tag,
    summary: 'List batches, newest first',
    access: view,
    query: paging,
    result: pageOf(batch),
  }),
  getBatch: endpoint('get', one, {
    tag,
    summary: 'How far a batch is: phase, counts, percent, rate',
    access: view,
    result: batch,
    errors: ['BATCH_NOT_FOUND'],
  }),
  cancelBatch: endpoint('post', `${one}/cancel`, {
    tag,
    summary: 'End a batch before its time',
    description:
      'An import needs `merchants.members:edit`, a campaign or a replay `merchants.campaigns:edit`, a rebuild `merchants.members:edit` in a console session. Members that were created stay, get their passes and are published. The batch ends as `cancelled`, with `batch.failed`. A batch that creates nothing any more, or is over, is answered as it is.',
    access: 'merchants.members:edit',
    otherAccess: 'merchants.campaigns:edit',
    result: batch,
    errors: ['BATCH_NOT_FOUND', 'CONSOLE_SESSION_REQUIRED'],
  }),
  exportFailedRows: endpoint('get', `${one}/errors.csv`, {
    tag,
    summary: 'The failed rows as they came, with the reason, ready to mend and send again',
    description:
      'The column `reason` may stay in the mended file: an import does not look at it. Rows are kept for 7 days. Cells are as they came, so a spreadsheet program may run what looks like a formula.',
    access: view,
    result: 'text/csv',
    errors: ['BATCH_NOT_FOUND'],
  }),
};
