// What MongoDB 8 refuses in filters, updates, projections and expressions.

import type { Fields, Shape } from './commandShape.js';
import {
  expressionOperators,
  fieldOperators,
  listsOfFilters,
  projectionOperators,
  pushModifiers,
  topOperators,
  updateOperators,
  updateStages,
} from './names.js';

export const isFields = (shape: Shape | undefined): shape is Fields =>
  typeof shape === 'object' && shape !== null && !Array.isArray(shape);

const isOperator = (key: string): boolean => key.startsWith('$');

/** The conditions of one field. */
function conditionFaults(path: string, condition: Shape): string[] {
  if (!isFields(condition)) return [];
  const keys = Object.keys(condition);
  if (!keys.some(isOperator)) return [];
  return keys.flatMap((key) => {
    const value = condition[key] as Shape;
    if (!fieldOperators.has(key)) return [`${path} has the operator ${key}`];
    if (['$in', '$nin', '$all'].includes(key) && !Array.isArray(value)) return [`${key} of ${path} has no list`];
    if (key === '$not')
      return isFields(value) || value === 'RegExp' ? conditionFaults(path, value) : [`$not of ${path} has a value`];
    if (key === '$elemMatch')
      return isFields(value) ? elementFaults(path, value) : [`$elemMatch of ${path} has a value`];
    if (key === '$options' && !('$regex' in condition)) return [`$options of ${path} without $regex`];
    return [];
  });
}

const elementFaults = (path: string, value: Fields): string[] =>
  Object.keys(value).some((key) => fieldOperators.has(key)) ? conditionFaults(path, value) : filterFaults(value);

export function filterFaults(filter: Shape | undefined): string[] {
  if (filter === undefined) return [];
  if (!isFields(filter)) return ['a filter that is no document'];
  return Object.entries(filter).flatMap(([key, value]) => {
    if (!isOperator(key)) return conditionFaults(key, value);
    if (!topOperators.has(key)) return [`the filter has the operator ${key}`];
    if (key === '$expr') return expressionFaults(value);
    if (!listsOfFilters.has(key)) return [];
    return Array.isArray(value) && value.length > 0 ? value.flatMap(filterFaults) : [`${key} has no conditions`];
  });
}

export function expressionFaults(expression: Shape): string[] {
  if (Array.isArray(expression)) return expression.flatMap(expressionFaults);
  if (!isFields(expression)) return [];
  const keys = Object.keys(expression);
  if (keys.includes('$literal')) return [];
  const operators = keys.filter(isOperator);
  return [
    ...operators.filter((key) => !expressionOperators.has(key)).map((key) => `the expression operator ${key}`),
    ...(operators.length > 0 && keys.length > 1 ? [`an expression with ${keys.join(' and ')}`] : []),
    ...Object.values(expression).flatMap(expressionFaults),
  ];
}

/** Whether a path is another or lies in it. */
const isWithin = (path: string, other: string): boolean => path === other || path.startsWith(`${other}.`);

/** Pairs of paths of which one is the other or lies in it; `#` stands for different data. */
function collisions(paths: readonly string[]): string[] {
  return paths.flatMap((path, index) =>
    paths
      .filter((other, at) => at !== index && (at > index || path !== other) && isWithin(path, other))
      .filter((other) => !(path === other && path.includes('#')))
      .map((other) => `${path} and ${other}`),
  );
}

function pathFaults(path: string, { filters, isUpsert }: { filters: readonly string[]; isUpsert: boolean }): string[] {
  const parts = path.split('.');
  const faults = parts.flatMap((part) => {
    const [, name] = /^\$\[(\w*)\]$/.exec(part) ?? [];
    if (name) return filters.includes(name) ? [] : [`${path} without its array filter`];
    if (part === '$' && isUpsert) return [`${path} in an upsert`];
    return part === '' || (part.startsWith('$') && part !== '$' && name === undefined) ? [`the path "${path}"`] : [];
  });
  return parts[0]?.startsWith('$') ? [...faults, `the path "${path}"`] : faults;
}

function valueFaults(operator: string, path: string, value: Shape): string[] {
  if (typeof value === 'string' && value.includes(', ')) return [`${path} would hold ${value}`];
  if (!isFields(value) || operator === '$pull') return [];
  const known = operator === '$push' ? pushModifiers : new Set(['$each']);
  const unknown = Object.keys(value).filter((key) => !known.has(key));
  const each = Array.isArray(value.$each) ? value.$each.flatMap((one) => valueFaults('$set', path, one)) : [];
  return [...unknown.map((key) => `${operator} of ${path} has ${key}`), ...each];
}

