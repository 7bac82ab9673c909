// Encrypts every payload that Temporal stores (inputs, results, errors, summaries, current details) with AES-256-GCM,
// in the form of Temporal's own samples: the whole payload is encrypted, and the id of its key is in the metadata.
// Payloads that are not encrypted pass unchanged, so histories from before the codec was on still decode and replay.
import { fileURLToPath } from 'node:url';
import type { DataConverter, Payload, PayloadCodec } from '@temporalio/common';
import proto from '@temporalio/proto';
import type { Config } from '../../schemas/shared/config.schema.js';
import { parseKeyRing } from '../../schemas/shared/keyRing.rules.js';
import { decrypt, encrypt } from '../aesGcm.js';

const { Payload: PayloadProto } = proto.temporal.api.common.v1;
const encoding = Buffer.from('binary/encrypted');
const textOf = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('utf8');

/** `decode` throws when the key of a payload is not in the ring, or when its bytes were changed. */
export function createPayloadCodec(ring: string): PayloadCodec {
  const { newest, keys } = parseKeyRing(ring);

  function decodeOne(payload: Payload): Payload {
    if (textOf(payload.metadata?.encoding) !== encoding.toString()) return payload;
    const keyId = textOf(payload.metadata?.['encryption-key-id']);
    const known = keys.find(({ id }) => id === keyId);
    if (!known) throw new Error(`A payload is encrypted with key ${keyId}, which is not in TEMPORAL_CODEC_KEY.`);
    return PayloadProto.decode(decrypt(known.key, payload.data ?? new Uint8Array()));
  }

  return {
    encode: async (payloads) =>
      payloads.map((payload) => ({
        metadata: { encoding, 'encryption-key-id': Buffer.from(newest.id) },
        data: encrypt(newest.key, PayloadProto.encode(payload).finish()),
      })),
    decode: async (payloads) => payloads.map(decodeOne),
  };
}

const extension = import.meta.url.endsWith('.ts') ? 'cts' : 'cjs';

/** Moves message and stack trace of errors into a payload, so that they are encrypted too. */
export const encodedFailuresPath = fileURLToPath(
  new URL(`../../workflows/encodedFailures.${extension}`, import.meta.url),
);

/** For clients and workers. Without TEMPORAL_CODEC_KEY, Temporal's default converter, which does not encrypt. */
export function dataConverterOf({ TEMPORAL_CODEC_KEY }: Pick<Config, 'TEMPORAL_CODEC_KEY'>): DataConverter {
  if (TEMPORAL_CODEC_KEY === undefined) return {};
  return { payloadCodecs: [createPayloadCodec(TEMPORAL_CODEC_KEY)], failureConverterPath: encodedFailuresPath };
}
