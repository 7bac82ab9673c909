// Options of the connection to Temporal: a local server, a cluster with mTLS, or Temporal Cloud with an API key. They
// are read from the same environment variables that Temporal's own tools read; variables take precedence over the
// profile in TEMPORAL_CONFIG_FILE.
import { existsSync } from 'node:fs';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { type Config, ConfigError } from '../../schemas/config.js';
import { toError } from '../toError.js';

export interface TemporalConnectionOptions {
  /** Fits both a client's connection and a worker's. */
  connection: NativeConnectionOptions & { address: string };
  namespace: string;
}

const defaults = { address: '127.0.0.1:7233', namespace: 'default' };

/** Throws ConfigError when the file or its profile is missing, or when a certificate cannot be read. */
export function temporalConnectionOptions(config: Config): TemporalConnectionOptions {
  const file = config.TEMPORAL_CONFIG_FILE;
  if (file !== undefined && !existsSync(file)) throw new ConfigError([`TEMPORAL_CONFIG_FILE: ${file} is not there`]);
  const given = Object.entries(config).flatMap(([name, value]) =>
    name.startsWith('TEMPORAL_') && !name.startsWith('TEMPORAL_CODEC_') && typeof value === 'string' && value !== ''
      ? [[name, value] as const]
      : [],
  );
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(given) });
    return {
      connection: { ...connectionOptions, address: connectionOptions.address ?? defaults.address },
      namespace: namespace ?? defaults.namespace,
    };
  } catch (error) {
    throw new ConfigError([`TEMPORAL_*: ${toError(error).message}`]);
  }
}
