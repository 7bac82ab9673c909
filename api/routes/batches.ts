// Batches of every kind: how far they are, and ending one.
import { cancelBatch, listBatches, readBatch } from '../../activities/batches.js';
import { failedRowsCsv } from '../failedRowsCsv.js';
import { presentBatch } from '../presenters/batch.js';
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
