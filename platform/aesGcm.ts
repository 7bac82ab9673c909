// AES-256-GCM. The result is the iv (12 bytes), the ciphertext and the tag (16 bytes).
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const cipherName = 'aes-256-gcm';
const ivBytes = 12;
const tagBytes = 16;

/** `context` is authenticated and not stored: decrypting needs the same one. */
export function encrypt(key: Buffer, plain: Uint8Array, context?: Uint8Array): Buffer {
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv(cipherName, key, iv);
  if (context) cipher.setAAD(context);
  return Buffer.concat([iv, cipher.update(plain), cipher.final(), cipher.getAuthTag()]);
}

/** Throws when the bytes, the key or the context differ. */
export function decrypt(key: Buffer, bytes: Uint8Array, context?: Uint8Array): Buffer {
  if (bytes.length < ivBytes + tagBytes) throw new Error('Encrypted bytes are too short.');
  const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, ivBytes), { authTagLength: tagBytes });
  if (context) decipher.setAAD(context);
  decipher.setAuthTag(bytes.subarray(-tagBytes));
  return Buffer.concat([decipher.update(bytes.subarray(ivBytes, -tagBytes)), decipher.final()]);
}
