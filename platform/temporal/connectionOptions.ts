// Options of the connection to Temporal: a local server, a cluster with mTLS, or Temporal Cloud with an API key. They
// are read from the same environment variables that Temporal's own tools read; variables take precedence over the
// profile in TEMPORAL_CONFIG_FILE.
import { existsSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import type { NativeConnectionOptions } from '@temporalio/worker';
import { type Config, ConfigError } from '../../schemas/shared/config.schema.js';
import { certificatesOf } from '../../schemas/shared/pem.rules.js';
import { toError } from '../toError.js';

export interface TemporalConnectionOptions {
  /** Fits both a client's connection and a worker's. */
  connection: NativeConnectionOptions & { address: string };
  namespace: string;
}

const defaults = { address: '127.0.0.1:7233', namespace: 'default' };

/** Throws ConfigError when the file or its profile is missing, or when the address or a certificate cannot be read. */
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
    const connection = { ...connectionOptions, address: connectionOptions.address ?? defaults.address };
    check(connection);
    return { connection, namespace: namespace ?? defaults.namespace };
  } catch (error) {
    throw error instanceof ConfigError ? error : new ConfigError([`TEMPORAL_*: ${toError(error).message}`]);
  }
}

const addressForm = /^(?:\[[\da-f:.]+\]|[^[\]:/\s]+)(?::\d{1,5})?$/i;

function check({ address, tls }: TemporalConnectionOptions['connection']): void {
  if (!addressForm.test(address)) throw new ConfigError(['TEMPORAL_ADDRESS: must be a host or host:port']);
  if (!tls || tls === true) return;
  const mistake = (name: string, what: string) => new ConfigError([`TEMPORAL_TLS_${name}: ${what}`]);
  const { serverRootCACertificate: ca, clientCertPair: pair } = tls;
  try {
    if (ca) certificatesOf(Buffer.from(ca).toString('latin1'));
  } catch (error) {
    throw mistake('SERVER_CA_CERT_*', toError(error).message);
  }
  try {
    if (pair) createSecureContext({ cert: Buffer.from(pair.crt), key: Buffer.from(pair.key) });
  } catch {
    throw mistake('CLIENT_*', 'must be a certificate and its key, in PEM');
  }
}
