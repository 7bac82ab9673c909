// `kit verify`: why the signature of a captured webhook fails.
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import {
  headerIn,
  serviceHeaders,
  serviceSignature,
  signaturesMade,
  standardHeaders,
  standardSignature,
  WebhookVerificationError,
} from '../verifyWebhook.js';
import { Failure, type Verb } from './verb.js';

type Headers = Record<string, string>;

export interface Capture {
  headers: Headers;
  body: Uint8Array;
}

export type Cause =
  | 'genuine'
  | 'header-lost'
  | 'header-changed'
  | 'body-rewritten'
  | 'old-secret'
  | 'wrong-secret'
  | 'clock';

export interface Verdict {
  cause: Cause;
  explanation: string;
}

const utf8 = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const bytesOf = (text: string) => new TextEncoder().encode(text);

function fromJson(text: string): Capture | undefined {
  try {
    const { headers, body, rawBody = body } = JSON.parse(text);
    if (typeof headers !== 'object' || headers === null || rawBody === undefined) return undefined;
    const raw = typeof rawBody === 'string' ? rawBody : JSON.stringify(rawBody, null, 1);
    const pairs: [string, unknown][] = Array.isArray(headers)
      ? headers.map(({ name, value }) => [name, value])
      : Object.entries(headers);
    return {
      headers: Object.fromEntries(pairs.map(([key, value]) => [key, [value].flat().join(', ')])),
      body: bytesOf(raw),
    };
  } catch {
    return undefined;
  }
}

/**
 * Reads a request as it stood on the wire (a request line or none, headers, an empty line, the body), or JSON with
 * `headers` and `body`. Throws Failure.
 */
