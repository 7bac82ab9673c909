// What MongoDB 8 refuses in the description of an index.
import type { Document } from 'mongodb';
import { entriesOf, isDocument, keysOf } from './filterRules.js';
import { collModIndexFields, indexOptions, partialOperators } from './names.js';

const mostFields = 32;
const mostSeconds = 2_147_483_647;

const keyFaults = (key: unknown): string[] => [
  ...(keysOf(key).length === 0 ? ['an index without fields'] : []),
  ...(keysOf(key).length > mostFields ? ['an index of more than 32 fields'] : []),
  ...entriesOf(key)
    .filter(([, value]) => value !== 1 && value !== -1)
    .map(([path, value]) => `an index of ${path}: ${value}`),
  ...keysOf(key)
    .filter((path) => path.split('.').some((part) => part === '' || part.startsWith('$')))
    .map((path) => `an index of the path "${path}"`),
];

/** Only some conditions, and `$exists` only as true. */
const partialFaults = (filter: unknown): string[] =>
  entriesOf(filter).flatMap(([key, value]) => {
    if (key === '$exists' && value !== true) return ['a partial index by $exists: false'];
    if (key.startsWith('$') && !partialOperators.has(key)) return [`a partial index by ${key}`];
    return partialFaults(value);
  });

function expiryFaults({ expireAfterSeconds: seconds, key }: Document): string[] {
  if (seconds === undefined) return [];
  const isTime = typeof seconds === 'number' && seconds >= 0 && seconds <= mostSeconds;
  return [
    ...(keysOf(key).length === 1 && keysOf(key)[0] !== '_id' ? [] : ['a TTL index of other than one field']),
    ...(isTime ? [] : ['a TTL index outside of 0 to 2,147,483,647 s']),
  ];
}

const oneFaults = (index: Document): string[] => [
  ...keyFaults(index.key),
  ...keysOf(index)
    .filter((option) => !indexOptions.has(option))
    .map((option) => `an index with the option ${option}`),
  ...(typeof index.name === 'string' && index.name !== '' ? [] : ['an index without a name']),
  ...partialFaults(index.partialFilterExpression),
  ...(index.partialFilterExpression && index.sparse ? ['an index that is partial and sparse'] : []),
  ...expiryFaults(index),
];

/** Indexes that are alike in this are the same one to MongoDB. */
const identityOf = ({ key, unique = false, sparse = false, partialFilterExpression }: Document): string =>
  JSON.stringify([entriesOf(key), unique, sparse, partialFilterExpression]);

/** The faults of indexes that one command builds. */
export function indexFaults(indexes: readonly Document[]): string[] {
  const repeated = (of: (index: Document) => string) =>
    indexes.filter((index, at) => indexes.findIndex((other) => of(other) === of(index)) < at);
  return [
    ...indexes.flatMap(oneFaults),
    ...repeated(({ name }) => name).map(({ name }) => `two indexes with the name ${name}`),
    ...repeated(identityOf).map(({ key }) => `two indexes of ${keysOf(key).join(', ')}`),
  ];
}

export const collModFaults = ({ index }: Document): string[] => [
  ...(isDocument(index) ? [] : ['collMod without an index']),
  ...keysOf(index)
    .filter((key) => !collModIndexFields.has(key))
    .map((key) => `collMod of an index has no ${key}`),
];
