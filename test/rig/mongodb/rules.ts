// What MongoDB 8 refuses of a command, by its documentation (https://www.mongodb.com/docs/v8.0/): the engine of the
// tests takes more than it does (docs/embedded-engine.md).
import type { Document } from 'mongodb';
import {
  entriesOf,
  expressionFaults,
  filterFaults,
  groupFaults,
  keysOf,
  listOf,
  projectionFaults,
  rowFaults,
  sortFaults,
  updateFaults,
} from './filterRules.js';
import { collModFaults, indexFaults } from './indexRules.js';
import {
  commands,
  endsTransaction,
  fieldsOfAll,
  inTransactions,
  ofAdmin,
  ofNewCollections,
  optionFields,
  readConcerns,
  readConcernsInTransactions,
  stages,
  statementFields,
} from './names.js';

/** The keys of the indexes of a collection, as JSON; a hint names one of them. */
export type IndexKeys = (collection: string) => readonly string[];

interface Statement {
  /** The name of the command, or of the operation in a bulkWrite. */
  kind: string;
  collection: string;
  filter?: unknown;
  update?: unknown;
  rows: Document[];
  pipeline: Document[];
  isMulti: boolean;
  fields: Document;
}

/** What a command reads and writes, and where. */
function statementsOf(command: Document): Statement[] {
  const [name = ''] = keysOf(command);
  const of = (kind: string, fields: Document, more: Partial<Statement> = {}): Statement => ({
    kind,
    collection: String(command[name]),
    filter: fields.q ?? fields.filter ?? fields.query,
    update: fields.u ?? fields.updateMods ?? fields.update,
    rows: [],
    pipeline: [],
    isMulti: fields.multi === true || fields.limit === 0,
    fields,
    ...more,
  });
  if (name === 'update') return listOf(command.updates).map((one) => of(name, one));
  if (name === 'delete') return listOf(command.deletes).map((one) => of(name, one));
  if (name === 'bulkWrite') {
    const names = listOf(command.nsInfo).map(({ ns }) => ns.slice(ns.indexOf('.') + 1));
    return listOf(command.ops).map((op) => {
      const [kind = ''] = keysOf(op);
      const more = { collection: names[op[kind]] ?? '', rows: op.document ? [op.document] : [], update: op.updateMods };
      return of(`bulkWrite ${kind}`, op, more);
    });
  }
  const more = { rows: listOf(command.documents), pipeline: command.pipeline ?? [], isMulti: false };
  return [of(name, command, { ...more, update: name === 'findAndModify' ? command.update : undefined })];
}

/** Whether the command belongs to a transaction. */
const isInTransaction = ({ autocommit }: Document): boolean => autocommit === false;
/** Whether the driver sends the command again after a lost connection. */
const isRetried = (command: Document): boolean => command.txnNumber !== undefined && !isInTransaction(command);

function fieldFaults(name: string, command: Document): string[] {
  const own = commands[name];
  if (!own) return [`the command ${name}`];
  const unknown = keysOf(command).filter((key) => key !== name && !own.has(key) && !fieldsOfAll.has(key));
  const unknownInside = Object.entries(optionFields).flatMap(([option, known]) =>
    keysOf(command[option]).flatMap((key) => (known.has(key) ? [] : [`${option}.${key}`])),
  );
  return [...unknown, ...unknownInside].map((key) => `${name} has no field ${key}`);
}

/** The service builds its indexes outside of transactions. */
const onlyNew = ', which MongoDB takes only of a new or empty collection';

function transactionFaults(name: string, command: Document): string[] {
  if (!isInTransaction(command)) return [];
  const isFirst = command.startTransaction === true;
  return [
    ...(inTransactions.has(name) ? [] : [`${name} in a transaction${ofNewCollections.has(name) ? onlyNew : ''}`]),
    ...(name === 'killCursors' && isFirst ? ['killCursors begins a transaction'] : []),
    ...(command.writeConcern && !endsTransaction.has(name) ? ['a write concern before the commit'] : []),
    ...(command.readConcern && !isFirst ? ['a read concern in a begun transaction'] : []),
    ...(command.$db === 'admin' && !ofAdmin.has(name) ? ['a transaction in the database admin'] : []),
  ];
}

