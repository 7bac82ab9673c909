// Searches for values of a person in every place where the service stores data: all collections of the database, as the
// database lists them, Temporal's histories, logs, and mail folders. A value is found in every form in which the
// service writes it.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import type { Deps } from '../../../platform/deps.js';
import { fold, spell } from '../../../schemas/members/spellings.rules.js';
import { derivedId } from '../../../schemas/shared/ids.js';

export interface Places {
  deps: Pick<Deps, 'mongo' | 'config'>;
  temporal: Client;
  /** Only workflows that began since then. */
  since: Date;
  logs?: readonly string[];
  /** Files in these folders, mails included. */
  folders?: readonly string[];
}

export interface Trace {
  place: string;
  value: string;
  form: string;
}

/** A value has three possible base64 forms, depending on its offset. */
function base64Within(value: string): string[] {
  return [0, 1, 2].map((shift) => {
    const encoded = Buffer.from(' '.repeat(shift) + value).toString('base64');
    const [from, to] = [[0, 2, 3][shift] ?? 0, encoded.length - (((shift + Buffer.byteLength(value)) % 3 && 4) || 0)];
    return encoded.slice(from, to);
  });
}

const urlSafe = (base64: string): string => base64.replaceAll('+', '-').replaceAll('/', '_');

interface Form {
  name: string;
  text: string;
  /** False for one in lower case, which is compared without regard to case. */
  isCased: boolean;
}

const formsSoFar = new Map<string, Form[]>();

function formsOf(value: string): Form[] {
  const before = formsSoFar.get(value);
  if (before) return before;
  const digest = (text: string) => createHash('sha256').update(text);
  const digits = value.replace(/\D/g, '');
  const all: Record<string, string> = {
    plain: value.toLowerCase(),
    folded: fold(value),
    'without separators': spell(value).plain,
    ...(digits.length >= 6 &&
      digits.length > value.length / 2 && { digits, 'digits backwards': Array.from(digits).reverse().join('') }),
    'JSON-escaped': JSON.stringify(value).slice(1, -1).toLowerCase(),
    'JSON-escaped to ASCII': JSON.stringify(value)
      .slice(1, -1)
      .replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .toLowerCase(),
    'URL-encoded': encodeURIComponent(value).toLowerCase(),
    'form-encoded': new URLSearchParams([['', value]]).toString().slice(1).toLowerCase(),
    'HTML-escaped': value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').toLowerCase(),
    hex: Buffer.from(value).toString('hex'),
    'SHA-256': digest(value).digest('hex'),
    'SHA-256 in lower case': digest(value.toLowerCase()).digest('hex'),
    'derived id': derivedId(value),
  };
  const cased: Record<string, string> = {
    'SHA-256 in base64': digest(value).digest('base64').replace(/=+$/, ''),
    'SHA-256 in base64url': digest(value).digest('base64url'),
  };
  for (const [shift, text] of base64Within(value).entries()) {
    cased[`base64 at ${shift}`] = text;
    cased[`base64url at ${shift}`] = urlSafe(text);
  }
  // Many forms of most values are alike: the first name stays.
  const formed = (named: Record<string, string>, isCased: boolean): Form[] =>
    Object.entries(named).flatMap(([name, text], at, entries) =>
      entries.findIndex(([, other]) => other === text) === at ? [{ name, text, isCased }] : [],
    );
  const forms = [...formed(all, false), ...formed(cased, true)];
  formsSoFar.set(value, forms);
  return forms;
}

/** The values that one text contains. */
export function tracesIn(place: string, text: string, values: readonly string[]): Trace[] {
  const lower = text.toLowerCase();
  return values.flatMap((value) => {
    const found = formsOf(value).find((form) => (form.isCased ? text : lower).includes(form.text));
    return found ? [{ place, value, form: found.name }] : [];
  });
}

/** A stored value as text: strings as they are, and bytes both as UTF-8 and as base64. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof Date || typeof value !== 'object' || value === null) return String(value);
  if ('buffer' in value && value.buffer instanceof Uint8Array) {
    const bytes = Buffer.from(value.buffer);
    return `${bytes.toString('utf8')}\n${bytes.toString('base64')}`;
  }
  return Object.entries(value)
    .map(([field, inner]) => `${field}\n${textOf(inner)}`)
    .join('\n');
}

/** Payloads in a history are base64. */
function decoded(value: unknown): string {
  if (typeof value === 'string') return `${value}\n${Buffer.from(value, 'base64').toString('utf8')}`;
  if (typeof value !== 'object' || value === null) return '';
  return Object.entries(value)
    .map(([field, inner]) => `${field}\n${decoded(inner)}`)
    .join('\n');
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesIn(path) : [path];
  });

/** The file's text, with line breaks removed from encoded parts, and decoded from quoted-printable and base64. */
function readings(content: string): string {
  const joined = content.replace(/=\r?\n/g, '').replace(/=([0-9A-F]{2})/g, (_, hex) => `%${hex}`);
  const blocks = content.match(/(?:^[A-Za-z0-9+/]{40,76}={0,2}\r?\n?)+/gm) ?? [];
  return [content, joined, ...blocks.map((block) => Buffer.from(block, 'base64').toString('utf8'))].join('\n');
}

/** The texts of closed executions by run id: their histories change no more. */
const closedTexts = new Map<string, string>();

async function textOfExecution(temporal: Client, execution: WorkflowExecutionInfo): Promise<string> {
  const { workflowId, runId, memo, status } = execution;
  const before = closedTexts.get(runId);
  if (before !== undefined) return before;
  const history = await temporal.workflow.getHandle(workflowId, runId).fetchHistory();
  const text = `${workflowId}\n${decoded(memo)}\n${decoded(JSON.parse(historyToJSON(history)))}`;
  if (status.name !== 'RUNNING') closedTexts.set(runId, text);
  return text;
}

/** Yields each trace as soon as it is found. */
async function* traces(places: Places, values: readonly string[]): AsyncGenerator<Trace> {
  const { deps, temporal, since, logs = [], folders = [] } = places;
  const database = deps.mongo.db(deps.config.MONGODB_DATABASE);
  for (const { name } of await database.listCollections({}, { nameOnly: true }).toArray())
    for await (const row of database.collection(name).find())
      yield* tracesIn(`${name} ${row._id}`, textOf(row), values);
  for await (const execution of temporal.workflow.list({ query: `StartTime >= "${since.toISOString()}"` }))
    yield* tracesIn(`workflow ${execution.workflowId}`, await textOfExecution(temporal, execution), values);
  for (const line of logs) yield* tracesIn('log', line, values);
  for (const file of folders.filter((folder) => existsSync(folder)).flatMap(filesIn))
    yield* tracesIn(file, readings(readFileSync(file, 'utf8')), values);
}

export async function findTraces(places: Places, values: readonly string[]): Promise<Trace[]> {
  const found: Trace[] = [];
  for await (const trace of traces(places, values)) found.push(trace);
  return found;
}

/** For one who waits until nothing is left: reads no further than the first trace. */
export async function leavesTraces(places: Places, values: readonly string[]): Promise<boolean> {
  for await (const _ of traces(places, values)) return true;
  return false;
}
