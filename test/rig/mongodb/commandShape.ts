// The structure of a command to MongoDB: which fields and operators stand where, with the types of the values instead
// of the values.
import type { Document } from 'mongodb';

export type Shape = string | number | boolean | null | Shape[] | { [key: string]: Shape };
export type Fields = { [key: string]: Shape };

export interface CommandShape {
  name: string;
  /** The collection; for a statement of a bulkWrite its own. */
  collection?: string;
  database: 'admin' | 'own';
  /** Whether the command begins a transaction, or belongs to one. */
  transaction?: 'first' | 'later';
  /** Whether the driver sends it again after a lost connection. */
  isRetryable: boolean;
  /** The fields of the command, without those of the session. */
  fields: Fields;
}

/** The fields of a session, and what the driver adds to every command. */
const ofSession = new Set(['lsid', 'txnNumber', 'autocommit', 'startTransaction', '$clusterTime', '$db']);

/** In these fields the values belong to the structure. */
const literal = new Set([
  'sort',
  'hint',
  'projection',
  'fields',
  'indexes',
  'index',
  'readConcern',
  'writeConcern',
  'limit',
  'skip',
]);
const documents = new Set(['documents', 'document']);

const isPlain = (value: object): value is Document =>
  value instanceof Map || ['Object', undefined].includes(value.constructor?.name);

const entriesOf = (value: Document): [string, unknown][] =>
  value instanceof Map ? [...value.entries()] : Object.entries(value).filter(([, one]) => one !== undefined);

function typeOf(value: unknown): Shape {
  if (value === null || value === undefined || typeof value === 'boolean') return value ?? null;
  if (typeof value === 'object') return value.constructor?.name ?? 'Object';
  return typeof value;
}

const distinct = (shapes: Shape[]): Shape[] => [...new Map(shapes.map((one) => [JSON.stringify(one), one])).values()];

/** A part of a path that is data, such as an id, a date or a position in an array. */
const isData = (part: string): boolean => /^(\d+|\d{4}-\d\d(-\d\d)?|[0-9a-f-]{16,}|[\w-]*\d[\w-]{15,})$/.test(part);
const pathOf = (path: string): string =>
  path
    .split('.')
    .map((part) => (isData(part) ? '#' : part))
    .join('.');

/** `isLiteral` keeps the values. */
function structureOf(value: unknown, isLiteral: boolean): Shape {
  if (Array.isArray(value)) return distinct(value.map((one) => structureOf(one, isLiteral)));
  if (typeof value === 'object' && value !== null && isPlain(value))
    return Object.fromEntries(entriesOf(value).map(([key, one]) => [pathOf(key), structureOf(one, isLiteral)]));
  const isKept = isLiteral && ['string', 'number', 'boolean'].includes(typeof value);
  return isKept ? (value as Shape) : typeOf(value);
}

/** An expression: strings that begin with `$` are paths, every other value is data. */
function expressionOf(value: unknown): Shape {
  if (typeof value === 'string' && value.startsWith('$')) return pathOf(value);
  if (Array.isArray(value)) return distinct(value.map(expressionOf));
  if (typeof value === 'object' && value !== null && isPlain(value))
    return Object.fromEntries(entriesOf(value).map(([key, one]) => [pathOf(key), expressionOf(one)]));
  return typeOf(value);
}

const mostLevels = 100;

/** What MongoDB may refuse to store in the value: it takes some keys with `$`, but not in every place. */
function faultsOf(value: unknown, level = 1): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (level > mostLevels) return ['more than 100 levels'];
  if (Array.isArray(value)) return value.flatMap((one) => faultsOf(one, level + 1));
  if (!isPlain(value)) return [];
  return entriesOf(value).flatMap(([key, one]) => [
    ...(key.startsWith('$') ? [`the key "${key}"`] : []),
    ...faultsOf(one, level + 1),
  ]);
}

/** A value that is stored; what MongoDB would not store in it follows its type. */
function storedOf(value: unknown): Shape {
  const type = Array.isArray(value) ? 'array' : typeOf(value);
  return [type, ...new Set(faultsOf(value))].join(', ');
}

