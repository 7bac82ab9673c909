// Verifies that Google signed a callback about a saved or deleted pass for this issuer: a root key signs an
// intermediate key, and the intermediate key signs the message (ECv2SigningOnly:
// docs/protocols/google-wallet.md#7-callbacks). Google's library for this, Tink, does not exist for Node.
import { createPublicKey, verify } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../../../platform/parseJson.js';

const sender = 'GooglePayPasses';
const protocol = 'ECv2SigningOnly';

/** More than Google sends. Bounded because each signature is verified with each root key. */
const maxSignatures = 8;

const millis = z.union([
  z.int(),
  z
    .string()
    .regex(/^\d{1,16}$/)
    .transform(Number),
]);

export const rootKey = z.object({
  /** Base64 of the SubjectPublicKeyInfo of a P-256 key. */
  keyValue: z.string(),
  protocolVersion: z.string(),
  /** Milliseconds since 1970; a key without it does not expire. */
  keyExpiration: millis.optional(),
});
export type GoogleRootKey = z.output<typeof rootKey>;

const envelope = z.object({
  protocolVersion: z.string(),
  signature: z.string(),
  intermediateSigningKey: z.object({ signedKey: z.string(), signatures: z.array(z.string()).max(maxSignatures) }),
  signedMessage: z.string(),
});
const signedKey = z.object({ keyValue: z.string(), keyExpiration: millis });
const signedMessage = z.object({
  classId: z.string(),
  objectId: z.string(),
  expTimeMillis: millis,
  nonce: z.string().min(1).max(200),
});

export interface GoogleCallbackEvent {
  eventType: 'save' | 'del';
  classId: string;
  objectId: string;
  /** Google repeats an event with the same nonce. */
  nonce: string;
  expTimeMillis: number;
}

/**
 * Only `unknown_event` is a genuine message of Google: the signature is valid, but the event is neither a save nor a
 * deletion.
 */
export type CallbackRefusal =
  | 'malformed'
  | 'wrong_protocol'
  | 'forged_key'
  | 'expired_key'
  | 'forged_message'
  | 'expired_message'
  | 'other_issuer'
  | 'unknown_event';

export function verifyCallback(
  { issuerId, rootKeys, now }: { issuerId: string; rootKeys: GoogleRootKey[]; now: Date },
  body: unknown,
): { ok: true; event: GoogleCallbackEvent } | { ok: false; reason: CallbackRefusal } {
  const parsed = envelope.safeParse(body);
  if (!parsed.success) return refuse('malformed');
  const { protocolVersion, signature, intermediateSigningKey, signedMessage: text } = parsed.data;
  if (protocolVersion !== protocol) return refuse('wrong_protocol');

  const liveRoots = rootKeys.filter(
    (key) => key.protocolVersion === protocol && (key.keyExpiration === undefined || key.keyExpiration > now.getTime()),
  );
  const keyBytes = signedBytes([sender, protocol, intermediateSigningKey.signedKey]);
  const isGoogles = liveRoots.some((root) =>
    intermediateSigningKey.signatures.some((each) => isSignedBy(root.keyValue, keyBytes, each)),
  );
  if (!isGoogles) return refuse('forged_key');

  const key = signedKey.safeParse(parseJson(intermediateSigningKey.signedKey));
  if (!key.success) return refuse('malformed');
  if (key.data.keyExpiration <= now.getTime()) return refuse('expired_key');
  if (!isSignedBy(key.data.keyValue, signedBytes([sender, issuerId, protocol, text]), signature)) {
    return refuse('forged_message');
  }

  const content = parseJson(text);
  const kind = z.object({ eventType: z.string() }).safeParse(content);
  if (!kind.success) return refuse('malformed');
  const eventType = kind.data.eventType;
  if (eventType !== 'save' && eventType !== 'del') return refuse('unknown_event');
  const message = signedMessage.safeParse(content);
  if (!message.success) return refuse('malformed');
  const { classId, objectId, nonce, expTimeMillis } = message.data;
  if (expTimeMillis <= now.getTime()) return refuse('expired_message');
  if (!objectId.startsWith(`${issuerId}.`)) return refuse('other_issuer');
  return { ok: true, event: { eventType, classId, objectId, nonce, expTimeMillis } };
}

function refuse(reason: CallbackRefusal): { ok: false; reason: CallbackRefusal } {
  return { ok: false, reason };
}

/** The bytes that are signed: each part in UTF-8 after its length in bytes, a 32-bit little-endian integer. */
function signedBytes(parts: string[]): Buffer {
  return Buffer.concat(
    parts.flatMap((part) => {
      const bytes = Buffer.from(part, 'utf8');
      const length = Buffer.alloc(4);
      length.writeUInt32LE(bytes.length);
      return [length, bytes];
    }),
  );
}

function isSignedBy(keyValue: string, bytes: Buffer, signature: string): boolean {
  try {
    const key = createPublicKey({ key: Buffer.from(keyValue, 'base64'), format: 'der', type: 'spki' });
    if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') return false;
    return verify('sha256', bytes, { key, dsaEncoding: 'der' }, Buffer.from(signature, 'base64'));
  } catch {
    return false;
  }
}
