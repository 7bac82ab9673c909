// Notes every command that this process sends to MongoDB, as the driver sends it.
import { createRequire } from 'node:module';
import type { Document } from 'mongodb';
import '../../../platform/mongodb/driverPatch.js';
import { type CollectionName, indexes } from '../../../schemas/tables/collections.js';
import { type CommandShape, shapeOf } from './commandShape.js';
import { type KeysOf, refusals } from './rules.js';

interface DriverConnection {
  prepareCommand(database: string, command: Document, options: object): { command?: Document };
}

const { Connection }: { Connection: { prototype: DriverConnection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);

const keysOf: KeysOf = (collection) =>
  (indexes[collection as CollectionName] ?? []).map(({ key }) => JSON.stringify(key));

export interface SentCommands {
  /** The different shapes so far. */
  shapes: () => CommandShape[];
  /** Why MongoDB 8 would refuse a command, with its shape. */
  refused: () => string[];
  stop: () => void;
}

/** Watches from now on, also clients that are connected already. */
export function watchCommands(): SentCommands {
  const seen = new Map<string, CommandShape>();
  const { prepareCommand } = Connection.prototype;
  Connection.prototype.prepareCommand = function (database, command, options) {
    const prepared = prepareCommand.call(this, database, command, options);
    // The first handshake of a connection is no command.
    if (prepared.command) {
      const shape = shapeOf(prepared.command);
      seen.set(JSON.stringify(shape), shape);
    }
    return prepared;
  };
  return {
    shapes: () => [...seen.values()],
    refused: () => [...seen].flatMap(([text, shape]) => refusals(shape, keysOf).map((reason) => `${reason}: ${text}`)),
    stop() {
      Connection.prototype.prepareCommand = prepareCommand;
    },
  };
}
