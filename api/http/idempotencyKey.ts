// The header Idempotency-Key (docs/interface.md#83-idempotency-keys).
import type { Context } from 'koa';
import type { BatchKey } from '../../activities/batches/batchKeys.rules.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { firstPhaseOf } from '../../schemas/batches/newBatch.rules.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { type BatchOperation, newToken, requestKeyId, sha256 } from '../../schemas/shared/ids.js';
import type { ApiDeps } from './apiDeps.js';

const keyForm = /^[A-Za-z0-9_-]{8,128}$/;

/**
 * The caller's idempotency key, or a new one. A response header names the key in both cases. Throws
 * IDEMPOTENCY_KEY_MALFORMED.
 */
export function keyOf(ctx: Context): string {
  const given = ctx.get('Idempotency-Key');
  if (ctx.req.headers['idempotency-key'] !== undefined && !keyForm.test(given))
    throw new ServiceError('IDEMPOTENCY_KEY_MALFORMED');
  const key = given || newToken();
  ctx.set('Idempotency-Key', key);
  return key;
}

/** A hash of the fields that does not depend on their order. */
export function fingerprintOf(body: object): string {
  const fields = Object.entries(body).filter(([, value]) => value !== undefined);
  return sha256(JSON.stringify(fields.sort(([a], [b]) => (a < b ? -1 : 1))));
}

interface KeyedBatch {
  ctx: Context;
  merchantId: string;
  operation: BatchOperation;
  /** The merchant, or the subscription of a replay. */
  owner: string;
  body: object;
}

/** Throws IDEMPOTENCY_KEY_MALFORMED. */
export function batchKeyOf(deps: ApiDeps, { ctx, merchantId, operation, owner, body }: KeyedBatch): BatchKey {
  const id = requestKeyId(operation, owner, keyOf(ctx));
  return { id, merchantId, fingerprint: fingerprintOf(body), now: deps.now() };
}

/** Adds the header that says that the answer is the one of an earlier request. */
export function sayRepeated(ctx: Context, isRepeated: boolean): void {
  if (isRepeated) ctx.set('Idempotent-Replayed', 'true');
}

/** The batch as it was when it was accepted, so that a repeated request is answered as the first one was. */
export function asAccepted(batch: BatchRow): BatchRow {
  const { finishedAt: _f, reason: _r, cancelRequestedAt: _c, completedMembers: _m, ...rest } = batch;
  const total = batch.kind === 'members.import' ? batch.counts.total : 0;
  const nothing = { created: 0, deduped: 0, failed: 0 };
  return {
    ...rest,
    phase: firstPhaseOf(batch),
    done: 0,
    counts: { total, ...nothing },
    passIssuance: { apple: 0, google: 0 },
  };
}
