// Fails every command of this process whose filter has `_id` after another field. The embedded engine reads by the
// first field of a filter that has an index, so such a filter reads for example all unpublished events.
import { createRequire } from 'node:module';
import type { Document } from 'mongodb';
import '../../platform/mongodb/driverPatch.js';

interface DriverConnection {
  command(namespace: unknown, command: Document, ...given: unknown[]): Promise<unknown>;
}

const { Connection }: { Connection: { prototype: DriverConnection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);
const { command: send } = Connection.prototype;

/** All filters of a command, one for each of its statements. */
function filtersOf({ filter, query, pipeline, updates, deletes, ops }: Document): (Document | undefined)[] {
  const statements: Document[] = [updates, deletes, ops].flatMap((some) => some?.documents ?? some ?? []);
  return [filter, query, pipeline?.[0]?.$match, ...statements.map(({ q, filter: own }) => q ?? own)];
}

/** A range of ids belongs to an index that ends with `_id`. */
const namesRows = (_id: unknown): boolean =>
  typeof _id === 'string' || (_id as Document | undefined)?.$in !== undefined;

Connection.prototype.command = function (namespace, command, ...given) {
  const late = filtersOf(command).find((filter) => namesRows(filter?._id) && Object.keys(filter ?? {})[0] !== '_id');
  if (late) throw new Error(`_id is not the first field of ${JSON.stringify(Object.keys(late))}.`);
  return send.call(this, namespace, command, ...given);
};
