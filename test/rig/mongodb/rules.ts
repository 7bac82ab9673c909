// What MongoDB 8 refuses, by its documentation (https://www.mongodb.com/docs/v8.0/): the engine of the tests takes more
// than it does (docs/embedded-engine.md).
import type { CommandShape, Fields, Shape } from './commandShape.js';
import { expressionFaults, filterFaults, isFields, projectionFaults, sortFaults, updateFaults } from './filterRules.js';
import { indexFaults } from './indexRules.js';
import {
  collModIndexFields,
  commands,
  endsTransaction,
  fieldsOfAll,
  forAdmin,
  inTransactions,
  readConcerns,
  readConcernsInTransactions,
  stages,
  stagesOutsideTransactions,
  statements,
} from './names.js';

/** The keys of the indexes of a collection, as JSON; a hint names one of them. */
export type KeysOf = (collection: string) => readonly string[];

type Rule = (command: CommandShape, keysOf: KeysOf) => string[];

const fieldsIn = (shape: Shape | undefined): Fields[] => (Array.isArray(shape) ? shape.filter(isFields) : []);

interface Statement {
  kind: string;
  collection: string | undefined;
  filter: Shape | undefined;
  update: Shape | undefined;
  isMulti: boolean;
  fields: Fields;
}

/** What each statement of a command writes, and where. */
function statementsOf({ name, collection, fields }: CommandShape): Statement[] {
  if (name === 'findAndModify')
    return [{ kind: name, collection, filter: fields.query, update: fields.update, isMulti: false, fields }];
  const of = (kind: string) => (one: Fields) => ({
    kind,
    collection: typeof one.collection === 'string' ? one.collection : collection,
    filter: one.q ?? one.filter,
    update: one.u ?? one.updateMods,
    isMulti: one.multi === true || one.limit === 0,
    fields: one,
  });
  return [
    ...fieldsIn(fields.updates).map(of('updates')),
    ...fieldsIn(fields.deletes).map(of('deletes')),
    ...fieldsIn(fields.ops).map((op) => of(`bulkWrite ${op.kind}`)(op)),
  ];
}

const isRefused = (known: ReadonlySet<string>, fields: Fields) => Object.keys(fields).filter((key) => !known.has(key));

function unknownFields({ name, fields }: CommandShape): string[] {
  const own = commands[name];
  if (!own) return [`the command ${name}`];
  return isRefused(own, fields)
    .filter((key) => !fieldsOfAll.has(key))
    .map((key) => `${name} has no field ${key}`);
}

const unknownStatementFields: Rule = (command) =>
  statementsOf(command)
    .filter(({ kind }) => kind !== 'findAndModify')
    .flatMap(({ kind, fields }) =>
      isRefused(statements[kind] ?? new Set(), fields).map((key) => `a statement of ${kind} has no field ${key}`),
    );

const transactions: Rule = ({ name, transaction, database, fields }) => {
  if (!transaction) return [];
  const outside = fieldsIn(fields.pipeline).flatMap((stage) => Object.keys(stage).filter(isOutside));
  return [
    ...(inTransactions.has(name) ? [] : [`${name} in a transaction`]),
    ...(name === 'killCursors' && transaction === 'first' ? ['killCursors begins a transaction'] : []),
    ...(fields.writeConcern !== undefined && !endsTransaction.has(name) ? ['a write concern before the commit'] : []),
    ...(fields.readConcern !== undefined && transaction === 'later' ? ['a read concern in a begun transaction'] : []),
    ...(database === 'admin' && !forAdmin.has(name) ? ['a transaction in the database admin'] : []),
    ...outside.map((stage) => `${stage} in a transaction`),
  ];
};

const isOutside = (stage: string): boolean => stagesOutsideTransactions.has(stage);

const readConcernLevels: Rule = ({ name, transaction, fields }) => {
  const { readConcern } = fields;
  if (!isFields(readConcern) || readConcern.level === undefined) return [];
  const known = transaction ? readConcernsInTransactions : readConcerns[name];
  return known?.has(String(readConcern.level)) ? [] : [`the read concern ${readConcern.level} for ${name}`];
};