function rowOf(row: Document): Shape {
  const { _id } = row;
  const isRefused = Array.isArray(_id) || _id instanceof RegExp;
  return [storedOf(row), ...(isRefused ? ['an _id that is no value'] : [])].join(', ');
}

/** The operators whose values are conditions or modifiers. */
const withModifiers = new Set(['$push', '$addToSet']);

function changeOf(operator: string, paths: unknown): Shape {
  if (typeof paths !== 'object' || paths === null) return typeOf(paths);
  return Object.fromEntries(
    entriesOf(paths).map(([path, value]) => {
      const modifiers = withModifiers.has(operator) && typeof value === 'object' && value !== null && '$each' in value;
      if (operator === '$pull') return [pathOf(path), structureOf(value, false)];
      return [pathOf(path), modifiers ? modifiersOf(value) : storedOf(value)];
    }),
  );
}

const modifiersOf = ({ $each, ...others }: Document): Shape => ({
  $each: Array.isArray($each) ? distinct($each.map(storedOf)) : typeOf($each),
  ...(structureOf(others, true) as Fields),
});

/** An update, a pipeline of an update, or a row that replaces another. */
function updateOf(update: unknown): Shape {
  if (Array.isArray(update)) return update.map(expressionOf);
  if (typeof update !== 'object' || update === null) return typeOf(update);
  const entries = entriesOf(update);
  if (!entries.some(([key]) => key.startsWith('$'))) return rowOf(update);
  return Object.fromEntries(entries.map(([operator, paths]) => [operator, changeOf(operator, paths)]));
}

/** A statement of an update or a delete. */
const statementOf = (statement: Document): Fields =>
  Object.fromEntries(entriesOf(statement).map(([key, value]) => [key, fieldOf(key, value)]));

function fieldOf(key: string, value: unknown): Shape {
  if (documents.has(key)) return Array.isArray(value) ? distinct(value.map(rowOf)) : rowOf(value as Document);
  if (key === 'updates' || key === 'deletes') return distinct((value as Document[]).map(statementOf));
  if (key === 'u' || key === 'updateMods' || key === 'update') return updateOf(value);
  if (key === 'pipeline') return (value as Document[]).map(expressionOf);
  return structureOf(value, literal.has(key) || typeof value === 'boolean');
}

const listOf = (given: Document | undefined): Document[] => given?.documents ?? given ?? [];

/** The statements of a bulkWrite, each with its collection. */
function operationsOf({ ops, nsInfo }: Document): Shape {
  const names = listOf(nsInfo).map(({ ns }) => ns.slice(ns.indexOf('.') + 1));
  return distinct(
    listOf(ops).map((op) => {
      const [kind = ''] = Object.keys(op);
      return { kind, collection: names[op[kind]] ?? '', ...statementOf({ ...op, [kind]: undefined }) };
    }),
  );
}

const withoutCollection = new Set(['bulkWrite', 'setParameter']);

/** The shape of a command as it is sent. */
export function shapeOf(command: Document): CommandShape {
  const [name = ''] = Object.keys(command);
  const own = entriesOf(command).filter(([key]) => key !== name && key !== 'ops' && !ofSession.has(key));
  const fields = Object.fromEntries(own.map(([key, value]) => [key, fieldOf(key, listIfSequence(value))]));
  const target: unknown = command[name];
  const isInTransaction = command.autocommit === false;
  return {
    name,
    ...(typeof target === 'string' && !withoutCollection.has(name) && { collection: target }),
    database: command.$db === 'admin' ? 'admin' : 'own',
    ...(isInTransaction && { transaction: command.startTransaction === true ? 'first' : 'later' }),
    isRetryable: !isInTransaction && command.txnNumber !== undefined,
    fields: name === 'bulkWrite' ? { ...fields, nsInfo: 'array', ops: operationsOf(command) } : fields,
  };
}

/** The driver sends long lists of documents as a section of their own. */
const listIfSequence = (value: unknown): unknown =>
  typeof value === 'object' && value?.constructor?.name === 'DocumentSequence' ? listOf(value as Document) : value;
