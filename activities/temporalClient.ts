// One connection to Temporal for each process, made lazily: a process starts, and works, while Temporal is away.
import { Client, Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Config } from '../schemas/config.js';
import { createStarter, type Starter } from './starter.js';
import { temporalTarget } from './temporalTarget.js';

export function connectTemporal({ config, log }: { config: Config; log: Logger }): {
  client: Client;
  starter: Starter;
} {
  const target = temporalTarget(config);
  const connection = Connection.lazy(target.connection);
  const client = new Client({ connection, namespace: target.namespace });
  return { client, starter: createStarter({ client, connection, log }) };
}