function readConcernFaults(name: string, command: Document): string[] {
  const level = command.readConcern?.level;
  if (level === undefined) return [];
  const known = isInTransaction(command) ? readConcernsInTransactions : readConcerns[name];
  return known?.has(level) ? [] : [`the read concern ${level} for ${name}`];
}

const mostStatements = 100_000;

const listFaults = (command: Document): string[] =>
  ['documents', 'updates', 'deletes', 'ops', 'indexes'].flatMap((key) => {
    if (command[key] === undefined) return [];
    const { length } = listOf(command[key]);
    if (length > mostStatements) return [`${length} ${key}, more than 100,000`];
    return length === 0 ? [`an empty list of ${key}`] : [];
  });

function stageFaults(stage: Document): string[] {
  return [
    ...(keysOf(stage).length === 1 ? [] : [`a stage with ${keysOf(stage).join(' and ')}`]),
    ...entriesOf(stage).flatMap(([name, value]) => {
      if (!stages.has(name)) return [`the stage ${name}`];
      if (name === '$match') return filterFaults(value);
      if (name === '$group') return groupFaults(value);
      if (name === '$limit' && value === 0) return ['a stage $limit of 0'];
      return name === '$sort' ? sortFaults(value) : expressionFaults(value);
    }),
  ];
}

function hintFaults({ fields: { hint }, collection }: Statement, keysOfIndexes: IndexKeys): string[] {
  if (hint === undefined) return [];
  if (typeof hint === 'string') return [`a hint by the name ${hint}, which the index need not have`];
  const key = JSON.stringify(Object.fromEntries(entriesOf(hint)));
  return [...keysOfIndexes(collection), '{"_id":1}'].includes(key) ? [] : [`a hint to no declared index, ${key}`];
}

function statementFaults(statement: Statement, isSentAgain: boolean, keysOfIndexes: IndexKeys): string[] {
  const { kind, fields, filter, update, rows, pipeline, isMulti } = statement;
  const known = statementFields[kind];
  return [
    ...keysOf(fields)
      .filter((key) => known && !known.has(key))
      .map((key) => `a statement of ${kind} has no field ${key}`),
    ...(kind === 'delete' && ![0, 1].includes(fields.limit) ? ['a delete without the limit 0 or 1'] : []),
    ...(isSentAgain && isMulti ? ['a retried write of many rows'] : []),
    ...filterFaults(kind === 'listCollections' ? undefined : filter),
    ...(update === undefined ? [] : updateFaults(update, fields)),
    ...rows.flatMap(rowFaults),
    ...pipeline.flatMap(stageFaults),
    ...projectionFaults(fields.projection ?? fields.fields),
    ...sortFaults(fields.sort),
    ...hintFaults(statement, keysOfIndexes),
  ];
}

/** What MongoDB 8 would refuse of the command; nothing when it would take it. */
export function refusals(command: Document, keysOfIndexes: IndexKeys): string[] {
  const [name = ''] = keysOf(command);
  return [
    ...fieldFaults(name, command),
    ...transactionFaults(name, command),
    ...readConcernFaults(name, command),
    ...listFaults(command),
    ...(name === 'aggregate' && command.cursor === undefined ? ['an aggregation without a cursor'] : []),
    ...(name === 'getMore' && command.maxTimeMS !== undefined ? ['a time limit of getMore'] : []),
    ...['limit', 'skip'].filter((key) => command[key] < 0).map((key) => `a negative ${key}`),
    ...statementsOf(command).flatMap((one) => statementFaults(one, isRetried(command), keysOfIndexes)),
    ...indexFaults(command.indexes ?? []),
    ...(name === 'collMod' ? collModFaults(command) : []),
  ];
}
