// One connection to Temporal for each process, made lazily: a process starts, and works, while Temporal is away.
import { Client, Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Config } from '../schemas/config.js';
import { createStarter, type Starter, type StarterOptions } from './starter.js';
import { temporalTarget } from './temporalTarget.js';

/** As it comes, a channel whose server was away for long waits up to two minutes before it looks again. */
const reconnectMs = { 'grpc.initial_reconnect_backoff_ms': 200, 'grpc.max_reconnect_backoff_ms': 1_000 };

export function connectTemporal({
  config,
  log,
  watch,
}: { config: Config; log: Logger } & Pick<StarterOptions, 'watch'>): {
  client: Client;
  starter: Starter;
} {
  const target = temporalTarget(config);
  const connection = Connection.lazy({ ...target.connection, channelArgs: reconnectMs });
  const client = new Client({ connection, namespace: target.namespace });
  return { client, starter: createStarter({ client, connection, log, ...(watch !== undefined && { watch }) }) };
}
