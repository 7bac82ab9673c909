// A ring of encryption keys: the first key encrypts, every key decrypts. Encrypted text contains the id of its key, so
// keys can be replaced at any time as long as the ring keeps those that are in use.
import { createHash } from 'node:crypto';

export interface RingKey {
  /** Derived from the key, so that two keys cannot be confused: the first 8 characters of its SHA-256 in base64url. */
  id: string;
  /** The operator's name for the key; only for display. */
  name?: string;
  /** 32 bytes. */
  key: Buffer;
}

export interface KeyRing {
  newest: RingKey;
  /** Newest first. */
  keys: readonly RingKey[];
}

const named = /^(?:([\w.-]{1,32}):)?(.+)$/s;

/**
 * Parses keys of 32 bytes in base64, newest first and separated by commas, each as `key` or as `name:key`. Throws with
 * a message that contains no key.
 */
export function parseKeyRing(text: string): KeyRing {
  const keys = text.split(',').map((part): RingKey => {
    const [, name, base64 = ''] = named.exec(part.trim()) ?? [];
    const key = Buffer.from(base64, 'base64');
    if (key.length !== 32) throw new Error('must be 32 bytes in base64, or several such keys separated by commas');
    const id = createHash('sha256').update(key).digest('base64url').slice(0, 8);
    return { id, key, ...(name !== undefined && { name }) };
  });
  const [newest] = keys;
  if (!newest || new Set(keys.map(({ id }) => id)).size < keys.length) throw new Error('contains a key twice');
  return { newest, keys };
}
