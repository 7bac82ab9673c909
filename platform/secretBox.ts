// Encrypts secrets at rest with AES-256-GCM; signing needs the plain secret, so a hash is not enough. An encrypted
// secret is bound to its row and field, and cannot be decrypted in any other
// (docs/decisions/secrets-and-payloads-are-encrypted.md).
import { parseKeyRing } from '../schemas/shared/keyRing.rules.js';
import { decrypt, encrypt } from './aesGcm.js';

/** Where an encrypted secret is stored. */
export interface SecretPlace {
  collection: string;
  id: string;
  field: string;
}

export interface SecretBox {
  seal: (secret: string, place: SecretPlace) => string;
  /**
   * Throws when the key of the text is not in the ring, or the text was changed or encrypted for another place. Also
   * decrypts texts from before secrets were bound to a place.
   */
  open: (sealed: string, place: SecretPlace) => string;
  /** Whether the text is bound to a place and encrypted with the newest key. */
  isCurrent: (sealed: string) => boolean;
  /** The id of the key that encrypted the text. */
  keyIdOf: (sealed: string) => string;
}

/**
 * `v2.<key id>.<iv, ciphertext and tag>`; texts that are not bound to a place are `<key id>.<iv>.<ciphertext and tag>`.
 */
const bound = 'v2';

function parse(sealed: string) {
  const [first = '', second = '', third = ''] = sealed.split('.');
  if (first === bound) return { isBound: true, keyId: second, bytes: Buffer.from(third, 'base64url') };
  const bytes = Buffer.concat([Buffer.from(second, 'base64url'), Buffer.from(third, 'base64url')]);
  return { isBound: false, keyId: first, bytes };
}

const contextOf = ({ collection, id, field }: SecretPlace) => Buffer.from(JSON.stringify([collection, id, field]));

export interface SecretKeys {
  /** A ring as `parseKeyRing` reads it. */
  SECRETS_KEY: string;
  /** Further, older keys. */
  SECRETS_KEY_PREVIOUS?: string | undefined;
}

/** Throws when a key is not 32 bytes in base64. */
export function createSecretBox({ SECRETS_KEY, SECRETS_KEY_PREVIOUS }: SecretKeys): SecretBox {
  const rings = [SECRETS_KEY, SECRETS_KEY_PREVIOUS].flatMap((text) => (text ? [parseKeyRing(text)] : []));
  const keys = rings.flatMap((ring) => ring.keys);
  const [newest] = keys;
  if (!newest) throw new Error('A secret box needs a key.');

  return {
    seal(secret, place) {
      const bytes = encrypt(newest.key, Buffer.from(secret), contextOf(place));
      return `${bound}.${newest.id}.${bytes.toString('base64url')}`;
    },
    open(sealed, place) {
      const { isBound, keyId, bytes } = parse(sealed);
      const known = keys.find(({ id }) => id === keyId);
      if (!known) throw new Error(`A secret is sealed under key ${keyId}, which is not in SECRETS_KEY.`);
      return decrypt(known.key, bytes, isBound ? contextOf(place) : undefined).toString('utf8');
    },
    isCurrent(sealed) {
      const { isBound, keyId } = parse(sealed);
      return isBound && keyId === newest.id;
    },
    keyIdOf: (sealed) => parse(sealed).keyId,
  };
}
