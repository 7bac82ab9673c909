// Stores the rows of an upload, then starts the import workflow. Nothing is imported before `commit`. When the API
// process dies during an upload, a worker ends it as failed (activities/batches/cleanUpBatches.activity.ts).
import pLimit from 'p-limit';
import type { BatchKey } from '../../../activities/batches/batchKeys.rules.js';
import {
  discardUpload,
  failUpload,
  type OpenImport,
  openImport,
  queueImport,
  storeChunk,
  touchUpload,
  withdrawQueued,
} from '../../../activities/batches/imports/openImport.effect.js';
import { requireRowRoom } from '../../../activities/batches/insertBatch.writes.js';
import { requireTemporal, startQueued } from '../../../activities/batches/startBatch.effect.js';
import type { BatchRow, ImportRow } from '../../../schemas/batches/batches.rows.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import { leftOutOf } from './importAnswer.effect.js';

export interface Upload {
  batchId: string;
  /** Throws RATE_LIMITED when more rows of the merchant wait than allowed. */
  store: (chunks: AsyncIterable<ImportRow[]> | Iterable<ImportRow[]>) => Promise<void>;
  /**
   * Queues the import and starts its workflow. When an earlier request with the key has started an import, returns that
   * one and removes this upload. Throws UNAVAILABLE, then nothing is created; and IDEMPOTENCY_KEY_REUSED.
   */
  commit: (key: BatchKey) => Promise<BatchRow>;
  /** Deletes the rows and the batch unless the import is queued. */
  discard: () => Promise<void>;
  /** Deletes the rows and ends the batch as failed after the client disconnected. */
  fail: () => Promise<void>;
}

const keepAliveMs = 5_000;
const storeConcurrency = 3;
/** How many rows an upload may store before the merchant's limit of waiting rows is checked again. */
const rowsBetweenChecks = 20_000;

/** Throws UNAVAILABLE when Temporal is unavailable, because an import is accepted only if a worker can get it. */
export async function openUpload(deps: ApiDeps, input: OpenImport): Promise<Upload> {
  requireTemporal(deps);
  // The import is audited once it is queued; an upload that breaks off is not.
  const unaudited = { ...deps, audit: [] };
  const batch = await openImport(unaudited, input);
  const batchId = batch._id;
  let chunk = 0;
  let total = 0;
  let leftOut = 0;
  let ended = false;
  const keepAliveTimer = setInterval(async () => {
    try {
      ended = !(await touchUpload(deps, { batchId, total }));
    } catch (error) {
      deps.log.warn({ err: error, batchId }, 'the progress of an upload could not be stored');
    }
  }, keepAliveMs);

  return {
    batchId,

    async store(chunks) {
      const limit = pLimit(storeConcurrency);
      const pending = new Set<Promise<void>>();
      const { merchantId } = batch;
      let checked = 0;
      try {
        for await (const rows of chunks) {
          // This process was paused for so long that a worker ended the upload as broken off.
          if (ended) throw new ServiceError('UNAVAILABLE');
          const at = { batch, chunk, rows };
          chunk += 1;
          total += rows.length;
          leftOut += leftOutOf(rows).length;
          if (total - checked >= rowsBetweenChecks) {
            checked = total;
            await requireRowRoom(deps, { merchantId, batchId, rows: total });
          }
          const storing = limit(() => storeChunk(deps, at)).finally(() => pending.delete(storing));
          pending.add(storing);
          if (pending.size >= storeConcurrency) await Promise.race(pending);
        }
        await Promise.all(pending);
      } finally {
        // The rows are removed after an error, so no row may be stored after it.
        await Promise.allSettled(pending);
      }
      await requireRowRoom(deps, { merchantId, batchId, rows: total });
    },

    async commit(key) {
      clearInterval(keepAliveTimer);
      const earlier = await queueImport(deps, { batchId, chunks: chunk, total, leftOut, key });
      if (earlier) {
        await discardUpload(deps, { batchId });
        return earlier;
      }
      const queued: BatchRow = { ...batch, phase: 'queued', chunks: chunk, counts: { ...batch.counts, total } };
      const reason = 'Temporal could not be reached; nothing was created.';
      const takeBack = () => withdrawQueued(deps, { batchId, reason });
      await startQueued(deps, { batch: queued, summary: `import members into ${batch.programId}`, takeBack });
      return queued;
    },

    async discard() {
      clearInterval(keepAliveTimer);
      await discardUpload(deps, { batchId });
    },

    async fail() {
      clearInterval(keepAliveTimer);
      await failUpload(unaudited, { batchId });
    },
  };
}
