// Google's settings become either a mode that can work or a stub with its reason. Whatever is wrong with them, nothing
// is thrown: decisions.md "Running it" wants a service that starts and says why it is a stub.
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';

const googleOrigin = 'https://walletobjects.googleapis.com';
const googleCallbackKeysUrl = 'https://pay.google.com/gp/m/issuer/keys';
const googleTokenUri = 'https://oauth2.googleapis.com/token';

/** The part of the configuration that this needs; unset and empty mean the same. */
export interface GoogleSettings {
  GOOGLE_WALLET_ISSUER_ID?: string | undefined;
  /** A service account's JSON, or the path of its file. */
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
  /** Scheme, host and port, without a slash at the end. */
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

class Unfit extends Error {}

export function loadGoogleCredentials(settings: GoogleSettings): GoogleCredentials {
  try {
    return read(settings);
  } catch (error) {
    const reason = error instanceof Unfit ? error.message : 'The settings of Google Wallet cannot be read.';
    return { mode: 'stub', reason };
  }
}

function read(settings: GoogleSettings): GoogleCredentials {
  const issuerId = (settings.GOOGLE_WALLET_ISSUER_ID ?? '').trim();
  const given = (settings.GOOGLE_WALLET_CREDENTIALS ?? '').trim();
  if (issuerId === '' && given === '') {
    throw new Unfit('GOOGLE_WALLET_ISSUER_ID and GOOGLE_WALLET_CREDENTIALS are not set.');
  }
  if (issuerId === '') throw new Unfit('GOOGLE_WALLET_ISSUER_ID is not set.');
  if (given === '') throw new Unfit('GOOGLE_WALLET_CREDENTIALS is not set.');
  if (!/^[A-Za-z0-9_-]{1,64}$/.test(issuerId)) throw new Unfit('GOOGLE_WALLET_ISSUER_ID is not an issuer id.');

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
    throw new Unfit(`GOOGLE_WALLET_CREDENTIALS is not a service account: ${problem}.`);
  }
  // A key that went through a shell or a secrets store often arrives with its line ends escaped twice.
  const private_key = parsed.data.private_key.replaceAll('\\n', '\n');
  if (keyType(private_key) !== 'rsa') {
    throw new Unfit('The private_key of GOOGLE_WALLET_CREDENTIALS is not an RSA key.');
  }
  return { ...parsed.data, private_key };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    throw new Unfit('The file that GOOGLE_WALLET_CREDENTIALS names cannot be read.');
  }
}

function parseJson(text: string, isText: boolean): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unfit(`${isText ? '' : 'The file that '}GOOGLE_WALLET_CREDENTIALS${isText ? '' : ' names'} is not JSON.`);
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
    throw new Unfit('GOOGLE_WALLET_ORIGIN is more than a scheme, a host and a port.');
  }
  return url.origin;
}

function safeUrl(name: string, given: string): URL {
  if (!URL.canParse(given)) throw new Unfit(`${name} is not a URL.`);
  const url = new URL(given);
  if (url.username !== '' || url.password !== '') throw new Unfit(`${name} holds a user name or a password.`);
  if (url.protocol === 'https:') return url;
  if (url.protocol === 'http:' && isLoopback(url.hostname)) return url;
  throw new Unfit(`${name} is neither https nor http on loopback.`);
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
