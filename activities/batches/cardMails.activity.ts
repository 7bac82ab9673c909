// Mails the people of an import the link to their card. The id of each mail is derived from the import and the member,
// so that each person gets one mail, whatever is repeated or reset. When the program has no mail left in this minute,
// the step ends and says when to go on. An address that has its share of such mails counts as failed; a further batch
// can mail it later.
import { findByIds } from '../../platform/mongodb/findByIds.js';
import type { BatchRow, Position } from '../../schemas/batches/batches.rows.js';
import { derivedId } from '../../schemas/shared/ids.js';
import { languageOf } from '../../schemas/shared/languages/index.js';
import type { ChunkProgress, ListProgress } from '../../schemas/tables/workflows.js';
import { queueMailOnce } from '../mail/queueMail.writes.js';
import { cachedProgram } from '../programs/program.reads.js';
import type { WorkerDeps } from '../workerDeps.js';
import { createdOfChunk } from './cardMails.reads.js';
import { requireBatch } from './requireBatch.reads.js';
import { type RunChunksInput, runChunks } from './runChunks.effect.js';
import { countTargets, type ListTargets, listTargets, type Page, readTargets } from './targets.writes.js';

const chunkSize = 30;
/** So that a cancelled batch ends soon. */
const longestWaitMs = 10_000;

/** Sorts after every id of a member. */
const lastId = '~';
/** Members are listed by the chunk of the import that created them, and by their id. */
const positionOf = (chunk: number, id: string): Position => ({ at: new Date(chunk), id });

async function* createdMembers(
  deps: WorkerDeps,
  { mailsCardsOf: batchId = '' }: BatchRow,
  after: Position | undefined,
): AsyncGenerator<Page> {
  const { chunks = 0 } = await requireBatch(deps, batchId);
  for (let chunk = after?.at.getTime() ?? 0; chunk < chunks; chunk += 1) {
    const ids = await createdOfChunk(deps, { batchId, chunk });
    const left = after?.at.getTime() === chunk ? ids.filter((id) => id > after.id) : ids;
    yield { found: left.map((id) => positionOf(chunk, id)), end: positionOf(chunk, lastId) };
  }
}

/** Throws ApplicationFailure BATCH_NOT_FOUND, MERCHANT_SUSPENDED. */
export async function snapshotCreated(deps: WorkerDeps, at: ListTargets): Promise<ListProgress> {
  return listTargets(deps, at, { size: chunkSize, find: (batch, after) => createdMembers(deps, batch, after) });
}

/** Throws ApplicationFailure BATCH_NOT_FOUND. */
export async function mailCards(deps: WorkerDeps, input: RunChunksInput): Promise<ChunkProgress> {
  return runChunks(deps, input, async (batch, chunk) => {
    const targets = await readTargets(deps, { batch, chunk });
    if (targets.counted || targets.ids.length === 0) return chunk + 1;
    const { merchantId } = batch;
    let limited = 0;
    const members = await findByIds(deps, 'members', { ids: targets.ids, merchantId });
    for (const { _id: memberId, email, status, programId } of members) {
      input.cancellationSignal.throwIfAborted();
      if (email === undefined || status !== 'active') continue;
      const queued = await queueMailOnce(deps, mailIdOf(batch, memberId), {
        ...{ merchantId, memberId, programId, to: email, kind: 'card-link', reason: `imported:${memberId}` },
        language: languageOf(await cachedProgram(deps, { merchantId, programId })),
      });
      deps.crashPoint('mid-chunk');
      if (queued === 'limited') limited += 1;
      if (typeof queued === 'object') return { again: chunk, waitMs: Math.min(queued.waitMs, longestWaitMs) };
    }
    const ids = targets.ids.map((memberId) => mailIdOf(batch, memberId));
    const mailed = await deps.collections.mails.countDocuments({ _id: { $in: ids } });
    const outcomes = { created: mailed, deduped: targets.ids.length - mailed - limited, failed: limited };
    await countTargets(deps, { targets, outcomes });
    return chunk + 1;
  });
}

/** Of the import, not of the batch: a further batch mails nobody again. */
const mailIdOf = ({ mailsCardsOf = '' }: BatchRow, memberId: string): string =>
  derivedId('card-mail', mailsCardsOf, memberId);
