// Runs an operator's command: `npm run NAME -- VERB ...`. A command does everything that was requested or changes
// nothing. Exit code 0 means done; exit code 1 comes with one line for each mistake.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import pino from 'pino';
import { readFileSettings } from '../../platform/config/fileSettings.js';
import { checkedConfig } from '../../platform/config/loadConfig.js';
import { type ClosableDeps, createDeps } from '../../platform/createDeps.js';
import { createSecretBox, type SecretBox } from '../../platform/secretBox.js';
import { connectTemporal } from '../../platform/temporal/connectTemporal.js';
import type { WorkflowClient } from '../../platform/temporal/workflowClient.js';
import { toError } from '../../platform/toError.js';
import { ConfigError } from '../../schemas/shared/config.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId } from '../../schemas/shared/ids.js';
import { connectStack } from '../connect.js';
import { ExpectedFailure } from '../expectedFailure.js';
import { fileMistake, isSystemError } from '../systemError.js';
import { type Command, type CommandContext, Mistakes, parseCommand, type Verb } from './commandLine.js';

export { type Command, type CommandContext, type CommandInput, Mistakes, nameGiven, required } from './commandLine.js';

/** Reads a value that the stack generated and stored in its folder; undefined when the file does not exist. */
function kept(stackDir: string, name: string): string | undefined {
  try {
    return readFileSync(join(stackDir, name), 'utf8').trim();
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

// Placeholders for required settings: a command that does not use CONSOLE_JWT_SECRET or SECRETS_KEY runs without them,
// and a command that uses one of them checks it first.
const absent = { CONSOLE_JWT_SECRET: '-'.repeat(32), SECRETS_KEY: Buffer.alloc(32).toString('base64') };

function configOf(
  { mongodbOnly = false }: Command,
  given: NodeJS.ProcessEnv,
): Pick<CommandContext, 'config' | 'isDevelopment' | 'mailFolder'> {
  const { env, mistakes } = readFileSettings(given);
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  const { mongodbUri, temporalAddress, stack } = connectStack(env, { mongodbOnly });
  const stackDir = resolve(env.STACK_DIR || '.stack');
  const own = stack && {
    CONSOLE_JWT_SECRET: env.CONSOLE_JWT_SECRET || kept(stackDir, 'console-jwt-secret'),
    SECRETS_KEY: env.SECRETS_KEY || kept(stackDir, 'secrets-key'),
    PUBLIC_URL: env.PUBLIC_URL || stack.publicUrl,
    TEMPORAL_NAMESPACE: env.TEMPORAL_NAMESPACE || stack.temporalNamespace,
  };
  const config = checkedConfig({
    ...absent,
    ...env,
    ...own,
    MONGODB_URI: mongodbUri,
    TEMPORAL_ADDRESS: temporalAddress,
  });
  const isDevelopment = env.NODE_ENV === 'development' || (stack !== undefined && env.NODE_ENV !== 'production');
  const mailFolder = env.MAIL_FOLDER || (stack && join(stackDir, 'mail'));
  return { config, isDevelopment, mailFolder };
}

const presentMs = 5_000;

/** Waits for Temporal for at most 5 s. */
export async function reachTemporal({ temporal }: CommandContext): Promise<WorkflowClient> {
  const { workflowClient } = temporal();
  for (let waited = 0; !workflowClient.available() && waited < presentMs; waited += 100) await sleep(100);
  return workflowClient;
}

/**
 * Throws Mistakes when CONSOLE_JWT_SECRET is not known, or when the console signs its tokens itself (CONSOLE_JWKS_URL).
 */
export function consoleSecret({ config }: CommandContext): string {
  if (config.CONSOLE_JWKS_URL) throw new Mistakes(['CONSOLE_JWKS_URL is set: the console signs its tokens itself']);
  if (!config.CONSOLE_JWT_SECRET || config.CONSOLE_JWT_SECRET === absent.CONSOLE_JWT_SECRET)
    throw new Mistakes(['CONSOLE_JWT_SECRET is required: tokens are signed with it']);
  return config.CONSOLE_JWT_SECRET;
}

/** Throws Mistakes when SECRETS_KEY is not known. */
export function givenSecrets({ config, secrets }: CommandContext): SecretBox {
  if (config.SECRETS_KEY === absent.SECRETS_KEY) throw new Mistakes(['SECRETS_KEY is required']);
  return secrets;
}

function linesOf(error: unknown): string {
  if (error instanceof ExpectedFailure) return error.message;
  if (error instanceof ConfigError) return error.mistakes.join('\n');
  if (error instanceof ServiceError) {
    const details = Array.isArray(error.details) ? error.details : [];
    const lines = details.flatMap((detail: unknown) =>
      typeof detail === 'object' && detail !== null && 'path' in detail && 'message' in detail
        ? [`${detail.path} ${detail.message}`]
        : [],
    );
    return lines.join('\n') || error.message;
  }
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError)
    return 'MongoDB does not answer; nothing was changed';
  return fileMistake(error) ?? toError(error).message;
}

const operator = { type: 'operator', id: 'operator' } as const;

function auditedBy(deps: ClosableDeps, { audit: action }: Verb): CommandContext['audited'] {
  return (targets, writes = []) => {
    if (action === null) throw new Error('The verb says that it changes nothing.');
    const audit = targets.map((target) => ({
      row: {
        ...target,
        ...{ _id: newId(), createdAt: deps.now(), actor: operator, action, address: null, requestId: null },
      },
      writes,
    }));
    return { ...deps, audit };
  };
}

export interface Streams {
  out: (text: string) => void;
  err: (text: string) => void;
}

/** Resolves with the exit code. */
export async function runCommand(
  command: Command,
  { argv, env, out, err }: Streams & { argv: readonly string[]; env: NodeJS.ProcessEnv },
): Promise<number> {
  const closing: (() => Promise<void>)[] = [];
  try {
    const parsed = parseCommand(command, argv);
    if (typeof parsed === 'string') {
      out(`${parsed}\n`);
      return 0;
    }
    const { config, isDevelopment, mailFolder } = configOf(command, env);
    const log = pino({ level: 'silent' });
    const deps = createDeps({ config, log, timeouts: 'tool' });
    closing.push(() => deps.close());
    let temporal: ReturnType<typeof connectTemporal> | undefined;
    const connected = () => {
      if (!temporal) {
        temporal = connectTemporal({ config, log });
        closing.unshift(temporal.workflowClient.close);
      }
      return temporal;
    };
    const secrets = createSecretBox(config);
    const say = (line: string) => out(`${line}\n`);
    const audited = auditedBy(deps, parsed.verb);
    const progress = (line: string) => err(`${line}\n`);
    const settings = { config, isDevelopment, mailFolder };
    await parsed.verb.run({ deps, ...settings, secrets, temporal: connected, say, progress, audited }, parsed.input);
    return 0;
  } catch (error) {
    err(`${linesOf(error)}\n`);
    return 1;
  } finally {
    for (const close of closing) await close();
  }
}

/** Runs the command of this process and ends the process with the command's exit code. */
export async function main(command: Command): Promise<never> {
  // Whoever reads the output, such as head, may have closed it.
  process.stdout.on('error', () => process.exit(0));
  const code = await runCommand(command, {
    argv: process.argv.slice(2),
    env: process.env,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
  process.exit(code);
}

/** Pads every cell to the width of the widest cell in its column. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
