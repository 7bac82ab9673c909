// What MongoDB 8 refuses in filters, updates, rows and what is read of them.
import type { Document } from 'mongodb';
import {
  accumulators,
  expressionOperators,
  fieldOperators,
  listOperators,
  logicalOperators,
  pushModifiers,
  updateOperators,
  updateStages,
} from './names.js';

export const isDocument = (value: unknown): value is Document =>
  value instanceof Map ||
  (typeof value === 'object' && value !== null && [null, Object.prototype].includes(Object.getPrototypeOf(value)));

/** The fields as the driver writes them. */
export const entriesOf = (value: unknown): [string, unknown][] => {
  if (value instanceof Map) return [...value];
  return isDocument(value) ? Object.entries(value).filter(([, one]) => one !== undefined) : [];
};

export const keysOf = (value: unknown): string[] => entriesOf(value).map(([key]) => key);

/** The driver sends long lists of documents as a section of their own. */
export const listOf = (given: Document | undefined): Document[] => given?.documents ?? given ?? [];

const isOperator = (key: string): boolean => key.startsWith('$');

/** The conditions of one field. */
function conditionFaults(path: string, condition: unknown): string[] {
  const entries = entriesOf(condition);
  if (!entries.some(([key]) => isOperator(key))) return [];
  return entries.flatMap(([key, value]) => {
    if (!fieldOperators.has(key)) return [`${path} has the operator ${key}`];
    if (!listOperators.has(key)) return [];
    if (!Array.isArray(value)) return [`${key} of ${path} has no list`];
    return value.some((one) => keysOf(one)[0]?.startsWith('$')) ? [`${key} of ${path} has an operator in it`] : [];
  });
}

export function filterFaults(filter: unknown): string[] {
  if (!isDocument(filter)) return filter === undefined ? [] : ['a filter that is no document'];
  return entriesOf(filter).flatMap(([key, value]) => {
    if (!isOperator(key)) return conditionFaults(key, value);
    if (!logicalOperators.has(key)) return [`the filter has the operator ${key}`];
    return Array.isArray(value) && value.length > 0 ? value.flatMap(filterFaults) : [`${key} has no conditions`];
  });
}

export function expressionFaults(expression: unknown): string[] {
  if (Array.isArray(expression)) return expression.flatMap(expressionFaults);
  const operators = keysOf(expression).filter(isOperator);
  return [
    ...operators.filter((key) => !expressionOperators.has(key)).map((key) => `the expression operator ${key}`),
    ...(operators.length > 0 && keysOf(expression).length > 1 ? ['an expression with two operators'] : []),
    ...entriesOf(expression).flatMap(([, value]) => expressionFaults(value)),
  ];
}

export function groupFaults(group: unknown): string[] {
  const { _id, ...fields } = Object.fromEntries(entriesOf(group));
  return [
    ...(_id === undefined ? ['a group without an _id'] : expressionFaults(_id)),
    ...Object.entries(fields).flatMap(([field, value]) => {
      const [name = '', ...more] = keysOf(value);
      if (!accumulators.has(name) || more.length > 0) return [`a group with ${field} by ${name || value}`];
      return entriesOf(value).flatMap(([, one]) => expressionFaults(one));
    }),
  ];
}

const mostLevels = 100;

/** What is refused in a value that is stored. Keys may have `$` and `.`, except those of an _id. */
function valueFaults(value: unknown, level = 1): string[] {
  if (level > mostLevels) return ['a row of more than 100 levels'];
  const inner = Array.isArray(value) ? value : entriesOf(value).map(([, one]) => one);
  return inner.flatMap((one) => valueFaults(one, level + 1));
}

export function rowFaults(row: unknown): string[] {
  const _id = isDocument(row) ? row._id : undefined;
  return [
    ...valueFaults(row),
    ...(Array.isArray(_id) || _id instanceof RegExp ? ['an _id that is no value'] : []),
    ...keysOf(_id).flatMap((key) => (isOperator(key) ? [`an _id with the key "${key}"`] : [])),
  ];
}

/** Pairs of paths of which one is the other or lies in it. */
const collisions = (paths: readonly string[]): string[] =>
  paths.flatMap((path, at) =>
    paths
      .filter((other, otherAt) => (path === other ? otherAt > at : path.startsWith(`${other}.`)))
      .map((other) => `${path} and ${other}`),
  );