export function readCapture(bytes: Uint8Array): Capture {
  const json = fromJson(utf8(bytes));
  if (json) return json;
  // One byte is one character here, so that positions in the text are positions in the bytes.
  const text = Buffer.from(bytes).toString('latin1');
  const gap = /\r?\n\r?\n/.exec(text);
  if (!gap)
    throw new Failure('No request: expected headers, an empty line and the body, or JSON with headers and body.', 2);
  const lines = text.slice(0, gap.index).split(/\r?\n/);
  const headers = lines.flatMap((line) => {
    const [, key, value] = /^[>\s]*([\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [[key, value] as const];
  });
  return { headers: Object.fromEntries(headers), body: bytes.subarray(gap.index + gap[0].length) };
}

/** Which of the two signatures a secret makes over a body: positions of entries. */
async function madeBy(secret: string, { headers, body }: Capture) {
  const of = async (signed: ReturnType<typeof standardSignature>) => {
    try {
      return signed ? await signaturesMade(secret, signed, body) : [];
    } catch (error) {
      if (error instanceof WebhookVerificationError) return [];
      throw error;
    }
  };
  const [standard, service] = [await of(standardSignature(headers)), await of(serviceSignature(headers))];
  return { standard, service, any: standard.length + service.length > 0 };
}

/** What frameworks and editors make of a body, undone. */
function undone(body: Uint8Array): { text: string; what: string }[] {
  const text = utf8(body);
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  const plain = [
    { text: trimmed, what: 'white space or a byte order mark was added around it' },
    { text: trimmed.replaceAll('\r\n', '\n'), what: 'its line ends were changed' },
  ];
  try {
    const value: unknown = JSON.parse(trimmed);
    const parsed = typeof value === 'string' ? [value, JSON.stringify(JSON.parse(value))] : [JSON.stringify(value)];
    return [...plain, ...parsed.map((each) => ({ text: each, what: 'it was parsed and written again' }))];
  } catch {
    return plain;
  }
}

const envelope = ['specversion', 'id', 'type', 'source', 'datacontenttype', 'time', 'event', 'eventId', 'occurredAt'];

/** Whether the service cannot have sent these bytes, whatever the secret is. */
function isRewritten(body: Uint8Array): boolean {
  try {
    const value = JSON.parse(utf8(body));
    const inOrder = envelope.every((key, position) => Object.keys(value)[position] === key);
    return JSON.stringify(value) !== utf8(body) || !inOrder;
  } catch {
    return true;
  }
}

/** A secret as it looks when it was copied or configured wrongly, mended. */
const mended = (secret: string): string[] => {
  const bare = secret.trim().replace(/^["'`]|["'`]$/g, '');
  return [bare, `whsec_${bare}`, bare.replace(/^whsec_/, '')].filter((each) => each !== secret);
};

const minutes = (ms: number) => `${Math.round(Math.abs(ms) / 60_000)} minutes`;
const toleranceMs = 300_000;
const raw = 'Verify the bytes as they came, before any JSON parser (in Express: express.raw).';

/** The headers of each signature that are not there. */
function lostHeaders(headers: Headers): string[] {
  const missing = (names: readonly string[]) => names.filter((key) => headerIn(headers, key) === undefined);
  const [standard, service] = [missing(standardHeaders), missing(serviceHeaders)];
  // One signature may be left out as a whole; a part of one is a loss.
  const isWhole = (lost: string[], names: readonly string[]) => lost.length === 0 || lost.length === names.length;
  const parts = [
    ...(isWhole(standard, standardHeaders) ? [] : standard),
    ...(isWhole(service, serviceHeaders) ? [] : service),
  ];
  return standard.length > 0 && service.length > 0 ? [...standard, ...service] : parts;
}

function changedHeader({ headers, body }: Capture): string | undefined {
  const [seconds, iso] = [headerIn(headers, 'webhook-timestamp'), headerIn(headers, 'X-Service-Webhook-Timestamp')];
  if (seconds && iso && Math.floor(Date.parse(iso) / 1000) !== Number(seconds))
    return 'webhook-timestamp and X-Service-Webhook-Timestamp tell different times';
  const id = headerIn(headers, 'webhook-id');
  const eventId = /"eventId"\s*:\s*"([^"]+)"/.exec(utf8(body))?.[1];
  return id && eventId && id !== eventId ? 'webhook-id is not the eventId of the body' : undefined;
}

/** The first secret is the one that the receiver uses; more may be given, such as the one before a rotation. */
export async function explain(capture: Capture, secrets: readonly string[], now = new Date()): Promise<Verdict> {
  const { headers, body } = capture;
  const lost = lostHeaders(headers);
  const signed = standardSignature(headers) ?? serviceSignature(headers);
  const lostText = `Missing: ${lost.join(', ')}. A proxy or framework on the way dropped it; let it pass X-Service-Webhook-* and webhook-*.`;
  if (!signed) return { cause: 'header-lost', explanation: lostText };

  const [secret = '', ...others] = secrets;
  const made = await madeBy(secret, capture);
  const subscription = headerIn(headers, 'X-Service-Webhook-Subscription') ?? 'unknown';
  if (!made.any) {
    for (const each of others)
      if ((await madeBy(each, capture)).any)
        return {
          cause: 'old-secret',
          explanation: 'Another of the secrets signed it: the secret was rotated. Accept both while one is rotated.',
        };
    for (const { text, what } of undone(body)) {
      for (const each of secrets)
        if ((await madeBy(each, { headers, body: bytesOf(text) })).any)
          return { cause: 'body-rewritten', explanation: `The body is not what was signed: ${what}. ${raw}` };
    }
    for (const each of mended(secret))
      if ((await madeBy(each, capture)).any)
        return {
          cause: 'wrong-secret',
          explanation: `The secret was copied with a mistake: it begins with ${each.slice(0, 8)} and has ${each.length} characters; quotation marks, blanks and the prefix count.`,
        };
    const changed = changedHeader(capture);
    if (changed) return { cause: 'header-changed', explanation: `A header was changed on the way: ${changed}.` };
    if (isRewritten(body))
      return {
        cause: 'body-rewritten',
        explanation: `These are not the bytes that the service sends: the body was parsed and written again. ${raw}`,
      };
    const rotating =
      signed.signatures.length > 1
        ? ' It carries two signatures, so a rotation is under way: the secret is neither of the two.'
        : '';
    return {
      cause: 'wrong-secret',
      explanation: `The secret is not the one of subscription ${subscription}: another subscription's, or one that a rotation ended.${rotating} Rotate it to get a new one.`,
    };
  }
  // The service's own signature is made with the newest secret alone.
  const isOld =
    made.standard.length > 0 && (made.standard[0] !== 0 || (made.service.length === 0 && serviceSignature(headers)));
  if (isOld)
    return {
      cause: 'old-secret',
      explanation: `The secret was rotated, and this is the old one: webhook-signature still has it for 24 hours, X-Service-Webhook-Signature has the new one alone. Take the new secret of subscription ${subscription}.`,
    };
  const away = now.getTime() - signed.at;
  if (Math.abs(away) > toleranceMs)
    return {
      cause: 'clock',
      explanation: `The signature is genuine, but its time is ${minutes(away)} ${away > 0 ? 'before' : 'after'} ${now.toISOString()}: a receiver refuses more than 5. If it was captured then, give its time with --at; otherwise one of the clocks is wrong.`,
    };
  if (lost.length > 0) return { cause: 'header-lost', explanation: lostText };
  return { cause: 'genuine', explanation: 'The signature is genuine and fresh.' };
}

export const verify: Verb = {
  usage: 'verify --secret SECRET [--secret OLD] [--at INSTANT] [FILE]',
  does: `Says why the signature of a captured webhook fails: a wrong secret, a body that was parsed and written again, a
clock, an old secret after a rotation, a header that a proxy lost. FILE (or the standard input) has the headers, an
empty line and the raw body, or JSON with headers and body. --at is when it was received (now). Exit code 0: genuine.`,
  example: 'verify --secret whsec_... captured.txt',
  takesWord: true,
  options: { secret: { type: 'string', multiple: true }, at: { type: 'string' } },
  async run({ say }, { values, args: [file] }) {
    const secrets = values.secret as string[] | undefined;
    if (!secrets?.[0]) throw new Failure('--secret takes the secret of the subscription.', 2);
    const at = values.at === undefined ? new Date() : new Date(String(values.at));
    if (Number.isNaN(at.getTime())) throw new Failure('--at takes an instant, such as 2026-03-01T09:30:00Z.', 2);
    const bytes = await (file === undefined || file === '-' ? buffer(process.stdin) : readFile(file)).catch((error) => {
      throw new Failure(`${file} ${error.code === 'ENOENT' ? 'does not exist' : 'cannot be read'}.`, 2);
    });
    const verdict = await explain(readCapture(bytes), secrets, at);
    say(`${verdict.cause}: ${verdict.explanation}`, verdict);
    return verdict.cause === 'genuine' ? 0 : 1;
  },
};
