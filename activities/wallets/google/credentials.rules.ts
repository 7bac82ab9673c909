// Reads the settings of Google Wallet: real credentials, or stub mode with the reason. Wrong settings throw nothing:
// the service starts in stub mode and reports the reason (docs/interface.md#101-modes).
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isSecureOrLocal } from '../../../schemas/shared/addresses.rules.js';

const googleOrigin = 'https://walletobjects.googleapis.com';
const googleCallbackKeysUrl = 'https://pay.google.com/gp/m/issuer/keys';
const googleTokenUri = 'https://oauth2.googleapis.com/token';

/** The settings that this file reads; an empty setting counts as unset. */
export interface GoogleSettings {
  GOOGLE_WALLET_ISSUER_ID?: string | undefined;
  /** The JSON of a service account, or the path of a file that contains it. */
  GOOGLE_WALLET_CREDENTIALS?: string | undefined;
  GOOGLE_WALLET_ORIGIN?: string | undefined;
  GOOGLE_CALLBACK_KEYS_URL?: string | undefined;
}

export interface RealGoogleCredentials {
  mode: 'real';
  issuerId: string;
  clientEmail: string;
  /** PEM of an RSA key. */
  privateKey: string;
  tokenUri: string;
  /** Scheme, host and port, without a trailing slash. */
  origin: string;
  callbackKeysUrl: string;
}

export type GoogleCredentials = RealGoogleCredentials | { mode: 'stub'; reason: string };

const serviceAccount = z.object({
  type: z.literal('service_account', 'its type is not service_account').optional(),
  client_email: z.string('it has no client_email').min(1, 'it has no client_email'),
  private_key: z.string('it has no private_key').min(1, 'it has no private_key'),
  token_uri: z.string('its token_uri is not text').min(1).default(googleTokenUri),
});

class UnusableCredentials extends Error {}

export function loadGoogleCredentials(settings: GoogleSettings): GoogleCredentials {
  try {
    return read(settings);
  } catch (error) {
    const reason =
      error instanceof UnusableCredentials ? error.message : 'The settings of Google Wallet cannot be read.';
    return { mode: 'stub', reason };
  }
}

function read(settings: GoogleSettings): GoogleCredentials {
  const issuerId = (settings.GOOGLE_WALLET_ISSUER_ID ?? '').trim();
  const given = (settings.GOOGLE_WALLET_CREDENTIALS ?? '').trim();
  if (issuerId === '' && given === '') {
    throw new UnusableCredentials('GOOGLE_WALLET_ISSUER_ID and GOOGLE_WALLET_CREDENTIALS are not set.');
  }
  if (issuerId === '') throw new UnusableCredentials('GOOGLE_WALLET_ISSUER_ID is not set.');
  if (given === '') throw new UnusableCredentials('GOOGLE_WALLET_CREDENTIALS is not set.');
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(issuerId))
    throw new UnusableCredentials('GOOGLE_WALLET_ISSUER_ID is not an issuer id.');

  const account = readAccount(given);
  const origin = readOrigin(settings.GOOGLE_WALLET_ORIGIN || googleOrigin);
  const keysUrl =
    settings.GOOGLE_CALLBACK_KEYS_URL ||
    (origin === googleOrigin ? googleCallbackKeysUrl : `${origin}/gp/m/issuer/keys`);
  return {
    mode: 'real',
    issuerId,
    clientEmail: account.client_email,
    privateKey: account.private_key,
    tokenUri: safeUrl('The token_uri of GOOGLE_WALLET_CREDENTIALS', account.token_uri).href,
    origin,
    callbackKeysUrl: safeUrl('GOOGLE_CALLBACK_KEYS_URL', keysUrl).href,
  };
}

function readAccount(given: string): z.output<typeof serviceAccount> {
  const isText = given.startsWith('{');
  const text = isText ? given : readFile(given);
  const parsed = serviceAccount.safeParse(parseJson(text, isText));
  if (!parsed.success) {
    const problem = parsed.error.issues[0]?.path.length ? parsed.error.issues[0].message : 'it is not an object';
    throw new UnusableCredentials(`GOOGLE_WALLET_CREDENTIALS is not a service account: ${problem}.`);
  }
  // A key that was copied through a shell or a secrets store often contains the two characters `\n` in place of line
  // breaks.
  const private_key = parsed.data.private_key.replaceAll('\\n', '\n');
  if (keyType(private_key) !== 'rsa') {
    throw new UnusableCredentials('The private_key of GOOGLE_WALLET_CREDENTIALS is not an RSA key.');
  }
  return { ...parsed.data, private_key };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new UnusableCredentials('The file that GOOGLE_WALLET_CREDENTIALS names cannot be read.');
  }
}

function parseJson(text: string, isText: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UnusableCredentials(
      `${isText ? '' : 'The file that '}GOOGLE_WALLET_CREDENTIALS${isText ? '' : ' names'} is not JSON.`,
    );
  }
}

function keyType(pem: string): string | undefined {
  try {
    return createPrivateKey(pem).asymmetricKeyType;
  } catch {
    return undefined;
  }
}

function readOrigin(given: string): string {
  const url = safeUrl('GOOGLE_WALLET_ORIGIN', given);
  if (url.pathname !== '/' || url.search !== '' || url.hash !== '') {
    throw new UnusableCredentials('GOOGLE_WALLET_ORIGIN is more than a scheme, a host and a port.');
  }
  return url.origin;
}

function safeUrl(name: string, given: string): URL {
  if (!URL.canParse(given)) throw new UnusableCredentials(`${name} is not a URL.`);
  const url = new URL(given);
  if (url.username !== '' || url.password !== '')
    throw new UnusableCredentials(`${name} holds a user name or a password.`);
  if (isSecureOrLocal(url)) return url;
  throw new UnusableCredentials(`${name} is neither https nor http on loopback.`);
}
