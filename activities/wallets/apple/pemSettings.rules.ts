// Reads the certificates and keys of Apple's settings. A setting is PEM text or the path of a file; a certificate may
// also be a DER file, which is what Apple provides. Anything unreadable throws CredentialProblem, which names the
// setting but never its content.
import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { certificatesOf } from '../../../schemas/shared/pem.rules.js';

export interface AppleSettings {
  APPLE_PASS_TYPE_ID?: string | undefined;
  APPLE_TEAM_ID?: string | undefined;
  APPLE_SIGNER_CERT?: string | undefined;
  APPLE_SIGNER_KEY?: string | undefined;
  APPLE_SIGNER_KEY_PASSPHRASE?: string | undefined;
  APPLE_WWDR_CERT?: string | undefined;
  APNS_ORIGIN?: string | undefined;
  APNS_CA?: string | undefined;
  APNS_KEY?: string | undefined;
  APNS_KEY_ID?: string | undefined;
}

/** The message is one whole sentence for operators. */
export class CredentialProblem extends Error {}

/** Returns the bytes of a setting. PEM text may contain `\n` as two characters, as environment files require. */
function content(name: keyof AppleSettings, settings: AppleSettings): Buffer {
  const value = settings[name] ?? '';
  if (value.includes('-----BEGIN')) return Buffer.from(value.replaceAll('\\n', '\n'));
  try {
    return readFileSync(value);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new CredentialProblem(`${name} is neither PEM text nor a readable file${code}.`);
  }
}

export function certificate(name: keyof AppleSettings, settings: AppleSettings): X509Certificate {
  const bytes = content(name, settings);
  try {
    return new X509Certificate(bytes);
  } catch {
    throw new CredentialProblem(`${name} holds no certificate.`);
  }
}

/** Returns one or more certificates as PEM text, the form that TLS options take. */
export function authorities(name: keyof AppleSettings, settings: AppleSettings): string {
  const text = content(name, settings).toString('latin1');
  if (!text.includes('-----BEGIN')) return certificate(name, settings).toString();
  try {
    certificatesOf(text);
  } catch {
    throw new CredentialProblem(`${name} holds no certificate.`);
  }
  return text;
}

export function privateKey(name: keyof AppleSettings, settings: AppleSettings, passphrase?: string): KeyObject {
  const key = content(name, settings);
  try {
    return createPrivateKey({ key, format: 'pem', ...(passphrase && { passphrase }) });
  } catch {
    if (!key.includes('ENCRYPTED')) throw new CredentialProblem(`${name} holds no private key in PEM form.`);
    const why = passphrase ? 'is wrong' : 'is missing';
    throw new CredentialProblem(`${name} is encrypted and ${name}_PASSPHRASE ${why}.`);
  }
}
