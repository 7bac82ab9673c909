// What MongoDB 8 refuses in the description of an index.
import type { Fields, Shape } from './commandShape.js';
import { isFields } from './filterRules.js';
import { indexOptions, inPartialFilters } from './names.js';

const mostFields = 32;
const directions: readonly Shape[] = [1, -1, 'text', 'hashed', '2d', '2dsphere'];
const mostSeconds = 2_147_483_647;

function keyFaults(key: Fields): string[] {
  const fields = Object.entries(key);
  return [
    ...(fields.length === 0 ? ['an index without fields'] : []),
    ...(fields.length > mostFields ? ['an index of more than 32 fields'] : []),
    ...fields
      .filter(([, value]) => !directions.includes(value))
      .map(([path, value]) => `an index of ${path}: ${value}`),
    ...fields
      .filter(([path]) => path.split('.').some((part) => part === '' || (part.startsWith('$') && part !== '$**')))
      .map(([path]) => `an index of the path "${path}"`),
    ...(fields.filter(([, value]) => value === 'hashed').length > 1 ? ['two hashed fields in an index'] : []),
  ];
}

/** Only these conditions, and `$exists` only as true. */
function partialFaults(filter: Shape): string[] {
  if (Array.isArray(filter)) return filter.flatMap(partialFaults);
  if (!isFields(filter)) return [];
  return Object.entries(filter).flatMap(([key, value]) => {
    if (key === '$exists' && value !== true) return ['a partial index by $exists: false'];
    if (key.startsWith('$') && !inPartialFilters.has(key)) return [`a partial index by ${key}`];
    return partialFaults(value);
  });
}

function expiryFaults({ expireAfterSeconds: seconds, key }: Fields): string[] {
  if (seconds === undefined) return [];
  const paths = isFields(key) ? Object.keys(key) : [];
  const isTime = typeof seconds === 'number' && seconds >= 0 && seconds <= mostSeconds;
  return [
    ...(paths.length === 1 && paths[0] !== '_id' ? [] : ['a TTL index of other than one field']),
    ...(isTime ? [] : ['a TTL index outside of 0 to 2,147,483,647 s']),
  ];
}

export function indexFaults(index: Fields): string[] {
  const key = isFields(index.key) ? index.key : {};
  const paths = Object.keys(key);
  const isWildcard = paths.some((path) => path.endsWith('$**'));
  const isUnique = index.unique === true;
  const isPartial = index.partialFilterExpression !== undefined;
  return [
    ...keyFaults(key),
    ...Object.keys(index)
      .filter((option) => !indexOptions.has(option))
      .map((option) => `an index with the option ${option}`),
    ...(typeof index.name === 'string' && index.name !== '' ? [] : ['an index without a name']),
    ...partialFaults(index.partialFilterExpression ?? null),
    ...(isPartial && index.sparse === true ? ['an index that is partial and sparse'] : []),
    ...(isPartial && paths.join() === '_id' ? ['a partial index of _id'] : []),
    ...(isUnique && (isWildcard || Object.values(key).includes('hashed')) ? ['a unique index of this kind'] : []),
    ...(isWildcard && index.expireAfterSeconds !== undefined ? ['a TTL index with a wildcard'] : []),
    ...expiryFaults(index),
  ];
}
