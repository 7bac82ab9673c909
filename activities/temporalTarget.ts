// Which Temporal, and how to get in: a server on this machine, a cluster behind mTLS, or Temporal Cloud with an API key, all
// by the variables that Temporal's own tools read. What the environment says wins over the profile of a TEMPORAL_CONFIG_FILE.
import { existsSync } from 'node:fs';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { type Config, ConfigError } from '../schemas/config.js';

export interface TemporalTarget {
  /** For a client's connection and for a worker's alike. */
  connection: NativeConnectionOptions & { address: string };
  namespace: string;
}

const defaults = { address: '127.0.0.1:7233', namespace: 'default' };

/** Throws ConfigError when a certificate cannot be read, or the profile is not in the file. */
export function temporalTarget(config: Config): TemporalTarget {
  const file = config.TEMPORAL_CONFIG_FILE;
  if (file !== undefined && !existsSync(file)) throw new ConfigError([`TEMPORAL_CONFIG_FILE: ${file} is not there`]);
  const given = Object.entries(config).flatMap(([name, value]) =>
    name.startsWith('TEMPORAL_') && typeof value === 'string' && value !== '' ? [[name, value] as const] : [],
  );
  try {
    const { connectionOptions, namespace } = loadClientConnectConfig({ overrideEnvVars: Object.fromEntries(given) });
    return {
      connection: { ...connectionOptions, address: connectionOptions.address ?? defaults.address },
      namespace: namespace ?? defaults.namespace,
    };
  } catch (error) {
    throw new ConfigError([`TEMPORAL_*: ${error instanceof Error ? error.message : String(error)}`]);
  }
}
