// What the user gives in the environment wins over the demo's defaults, also when it is empty. Every wrong variable is
// named in one message, before anything is fetched or started.

import { resolve } from 'node:path';
import { z } from 'zod';
import { readFileSettings } from '../activities/fileSettings.js';
import { ConfigError, configExitCode, readConfig } from '../schemas/config.js';
import { ExpectedFailure } from './expectedFailure.js';

const demoDefaults = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
};

// The stack makes these and keeps them when the user gives none, so only given ones can be wrong.
const madeLater = {
  CONSOLE_JWT_SECRET: '0'.repeat(32),
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
};

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port')
  .transform(Number)
  .pipe(z.number().min(1).max(65_535));

const stackEnvironment = z.object({
  STACK_DIR: z.string().min(1).default('.stack'),
  STACK_MONGO_PORT: port.optional(),
  STACK_TEMPORAL_PORT: port.optional(),
  STACK_TEMPORAL_UI_PORT: port.optional(),
  STACK_BUILT: z.enum(['true', 'false']).optional(),
});

// For these, empty is the same as not given.
const addresses = ['MONGODB_URI', 'TEMPORAL_ADDRESS', 'REDIS_URL'];

export interface Settings {
  /** Absolute. */
  stackDir: string;
  host: string;
  port: number;
  metricsPort: number;
  /** Undefined: found, the one above metricsPort if it is free. */
  workerMetricsPort: number | undefined;
  /** Undefined: made from host and port. */
  publicUrl: string | undefined;
  namespace: string;
  ports: { mongodb: number | undefined; temporal: number | undefined; temporalUi: number | undefined };
  given: { mongodbUri: string | undefined; temporalAddress: string | undefined; redisUrl: string | undefined };
  /** The user's environment over the demo's defaults. */
  env: NodeJS.ProcessEnv;
}

/** Throws ExpectedFailure with exit code 78. */
export function readSettings(userEnv: NodeJS.ProcessEnv): Settings {
  const { env: given, mistakes } = readFileSettings(userEnv);
  const env: NodeJS.ProcessEnv = { ...demoDefaults, ...given };
  for (const name of addresses) if (env[name] === '') delete env[name];

  const stack = stackEnvironment.safeParse(env);
  const config = tryConfig({ ...madeLater, ...env });
  if (!stack.success || typeof config === 'string' || mistakes.length > 0) {
    const issues = (stack.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`);
    const lines = [...issues, ...mistakes].map((line) => `  ${line}`);
    const heading = typeof config === 'string' ? config : 'The configuration is wrong:';
    throw new ExpectedFailure([heading, ...lines].join('\n'), configExitCode);
  }
  return {
    stackDir: resolve(stack.data.STACK_DIR),
    host: config.HOST,
    port: config.PORT,
    metricsPort: config.METRICS_PORT,
    workerMetricsPort: config.WORKER_METRICS_PORT,
    publicUrl: env.PUBLIC_URL ? config.PUBLIC_URL : undefined,
    namespace: config.TEMPORAL_NAMESPACE ?? 'default',
    ports: {
      mongodb: stack.data.STACK_MONGO_PORT,
      temporal: stack.data.STACK_TEMPORAL_PORT,
      temporalUi: stack.data.STACK_TEMPORAL_UI_PORT,
    },
    given: {
      mongodbUri: env.MONGODB_URI,
      temporalAddress: env.TEMPORAL_ADDRESS,
      redisUrl: env.REDIS_URL,
    },
    env,
  };
}

/** The configuration, or the message that names what is wrong with it. */
function tryConfig(env: NodeJS.ProcessEnv) {
  try {
    return readConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}
