// An upload on its way into the store. Its workflow is started first and waits beside it: should this process die, the workflow
// drops what was stored. Nothing counts before `commit`.
import pLimit from 'p-limit';
import {
  dropUpload,
  type OpenImport,
  openImport,
  queueImport,
  storeChunk,
  touchUpload,
} from '../activities/imports/openImport.js';
import type { StartWorkflow } from '../activities/starter.js';
import type { BatchRow, ImportRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import { importId } from '../schemas/ids.js';
import { uploadedSignal } from '../schemas/workflows.js';
import type { ApiDeps } from './apiDeps.js';

export interface Upload {
  store: (chunks: AsyncIterable<ImportRow[]> | Iterable<ImportRow[]>) => Promise<void>;
  /** Hands it to the worker. Throws UNAVAILABLE. */
  commit: () => Promise<BatchRow>;
  /** Takes it back; nothing of it is left. */
  abandon: () => Promise<void>;
}

const signOfLifeMs = 5_000;
const chunksAtOnce = 3;

function importWorkflow(batch: BatchRow): StartWorkflow<'importMembers'> {
  const { _id: batchId, merchantId, programId = '', fingerprint } = batch;
  return {
    name: 'importMembers',
    workflowId: importId(batchId),
    input: { merchantId, batchId },
    summary: `import members into ${programId}`,
    searchAttributes: { MerchantId: merchantId, ProgramId: programId, BatchId: batchId },
    // Somebody waits for the answer of one with a fingerprint.
    priority: fingerprint === undefined ? 5 : 3,
    fairnessKey: merchantId,
  };
}

/** Throws UNAVAILABLE when Temporal is away: an import is not begun that nobody would carry. */
export async function openUpload(deps: ApiDeps, input: OpenImport): Promise<Upload> {
  if (!deps.starter.available()) throw new ServiceError('UNAVAILABLE');
  const batch = await openImport(deps, input);
  const batchId = batch._id;
  let chunk = 0;
  let total = 0;
  const started = deps.starter.start(importWorkflow(batch)).then(
    () => true,
    () => false,
  );
  const living = setInterval(() => {
    touchUpload(deps, { batchId, total }).catch((error: unknown) => deps.log.warn({ err: error, batchId }, 'upload'));
  }, signOfLifeMs);

  const wake = () =>
    deps.starter
      .signal(importId(batchId), uploadedSignal)
      .catch((error: unknown) => deps.log.info({ err: error, batchId }, 'the import will look for its file itself'));

  return {
    async store(chunks) {
      const together = pLimit(chunksAtOnce);
      const under = new Set<Promise<void>>();
      for await (const rows of chunks) {
        const at = { batch, chunk, rows };
        chunk += 1;
        total += rows.length;
        const storing = together(() => storeChunk(deps, at)).finally(() => under.delete(storing));
        under.add(storing);
        if (under.size >= chunksAtOnce) await Promise.race(under);
      }
      await Promise.all(under);
    },

    async commit() {
      clearInterval(living);
      if (!(await started) || !(await queueImport(deps, { batchId, chunks: chunk, total })))
        throw new ServiceError('UNAVAILABLE');
      await wake();
      return { ...batch, phase: 'queued', chunks: chunk, counts: { ...batch.counts, total } };
    },

    async abandon() {
      clearInterval(living);
      await dropUpload(deps, { batchId });
      if (await started) await wake();
    },
  };
}
