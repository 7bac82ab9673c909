// Whether two requests are the same import: they have the same Idempotency-Key, or, without one, the same file with the
// same options for the same program, the second at most a minute after the first was accepted.
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import { type BatchKey, isKeyTaken } from '../../../activities/batches/batchKeys.rules.js';
import { databaseNow } from '../../../platform/mongodb/databaseNow.js';
import type { ImportOptions } from '../../../schemas/batches/importOptions.schema.js';
import { requestKeyId } from '../../../schemas/shared/ids.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import { keyOf } from '../../http/idempotencyKey.js';

export interface ImportRequest {
  /** Whether an earlier request has started a batch with the caller's key. */
  isRepeated: () => Promise<boolean>;
  /** `fingerprint` is that of `hashFile`. */
  key: (fingerprint: string) => Promise<BatchKey>;
}

const sameWithinMs = 60_000;

/** Throws IDEMPOTENCY_KEY_MALFORMED. */
export async function openImportRequest(
  deps: ApiDeps,
  { ctx, merchantId }: { ctx: Context; merchantId: string },
): Promise<ImportRequest> {
  const isGiven = ctx.get('Idempotency-Key') !== '';
  const given = keyOf(ctx);
  const receivedAt = await databaseNow(deps);
  const idOf = (key: string) => requestKeyId('import', merchantId, key);
  return {
    isRepeated: async () => isGiven && isKeyTaken(deps, { id: idOf(given), merchantId }),
    async key(fingerprint) {
      const now = await databaseNow(deps);
      if (isGiven) return { id: idOf(given), merchantId, fingerprint, now };
      ctx.set('Idempotency-Key', fingerprint);
      const acceptedSince = new Date(receivedAt.getTime() - sameWithinMs);
      return { id: idOf(fingerprint), merchantId, fingerprint, now, acceptedSince };
    },
  };
}

export interface HashedFile {
  bytes: AsyncGenerator<Buffer>;
  /** Once all bytes were read. */
  fingerprint: () => string;
}

/** Hashes a file and its options while it is read. */
export function hashFile(
  bytes: AsyncIterable<Buffer>,
  { mapping, ...rest }: ImportOptions & { charset: string | undefined },
): HashedFile {
  const options = Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash('sha256').update(JSON.stringify([options, [...(mapping ?? [])]]));
  async function* read() {
    for await (const chunk of bytes) {
      hash.update(chunk);
      yield chunk;
    }
  }
  return { bytes: read(), fingerprint: () => hash.digest('hex') };
}
