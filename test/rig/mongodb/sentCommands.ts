// Looks at every command that this process sends to MongoDB from now on, as the driver sends it.
import { createRequire } from 'node:module';
import type { Document } from 'mongodb';
import '../../../platform/mongodb/driverPatch.js';
import { type CollectionName, indexes } from '../../../schemas/tables/collections.js';
import { sender } from '../checks/queries.js';
import { refusals } from './rules.js';

interface DriverConnection {
  prepareCommand(database: string, command: Document, options: object): { command?: Document };
}

const { Connection }: { Connection: { prototype: DriverConnection } } = createRequire(import.meta.url)(
  'mongodb/lib/cmap/connection.js',
);
const { prepareCommand } = Connection.prototype;

const keysOfIndexes = (collection: string): string[] =>
  (indexes[collection as CollectionName] ?? []).map(({ key }) => JSON.stringify(key));

const refused = new Set<string>();

function look(command: Document): void {
  for (const reason of refusals(command, keysOfIndexes)) refused.add(`${reason} (${sender()})`);
}

Connection.prototype.prepareCommand = function (database, command, options) {
  const prepared = prepareCommand.call(this, database, command, options);
  // The first message of a connection is of an older kind, without a command. An error here would close the client's
  // topology, and all its operations would fail with "Topology is closed".
  try {
    if (prepared.command) look(prepared.command);
  } catch (error) {
    refused.add(`the rules failed: ${error instanceof Error ? error.stack : error}`);
  }
  return prepared;
};

/** What MongoDB 8 would have refused since the last call, each with the line that sent it. */
export function takeRefused(): string[] {
  const found = [...refused];
  refused.clear();
  return found;
}

/** Throws when MongoDB 8 would have refused a command of the service since the last call. */
export function expectTakenByMongodb(): void {
  // The tests' own commands may be for the engine alone.
  const refusedOfService = takeRefused().filter((line) => !line.includes('(test/'));
  if (refusedOfService.length > 0)
    throw new Error(`MongoDB 8 refuses, or test/rig/mongodb does not know:\n${refusedOfService.join('\n')}`);
}
