// Key pairs for tests, read from PEM. jose exports the keys that it is given as JWK, and Node 20 can hang for ever when
// it exports the key of `generateKeyPair` itself: the export holds the lock of the key, and when garbage is collected
// meanwhile, the job that generated the key waits for the same lock on the same thread. A key that was read has a lock
// of its own.
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';

export interface KeyPair {
  privateKey: KeyObject;
  publicKey: KeyObject;
  /** The private key, as PKCS #8. */
  privatePem: string;
  /** The public key, as SPKI. */
  publicPem: string;
}

/** An RSA key of 2,048 bits, or a P-256 key. */
export function newKeyPair(type: 'rsa' | 'ec'): KeyPair {
  const made =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const privatePem = made.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  const publicPem = made.publicKey.export({ type: 'spki', format: 'pem' }).toString();
  return { privatePem, publicPem, privateKey: createPrivateKey(privatePem), publicKey: createPublicKey(publicPem) };
}