/** A key with `$` may be named only inside of a field. */
function pathFaults(path: string, filters: readonly string[]): string[] {
  return path.split('.').flatMap((part, at) => {
    const [, name] = /^\$\[(\w*)\]$/.exec(part) ?? [];
    if (name) return filters.includes(name) ? [] : [`${path} without its array filter`];
    const isInner = at > 0 && (name === '' || /^\$\w/.test(part));
    return part === '' || (isOperator(part) && !isInner) ? [`the path "${path}"`] : [];
  });
}

/** A condition of the entries of a list, or a filter of their fields. */
function pullFaults(path: string, condition: unknown): string[] {
  const [first = ''] = keysOf(condition);
  return fieldOperators.has(first) || first === '' ? conditionFaults(path, condition) : filterFaults(condition);
}

function changeFaults(operator: string, path: string, value: unknown): string[] {
  if (operator === '$pull') return pullFaults(path, value);
  if (!['$push', '$addToSet'].includes(operator) || !keysOf(value).includes('$each')) return valueFaults(value);
  const known = operator === '$push' ? pushModifiers : new Set(['$each']);
  return entriesOf(value).flatMap(([key, one]) => [
    ...(known.has(key) ? [] : [`${operator} of ${path} has ${key}`]),
    ...valueFaults(one),
  ]);
}

function operatorFaults(operator: string, paths: unknown, filters: readonly string[]): string[] {
  if (!updateOperators.has(operator)) return [`the update operator ${operator}`];
  if (!isDocument(paths)) return [`${operator} without fields`];
  return entriesOf(paths).flatMap(([path, value]) => [
    ...pathFaults(path, filters),
    ...changeFaults(operator, path, value),
    ...(path === '_id' && operator !== '$setOnInsert' ? [`${operator} of _id`] : []),
  ]);
}

/** What is refused of an update, a pipeline of an update, or a row that replaces another. */
export function updateFaults(update: unknown, { arrayFilters, multi }: Document): string[] {
  const filters = (arrayFilters ?? []).flatMap((one: Document) => keysOf(one).map((key) => key.split('.')[0] ?? ''));
  if (Array.isArray(update))
    return [
      ...update.flatMap(keysOf).flatMap((name) => (updateStages.has(name) ? [] : [`an update with the stage ${name}`])),
      ...update.flatMap((stage) => entriesOf(stage).flatMap(([, value]) => expressionFaults(value))),
      ...(filters.length > 0 ? ['array filters with a pipeline'] : []),
    ];
  if (!keysOf(update).some(isOperator)) return [...rowFaults(update), ...(multi ? ['a replacement of many rows'] : [])];
  const paths = entriesOf(update).flatMap(([, fields]) => keysOf(fields));
  const unused = filters.filter((name: string) => !paths.some((path) => path.includes(`$[${name}]`)));
  return [
    ...entriesOf(update).flatMap(([operator, fields]) => operatorFaults(operator, fields, filters)),
    ...collisions(paths).map((pair) => `an update of ${pair}`),
    ...unused.map((name: string) => `the array filter ${name}, which no path names`),
  ];
}

export function projectionFaults(projection: unknown): string[] {
  const fields = entriesOf(projection).filter(([key]) => key !== '_id');
  const isMixed = new Set(fields.map(([, value]) => Boolean(value))).size > 1;
  return [
    ...(isMixed ? ['a projection that includes and excludes'] : []),
    ...collisions(keysOf(projection)).map((pair) => `a projection of ${pair}`),
    ...fields
      .filter(([key, value]) => isOperator(key) || ![0, 1, true, false].includes(value as number | boolean))
      .map(([key]) => `a projection of ${key} by more than 0 or 1`),
  ];
}

const mostSorted = 32;

export const sortFaults = (sort: unknown): string[] => [
  ...entriesOf(sort)
    .filter(([key, value]) => isOperator(key) || key === '' || (value !== 1 && value !== -1))
    .map(([key, value]) => `a sort of "${key}" by ${value}`),
  ...(keysOf(sort).length > mostSorted ? ['a sort of more than 32 fields'] : []),
];
