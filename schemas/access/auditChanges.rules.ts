// From what to what a change went, as the audit says it: the leaves of the fields that differ, with their values where
// these may stand in the audit. Secrets, personal data of members and pictures are only named.
import { firstCharacters } from '../shared/text.js';
import type { AuditAction, AuditChange } from './audit.schema.js';

type Value = NonNullable<AuditChange['to']>;

/** Fields whose values are shown, by their first names; of a program all but its pictures. */
const shownFields: Partial<Record<AuditAction, readonly string[] | 'program'>> = {
  'user.edit': ['roleIds'],
  'reader.edit': ['name', 'location', 'programIds', 'lookupBy'],
  'program.edit': 'program',
  'program.publish': 'program',
  'member.status': ['status'],
  'automatic.edit': ['on', 'message', 'hour'],
  // An address may contain the secret of its receiver.
  'webhook.edit': ['name', 'description', 'events', 'enabled', 'timeoutMs', 'retryPolicy'],
};

const pictures = 'passTemplate.images';
const mostChanges = 30;
const mostCharacters = 100;
const mostEntries = 20;

const isWithin = (path: string, parent: string): boolean => path === parent || path.startsWith(`${parent}.`);

function isShown(action: AuditAction, path: string): boolean {
  const shown = shownFields[action] ?? [];
  return shown === 'program' ? !isWithin(path, pictures) : shown.some((field) => isWithin(path, field));
}

const isListOfWords = (given: unknown): given is unknown[] =>
  Array.isArray(given) && given.every((entry) => typeof entry !== 'object');

function* leavesOf(given: unknown, path: string): Generator<[path: string, leaf: unknown]> {
  if (given === undefined || given === null) return;
  // A picture is one leaf with all its scales.
  const isWhole = typeof given !== 'object' || isListOfWords(given) || /^passTemplate\.images\.\w+$/.test(path);
  if (isWhole) yield [path, given];
  else for (const [key, inner] of Object.entries(given)) yield* leavesOf(inner, path === '' ? key : `${path}.${key}`);
}

function valueIn(leaf: unknown): Value | undefined {
  if (leaf === undefined) return undefined;
  if (typeof leaf === 'number' || typeof leaf === 'boolean') return leaf;
  if (isListOfWords(leaf)) return leaf.slice(0, mostEntries).map((entry) => cut(String(entry)));
  return cut(String(leaf));
}

const cut = (text: string): string => {
  const first = firstCharacters(text, mostCharacters);
  return first === text ? text : `${first}…`;
};

/** At most 30 changes, in the order of `after`; texts of at most 100 characters. */
export function changesBetween(action: AuditAction, before: object, after: object): AuditChange[] {
  if (!shownFields[action]) return [];
  const [from, to] = [new Map(leavesOf(before, '')), new Map(leavesOf(after, ''))];
  const paths = [...new Set([...to.keys(), ...from.keys()])];
  const differ = paths.filter((path) => JSON.stringify(from.get(path)) !== JSON.stringify(to.get(path)));
  return differ.slice(0, mostChanges).map((field) => {
    if (!isShown(action, field)) return { field };
    const [was, is] = [valueIn(from.get(field)), valueIn(to.get(field))];
    return { field, ...(was !== undefined && { from: was }), ...(is !== undefined && { to: is }) };
  });
}
