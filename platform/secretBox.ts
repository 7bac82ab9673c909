// Encrypts webhook secrets at rest with AES-256-GCM under an operator's key; signing needs the plain secret, so a hash
// is not enough. Each sealed text starts with the id of its key, so that keys can be rotated: the newest key seals, and
// each text is opened with the key that sealed it.
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';

export interface SecretBox {
  seal: (secret: string) => string;
  /** Throws when the key that sealed the text is not configured, or when the text was changed. */
  open: (sealed: string) => string;
}

const ivBytes = 12;
const tagBytes = 16;

const keyId = (key: Buffer): string => createHash('sha256').update(key).digest('base64url').slice(0, 8);

/** Keys are 32 bytes in base64, newest first. Throws without a key. */
export function createSecretBox(keys: readonly (string | undefined)[]): SecretBox {
  const known = keys.filter((key) => key !== undefined).map((key) => Buffer.from(key, 'base64'));
  const newest = known[0];
  if (!newest) throw new Error('A secret box needs a key.');
  const byId = new Map(known.map((key) => [keyId(key), key]));

  return {
    seal(secret) {
      const iv = randomBytes(ivBytes);
      const cipher = createCipheriv('aes-256-gcm', newest, iv);
      const sealed = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${keyId(newest)}.${iv.toString('base64url')}.${sealed.toString('base64url')}`;
    },
    open(sealed) {
      const [id = '', iv = '', text = ''] = sealed.split('.');
      const key = byId.get(id);
      if (!key)
        throw new Error(`A secret is sealed under key ${id}, which is neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS.`);
      const bytes = Buffer.from(text, 'base64url');
      const decipher = createDecipheriv('aes-256-gcm', key, Buffer.from(iv, 'base64url'));
      decipher.setAuthTag(bytes.subarray(-tagBytes));
      return Buffer.concat([decipher.update(bytes.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
    },
  };
}
