// Reads the settings of `npm start`. A variable from the user's environment overrides the demo's default, also when it
// is empty. One message names every wrong variable before anything is downloaded or started.
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { readFileSettings } from '../platform/config/fileSettings.js';
import { checkedConfig } from '../platform/config/loadConfig.js';
import { ConfigError, configExitCode } from '../schemas/shared/config.schema.js';
import { ExpectedFailure } from './expectedFailure.js';

const demoDefaults = {
  WEBHOOK_ALLOW_HTTP: 'true',
  WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
};

// Placeholders for the check: the stack generates these secrets when the user gives none.
const madeLater = {
  CONSOLE_JWT_SECRET: '0'.repeat(32),
  SECRETS_KEY: Buffer.alloc(32).toString('base64'),
};

const port = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port')
  .transform(Number)
  .pipe(z.number().min(1).max(65_535));

export const stackEnvironment = z.object({
  STACK_DIR: z.string().min(1).default('.stack').describe('the folder of data, logs and `stack.json`'),
  STACK_MONGO_PORT: port.optional().describe("the engine's port; without it a free one"),
  STACK_TEMPORAL_PORT: port.optional().describe("Temporal's"),
  STACK_TEMPORAL_UI_PORT: port.optional().describe("its UI's"),
  LOYALTY_PASS_CACHE: z.string().optional().describe('the folder of engines; without it `~/.cache/loyalty-pass`'),
  STACK_BUILT: z.enum(['true', 'false']).optional().describe('`true` runs what `npm run build` made'),
});

// An empty value of these variables counts as unset.
const addresses = ['MONGODB_URI', 'TEMPORAL_ADDRESS', 'REDIS_URL'];

export interface Settings {
  /** Absolute path. */
  stackDir: string;
  host: string;
  port: number;
  metricsPort: number;
  /** The ports that the user named; 0 asks for any and names none. */
  asked: { port: number | undefined; metricsPort: number | undefined };
  /** Undefined: chosen at the start, metricsPort + 1 if that port is free. */
  workerMetricsPort: number | undefined;
  /** Undefined: built from host and port. */
  publicUrl: string | undefined;
  namespace: string;
  database: string;
  ports: { mongodb: number | undefined; temporal: number | undefined; temporalUi: number | undefined };
  given: { mongodbUri: string | undefined; temporalAddress: string | undefined; redisUrl: string | undefined };
  /** The demo's defaults, overridden by the user's environment. */
  env: NodeJS.ProcessEnv;
}

/** Throws ExpectedFailure with exit code 78 when a variable is wrong. */
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
  const stackDir = resolve(stack.data.STACK_DIR);
  // An empty SMTP_URL turns mail off.
  if (env.SMTP_URL === undefined) env.MAIL_FOLDER ??= join(stackDir, 'mail');
  return {
    stackDir,
    host: config.HOST,
    port: config.PORT,
    metricsPort: config.METRICS_PORT,
    asked: {
      port: given.PORT ? config.PORT || undefined : undefined,
      metricsPort: given.METRICS_PORT ? config.METRICS_PORT || undefined : undefined,
    },
    workerMetricsPort: config.WORKER_METRICS_PORT,
    publicUrl: env.PUBLIC_URL ? config.PUBLIC_URL : undefined,
    namespace: config.TEMPORAL_NAMESPACE ?? 'default',
    database: config.MONGODB_DATABASE,
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

/** Returns the configuration, or the message that names every wrong variable. */
function tryConfig(env: NodeJS.ProcessEnv) {
  try {
    return checkedConfig(env);
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}
