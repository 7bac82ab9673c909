// Creates the Temporal client of a process. It connects lazily, so that a process starts and works while Temporal is
// unavailable.
import { Client, Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import type { Config } from '../../schemas/shared/config.schema.js';
import { temporalConnectionOptions } from './connectionOptions.js';
import { dataConverterOf } from './payloadCodec.js';
import { createWorkflowClient, type WorkflowClient, type WorkflowClientOptions } from './workflowClient.js';

/**
 * With gRPC's defaults a channel waits up to two minutes before it reconnects after a long outage, and 30 s before it
 * asks again for an address that was not known, as that of a container that starts again.
 */
const reconnectMs = {
  'grpc.initial_reconnect_backoff_ms': 200,
  'grpc.max_reconnect_backoff_ms': 1_000,
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
};

export function connectTemporal({
  config,
  log,
  watch,
}: { config: Config; log: Logger } & Pick<WorkflowClientOptions, 'watch'>): {
  client: Client;
  connection: Connection;
  workflowClient: WorkflowClient;
} {
  const target = temporalConnectionOptions(config);
  const connection = Connection.lazy({ ...target.connection, channelArgs: reconnectMs });
  const client = new Client({ connection, namespace: target.namespace, dataConverter: dataConverterOf(config) });
  return {
    client,
    connection,
    workflowClient: createWorkflowClient({ client, connection, log, ...(watch !== undefined && { watch }) }),
  };
}
