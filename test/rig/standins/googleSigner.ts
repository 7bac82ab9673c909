// Signs callbacks with Google's two layers of keys: a published root key signs an intermediate key, and the
// intermediate key signs messages. The file shares no code with the service's verification, so a mistake in one is not
// hidden by the other.
import { sign } from 'node:crypto';
import { type KeyPair, newKeyPair } from './keyPairs.js';

export interface SignedCallback {
  signature: string;
  intermediateSigningKey: { signedKey: string; signatures: string[] };
  protocolVersion: string;
  signedMessage: string;
}

export interface GoogleSigner {
  /** The document at /gp/m/issuer/keys. */
  published: () => { keys: { keyValue: string; protocolVersion: string; keyExpiration: string }[] };
  sign: (message: unknown, options?: SignOptions) => SignedCallback;
  /** Creates a new root key and a new intermediate key. With `keepOld` the old root key stays published. */
  rotate: (options?: { keepOld?: boolean }) => void;
}

export interface SignOptions {
  recipient?: string;
  sender?: string;
  protocolVersion?: string;
  /** Expiry of the intermediate key. */
  keyExpiresAt?: number;
}

const week = 7 * 24 * 3_600_000;

export function createGoogleSigner(issuerId: string, now: () => number = Date.now): GoogleSigner {
  let roots = [newKeyPair('ec')];
  let intermediate = newKeyPair('ec');

  return {
    published: () => ({
      keys: roots.map((root) => ({
        keyValue: spki(root),
        protocolVersion: 'ECv2SigningOnly',
        keyExpiration: String(now() + 52 * week),
      })),
    }),
    sign(message, options = {}) {
      const { recipient = issuerId, sender = 'GooglePayPasses', protocolVersion = 'ECv2SigningOnly' } = options;
      const keyExpiration = String(options.keyExpiresAt ?? now() + week);
      const signedKey = escapeEquals(JSON.stringify({ keyValue: spki(intermediate), keyExpiration }));
      const signedMessage = typeof message === 'string' ? message : JSON.stringify(message);
      return {
        signature: signParts(intermediate, [sender, recipient, protocolVersion, signedMessage]),
        intermediateSigningKey: {
          signedKey,
          signatures: [signParts(roots[0] ?? newKeyPair('ec'), [sender, protocolVersion, signedKey])],
        },
        protocolVersion,
        signedMessage,
      };
    },
    rotate({ keepOld = false } = {}) {
      roots = keepOld ? [newKeyPair('ec'), ...roots] : [newKeyPair('ec')];
      intermediate = newKeyPair('ec');
    },
  };
}

function spki(pair: KeyPair): string {
  return pair.publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
}

/** Google escapes `=` inside the signed text, so a verifier that re-encodes the JSON fails. */
function escapeEquals(json: string): string {
  return json.replaceAll('=', '\\u003d');
}

function signParts(pair: KeyPair, parts: string[]): string {
  let bytes = new Uint8Array();
  for (const part of parts) {
    const text = new TextEncoder().encode(part);
    const length = new Uint8Array(new Uint32Array([text.length]).buffer);
    bytes = new Uint8Array([...bytes, ...length, ...text]);
  }
  return sign('sha256', bytes, pair.privateKey).toString('base64');
}
