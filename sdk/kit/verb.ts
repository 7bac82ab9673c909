// What the verbs of the command share: where the service is, what is kept between runs, and how they speak.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { ParseArgsConfig } from 'node:util';
import { createClient, type LoyaltyClient, type LoyaltyEvent } from '../client.js';

/** A failure that is shown as its sentence. */
export class Failure extends Error {
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
  ) {
    super(message);
  }
}

export interface Address {
  /** Of the service, with `/api/v1`. */
  baseUrl: string;
  apiKey: string;
}

export interface Kit {
  /** Throws Failure when neither the environment nor a running stack says where the service is. */
  address: () => Address;
  client: () => LoyaltyClient;
  /** A line for people or, with `--json`, the object as a line. */
  say: (line: string, object: object) => void;
  /** For people; not part of the output. */
  note: (line: string) => void;
  /** Aborts with the first SIGINT or SIGTERM. */
  signal: AbortSignal;
}

export interface Verb {
  usage: string;
  does: string;
  example: string;
  options?: NonNullable<ParseArgsConfig['options']>;
  /** Whether one word without an option is taken. */
  takesWord?: true;
  /** Resolves with the exit code. */
  run: (kit: Kit, input: { values: Record<string, unknown>; args: string[] }) => Promise<number>;
}

const stackDir = () => resolve(process.env.STACK_DIR || '.stack');

interface Stack {
  baseUrl: string;
  demo: { apiKey: string };
}

function runningStack(): Stack | undefined {
  const file = join(stackDir(), 'stack.json');
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

/** The key of a stack's demo goes to that stack alone. */
export function addressOf({ LOYALTY_URL: url, LOYALTY_API_KEY: key }: NodeJS.ProcessEnv): Address {
  const stack = runningStack();
  const baseUrl = url || stack?.baseUrl;
  const apiKey = key || (url ? undefined : stack?.demo.apiKey);
  if (!baseUrl)
    throw new Failure(`No stack is running on ${stackDir()}. Start one, or set LOYALTY_URL and LOYALTY_API_KEY.`);
  if (!apiKey) throw new Failure('LOYALTY_URL is set, so LOYALTY_API_KEY is required, too.');
  if (!/^https?:\/\/./.test(baseUrl) || !URL.canParse(baseUrl))
    throw new Failure(`LOYALTY_URL is ${baseUrl}, which is no http address.`, 2);
  const root = baseUrl.replace(/\/+$/, '');
  return { baseUrl: root.endsWith('/api/v1') ? root : `${root}/api/v1`, apiKey };
}

export const clientOf = (address: Address): LoyaltyClient => createClient(address);

/** A file that stays between runs: in the folder of the stack or, without one, in that of the user. Holds secrets. */
function keptFile(name: string): string {
  const own = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'loyalty-pass');
  const folder = process.env.STACK_DIR || existsSync(stackDir()) ? stackDir() : own;
  mkdirSync(folder, { recursive: true });
  return join(folder, `kit-${name}`);
}

export function readKept(name: string): string | undefined {
  const file = keptFile(name);
  return existsSync(file) ? readFileSync(file, 'utf8') : undefined;
}

export function keep(name: string, content: string): void {
  const file = keptFile(name);
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, content, { mode: 0o600 });
  renameSync(draft, file);
}

/** The secret that signs forwarded events: made once. */
export function keptSecret(): string {
  const kept = readKept('secret');
  if (kept) return kept;
  const secret = `whsec_${randomBytes(32).toString('base64')}`;
  keep('secret', secret);
  return secret;
}

export const digest = (...parts: string[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex').slice(0, 16);

/** The cursor after the newest event. */
export async function newestCursor(
  client: LoyaltyClient,
  at: { types?: readonly LoyaltyEvent['event'][] | undefined; signal: AbortSignal; after?: string | undefined },
): Promise<string | undefined> {
  let cursor = at.after;
  const onCursor = (after: string) => {
    cursor = after;
  };
  for await (const _ of client.events({ ...at, onCursor, follow: false }));
  at.signal.throwIfAborted();
  return cursor;
}

/** The time of day, for lines that people read. */
export const clock = (at: Date | string = new Date()): string => new Date(at).toISOString().slice(11, 19);