function operatorFaults(operator: string, paths: Shape, known: { filters: string[]; isUpsert: boolean }): string[] {
  if (!updateOperators.has(operator)) return [`the update operator ${operator}`];
  if (!isFields(paths)) return [`${operator} without fields`];
  return Object.entries(paths).flatMap(([path, value]) => [
    ...pathFaults(path, known),
    ...valueFaults(operator, path, value),
    ...(path === '_id' && operator !== '$setOnInsert' ? [`${operator} of _id`] : []),
  ]);
}

/** Names of the array filters, each before the first dot of its conditions. */
const namesOf = (filters: Shape | undefined): string[] =>
  (Array.isArray(filters) ? filters : []).flatMap((one) =>
    isFields(one) ? Object.keys(one).map((key) => key.split('.')[0] ?? '') : [],
  );

/** What is refused in a statement that updates. */
export function updateFaults(update: Shape, statement: Fields): string[] {
  if (Array.isArray(update)) return pipelineUpdateFaults(update, statement);
  if (typeof update === 'string' || !isFields(update))
    return [
      ...(String(update).includes(', ') ? [`a row that would hold ${update}`] : []),
      ...(statement.multi === true ? ['a replacement of many rows'] : []),
    ];
  const operators = Object.entries(update);
  if (operators.length === 0) return ['an update without operators'];
  const filters = namesOf(statement.arrayFilters);
  const known = { filters, isUpsert: statement.upsert === true };
  const paths = operators.flatMap(([, fields]) => (isFields(fields) ? Object.keys(fields) : []));
  const unused = filters.filter((name) => !paths.some((path) => path.includes(`$[${name}]`)));
  return [
    ...operators.flatMap(([operator, fields]) => operatorFaults(operator, fields, known)),
    ...collisions(paths).map((pair) => `an update of ${pair}`),
    ...unused.map((name) => `the array filter ${name}, which no path names`),
  ];
}

function pipelineUpdateFaults(stages: Shape[], statement: Fields): string[] {
  const names = stages.flatMap((stage) => (isFields(stage) ? Object.keys(stage) : ['a value']));
  return [
    ...names.filter((name) => !updateStages.has(name)).map((name) => `an update with the stage ${name}`),
    ...stages.flatMap((stage) => (isFields(stage) ? Object.values(stage).flatMap(expressionFaults) : [])),
    ...(statement.arrayFilters !== undefined ? ['array filters with a pipeline'] : []),
  ];
}

export function projectionFaults(projection: Shape | undefined): string[] {
  if (!isFields(projection)) return [];
  const fields = Object.entries(projection);
  const isIncluded = (value: Shape) => value === 1 || value === true;
  const isExcluded = (value: Shape) => value === 0 || value === false;
  const named = fields.filter(([key]) => key !== '_id');
  const isMixed = named.some(([, value]) => isIncluded(value)) && named.some(([, value]) => isExcluded(value));
  const operators = fields.flatMap(([, value]) => (isFields(value) ? Object.keys(value).filter(isOperator) : []));
  return [
    ...(isMixed ? ['a projection that includes and excludes'] : []),
    ...collisions(Object.keys(projection)).map((pair) => `a projection of ${pair}`),
    ...operators
      .filter((key) => !projectionOperators.has(key) && !expressionOperators.has(key))
      .map((key) => `the projection operator ${key}`),
    ...fields.filter(([key]) => isOperator(key)).map(([key]) => `a projection of ${key}`),
  ];
}

export function sortFaults(sort: Shape | undefined): string[] {
  if (!isFields(sort)) return [];
  const fields = Object.entries(sort);
  const isDirection = (value: Shape) => value === 1 || value === -1 || (isFields(value) && '$meta' in value);
  return [
    ...fields.filter(([, value]) => !isDirection(value)).map(([key, value]) => `a sort of ${key} by ${value}`),
    ...fields.filter(([key]) => isOperator(key) || key === '').map(([key]) => `a sort of "${key}"`),
    ...(fields.length > 32 ? ['a sort of more than 32 fields'] : []),
  ];
}
