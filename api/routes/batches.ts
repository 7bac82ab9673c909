// Batches of every kind: progress, cancellation, and the failed rows of an import.

import { cancelBatch, readBatch } from '../../activities/batches/cancelBatch.js';
import { failedRowsCsv } from '../imports/failedRowsCsv.js';
import { presentBatch } from '../presenters/batch.js';
import { listBatches } from '../reads/batches.js';
import type { Routes } from '../request.js';

export const batchRoutes: Routes<'listBatches' | 'getBatch' | 'cancelBatch' | 'exportFailedRows'> = {
  async listBatches({ deps, caller, query }) {
    const { page, pageSize } = query;
    const { items, total } = await listBatches(deps, { merchantId: caller.merchantId, ...query });
    return { data: { items: items.map((row) => presentBatch(row, deps.now())), page, pageSize, total } };
  },

  async getBatch({ deps, caller, params }) {
    const row = await readBatch(deps, { merchantId: caller.merchantId, batchId: params.id ?? '' });
    return { data: presentBatch(row, deps.now()) };
  },

  async cancelBatch({ deps, caller, params }) {
    const row = await cancelBatch(deps, { merchantId: caller.merchantId, batchId: params.id ?? '' });
    return { data: presentBatch(row, deps.now()) };
  },

  async exportFailedRows({ deps, caller, params }) {
    const row = await readBatch(deps, { merchantId: caller.merchantId, batchId: params.id ?? '' });
    return { stream: failedRowsCsv(deps, row), fileName: `errors-${row._id}.csv` };
  },
};
