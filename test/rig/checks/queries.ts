// Looks at every query of this process. One whose filter has `_id` after another field fails: the embedded engine reads
// by the first field of a filter that has an index, so such a filter reads for example all unpublished events. Each
// shape of query of the service is kept, so that test/rig/checks/scans.ts can ask how the database answers it.
import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { Document } from 'mongodb';
import '../../../platform/mongodb/driverPatch.js';
import { listOf } from '../mongodb/filterRules.js';

export interface Query {
  collection: string;
  filter: Document;
  sort?: Document;
  hint?: unknown;
  limit?: number;
}

interface Asked {
  query: Query;
  /** The line that sent it, relative to the repository; undefined where the driver lost it. */
  from: string | undefined;
}

interface DriverConnection {
  command(namespace: { db: string }, command: Document, ...given: unknown[]): Promise<unknown>;
}

const { Connection }: { Connection: { prototype: DriverConnection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);
const { command: send } = Connection.prototype;

/** The queries of a command, one for each of its statements. */
function queriesOf(command: Document): Query[] {
  const [name = ''] = Object.keys(command);
  const of = (filter: Document = {}, { sort, hint, limit }: Document = command): Query => ({
    collection: command[name],
    filter,
    ...(sort && { sort }),
    ...(hint && { hint }),
    ...(limit && { limit }),
  });
  switch (name) {
    case 'find':
      return [of(command.filter)];
    case 'count':
      // Without a filter it is answered from what MongoDB knows of the collection.
      return command.query ? [of(command.query)] : [];
    case 'distinct':
      return [of(command.query)];
    case 'findAndModify':
      return [of(command.query, { ...command, limit: 1 })];
    case 'aggregate': {
      const stages: Document[] = command.pipeline;
      const [first, second] = stages[0]?.$match ? stages : [undefined, ...stages];
      const limit = stages.find(({ $limit }) => $limit)?.$limit;
      return [of(first?.$match, { hint: command.hint, sort: second?.$sort, limit })];
    }
    case 'update':
    case 'delete':
      return listOf(command.updates ?? command.deletes).map(({ q, hint }) => of(q, { hint }));
    case 'bulkWrite': {
      const names = listOf(command.nsInfo).map(({ ns }) => ns.slice(ns.indexOf('.') + 1));
      const ops = listOf(command.ops).filter((op) => op.filter);
      return ops.map((op) => ({ collection: names[op.update ?? op.delete], filter: op.filter }));
    }
    default:
      return [];
  }
}

/** A range of ids belongs to an index that ends with `_id`. */
const namesRows = (_id: unknown): boolean =>
  typeof _id === 'string' || (_id as Document | undefined)?.$in !== undefined;

/** The fields and operators of a filter, without its values. */
function shapeOf(value: unknown): unknown {
  if (value === null || typeof value === 'boolean') return value;
  if (Array.isArray(value)) return [...new Set(value.map((one) => JSON.stringify(shapeOf(one))))].toSorted();
  if (typeof value !== 'object' || !['Object', undefined].includes(value.constructor?.name)) return '?';
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, shapeOf(one)]));
}

/** Equal for queries that differ only in values. */
function keyOf({ collection, filter, sort = {}, limit }: Query): string {
  const order = sort instanceof Map ? [...sort.keys()] : Object.keys(sort);
  return [collection, JSON.stringify(shapeOf(filter)), order.join(','), limit && 'limit'].filter(Boolean).join(' ');
}

/** The files that look at commands between the driver and its caller. */
const watching = /test\/rig\/(checks\/queries|mongodb\/sentCommands)\.ts/;
const root = join(import.meta.dirname, '..', '..', '..');

/**
 * The caller of the helpers in platform/, or the helper where its caller is lost; undefined where the driver waited for
 * a connection and lost both.
 */
export function sender(): string | undefined {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 100;
  const frames = (new Error('where').stack ?? '').split('\n');
  Error.stackTraceLimit = stackTraceLimit;
  const places = frames
    .filter((frame) => !frame.includes('node_modules') && !watching.test(frame))
    .flatMap((frame) => frame.split(`${root}/`)[1]?.replace(')', '') ?? []);
  return places.find((place) => !place.startsWith('platform/')) ?? places[0];
}

const asked = new Map<string, Map<string, Asked>>();

/** What the service asked of this database, by the key of the query. */
export function askedOf(database: string): Map<string, Asked> {
  const known = asked.get(database) ?? new Map<string, Asked>();
  asked.set(database, known);
  return known;
}

Connection.prototype.command = function (namespace, command, ...given) {
  const known = askedOf(namespace.db);
  for (const query of queriesOf(command)) {
    const { filter } = query;
    if (namesRows(filter._id) && Object.keys(filter)[0] !== '_id')
      throw new Error(`_id is not the first field of ${JSON.stringify(Object.keys(filter))}.`);
    const key = keyOf(query);
    if (known.get(key)?.from !== undefined) continue;
    const from = sender();
    // The tests' own queries may scan.
    if (!from?.startsWith('test/')) known.set(key, { query, from });
  }
  return send.call(this, namespace, command, ...given);
};