const retries: Rule = (command) =>
  command.isRetryable && statementsOf(command).some(({ isMulti }) => isMulti) ? ['a retryable write of many rows'] : [];

const filters: Rule = (command) => [
  ...filterFaults(command.name === 'listCollections' ? undefined : command.fields.filter),
  ...filterFaults(command.fields.query),
  ...statementsOf(command).flatMap(({ filter, kind }) => (kind === 'findAndModify' ? [] : filterFaults(filter))),
];

const updates: Rule = (command) =>
  statementsOf(command).flatMap(({ update, fields }) => (update === undefined ? [] : updateFaults(update, fields)));

const rows: Rule = ({ fields }) => {
  const stored = [fields.documents, ...fieldsIn(fields.ops).map(({ document }) => document)].flat();
  return stored.flatMap((row) =>
    typeof row === 'string' && row.includes(', ') ? [`a row that would hold ${row}`] : [],
  );
};

const emptyLists: Rule = ({ fields }) =>
  ['documents', 'updates', 'deletes', 'ops', 'indexes']
    .filter((key) => Array.isArray(fields[key]) && fields[key].length === 0)
    .map((key) => `an empty list of ${key}`);

const reading: Rule = ({ fields }) => [
  ...projectionFaults(fields.projection ?? fields.fields),
  ...sortFaults(fields.sort),
  ...['limit', 'skip'].filter((key) => Number(fields[key] ?? 0) < 0).map((key) => `a negative ${key}`),
];

const pipelines: Rule = ({ name, fields }) => {
  if (name !== 'aggregate') return [];
  const steps = fieldsIn(fields.pipeline);
  const last = steps.length - 1;
  return [
    ...(fields.cursor === undefined ? ['an aggregation without a cursor'] : []),
    ...steps.flatMap((stage, at) => stageFaults(stage, at === last)),
  ];
};

function stageFaults(stage: Fields, isLast: boolean): string[] {
  const [name = '', ...more] = Object.keys(stage);
  if (more.length > 0) return [`a stage with ${Object.keys(stage).join(' and ')}`];
  if (!stages.has(name)) return [`the stage ${name}`];
  const value = stage[name] as Shape;
  if ((name === '$out' || name === '$merge') && !isLast) return [`${name} before the last stage`];
  if (name === '$match') return filterFaults(value);
  if (name === '$sort') return [];
  if (name === '$project') return projectionFaults(value);
  return ['$group', '$set', '$addFields', '$replaceWith'].includes(name) ? expressionFaults(value) : [];
}

const hints: Rule = (command, keysOf) =>
  [{ collection: command.collection, hint: command.fields.hint }, ...statementsOf(command).map(hintOf)].flatMap(
    ({ collection, hint }) => {
      if (hint === undefined || collection === undefined) return [];
      if (!isFields(hint)) return [`a hint by the name ${hint}, which the migration does not promise`];
      const key = JSON.stringify(hint);
      return [...keysOf(collection), '{"_id":1}', '{"$natural":1}'].includes(key) ? [] : [`a hint to no index, ${key}`];
    },
  );

const hintOf = ({ collection, fields }: Statement) => ({ collection, hint: fields.hint });

const indexes: Rule = ({ fields }) => fieldsIn(fields.indexes).flatMap(indexFaults);

const collMods: Rule = ({ name, fields }) =>
  name === 'collMod' && isFields(fields.index)
    ? isRefused(collModIndexFields, fields.index).map((key) => `collMod of an index has no ${key}`)
    : [];

const rules: Rule[] = [
  unknownFields,
  unknownStatementFields,
  transactions,
  readConcernLevels,
  retries,
  filters,
  updates,
  rows,
  emptyLists,
  reading,
  pipelines,
  hints,
  indexes,
  collMods,
];

/** What MongoDB 8 would refuse of the command; nothing when it would take it. */
export const refusals = (command: CommandShape, keysOf: KeysOf): string[] =>
  rules.flatMap((rule) => rule(command, keysOf));
