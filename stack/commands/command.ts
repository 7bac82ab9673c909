// An operator's command: `npm run NAME -- VERB ...`. It does all of what it was asked or nothing, says so, and ends with 0 or
// with 1 and one line for each mistake.
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { MongoNetworkError, MongoServerSelectionError } from 'mongodb';
import pino from 'pino';
import { readFileSettings } from '../../activities/fileSettings.js';
import { createSecretBox, type SecretBox } from '../../activities/secrets.js';
import { type OpenStore, openStore } from '../../activities/store.js';
import { connectTemporal } from '../../activities/temporalClient.js';
import { type Config, ConfigError, readConfig } from '../../schemas/config.js';
import { ServiceError } from '../../schemas/errors.js';
import { connectStack } from '../connect.js';
import { ExpectedFailure } from '../expectedFailure.js';
import { isSystemError } from '../systemError.js';

export interface CommandContext {
  store: OpenStore;
  config: Config;
  secrets: SecretBox;
  /** Connects on first use. */
  temporal: () => ReturnType<typeof connectTemporal>;
  say: (line: string) => void;
}

type Options = NonNullable<ParseArgsConfig['options']>;
export interface Given {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  args: string[];
}

export interface Verb {
  /** One line for --help: `apply FILE...`. */
  usage: string;
  does: string;
  options?: Options;
  run: (context: CommandContext, given: Given) => Promise<void>;
}

export interface Command {
  name: string;
  verbs: Record<string, Verb>;
}

export function helpOf({ name, verbs }: Command): string {
  const lines = Object.values(verbs).flatMap(({ usage, does }) => [`  npm run ${name} -- ${usage}`, `      ${does}`]);
  return [
    'Usage:',
    ...lines,
    '',
    'Works on the stack that runs on STACK_DIR (.stack), or on MONGODB_URI and TEMPORAL_ADDRESS where given.',
  ].join('\n');
}

/** The mistakes of one command, one a line. */
export class Mistakes extends ExpectedFailure {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
  }
}

/** Throws Mistakes. */
export function required({ values }: Given, names: readonly string[]): string[] {
  const missing = names.filter((name) => !values[name]);
  if (missing.length > 0) throw new Mistakes(missing.map((name) => `--${name} is required`));
  return names.map((name) => String(values[name]));
}

function parse(command: Command, argv: readonly string[]): { verb: Verb; given: Given } | 'help' {
  if (argv.includes('--help') || argv.includes('-h')) return 'help';
  const [word = '', ...rest] = argv;
  const verb = command.verbs[word];
  if (!verb) {
    const known = Object.keys(command.verbs).join(', ');
    throw new Mistakes([`${word ? `"${word}" is none of` : 'say one of'}: ${known}; --help tells more`]);
  }
  try {
    const { values, positionals } = parseArgs({ args: rest, options: verb.options ?? {}, allowPositionals: true });
    return { verb, given: { values, args: positionals } };
  } catch (error) {
    throw new Mistakes([`${error instanceof Error ? error.message.split('. ')[0] : error}; --help tells more`]);
  }
}

/** What the stack of a folder made for itself and the environment does not say. */
function kept(stackDir: string, name: string): string | undefined {
  try {
    return readFileSync(join(stackDir, name), 'utf8').trim();
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}

// A command that needs neither can do without; one that does says which it misses.
const absent = { CONSOLE_JWT_SECRET: '-'.repeat(32), SECRETS_KEY: Buffer.alloc(32).toString('base64') };

function configOf(given: NodeJS.ProcessEnv): Config {
  const { env, mistakes } = readFileSettings(given);
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  const { mongodbUri, temporalAddress, stack } = connectStack(env);
  const stackDir = resolve(env.STACK_DIR || '.stack');
  const own = stack && {
    CONSOLE_JWT_SECRET: env.CONSOLE_JWT_SECRET || kept(stackDir, 'console-jwt-secret'),
    SECRETS_KEY: env.SECRETS_KEY || kept(stackDir, 'secrets-key'),
  };
  return readConfig({ ...absent, ...env, ...own, MONGODB_URI: mongodbUri, TEMPORAL_ADDRESS: temporalAddress });
}

/** Throws Mistakes when the console's secret is not known here. */
export function consoleSecret({ config }: CommandContext): string {
  if (config.CONSOLE_JWKS_URL) throw new Mistakes(['CONSOLE_JWKS_URL is set: the console signs its tokens itself']);
  if (!config.CONSOLE_JWT_SECRET || config.CONSOLE_JWT_SECRET === absent.CONSOLE_JWT_SECRET)
    throw new Mistakes(['CONSOLE_JWT_SECRET is required: tokens are signed with it']);
  return config.CONSOLE_JWT_SECRET;
}

function linesOf(error: unknown): string {
  if (error instanceof ExpectedFailure) return error.message;
  if (error instanceof ConfigError) return error.mistakes.join('\n');
  if (error instanceof ServiceError) {
    const details = Array.isArray(error.details) ? error.details : [];
    const lines = details.flatMap((detail: unknown) =>
      typeof detail === 'object' && detail !== null && 'message' in detail ? [String(detail.message)] : [],
    );
    return [error.message, ...lines].join(' ');
  }
  if (error instanceof MongoServerSelectionError || error instanceof MongoNetworkError)
    return 'MongoDB does not answer; nothing was changed';
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
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
    const parsed = parse(command, argv);
    if (parsed === 'help') {
      out(`${helpOf(command)}\n`);
      return 0;
    }
    const config = configOf(env);
    const log = pino({ level: 'silent' });
    const store = openStore({ config, log, patience: 'tool' });
    closing.push(() => store.close());
    let temporal: ReturnType<typeof connectTemporal> | undefined;
    const connected = () => {
      if (!temporal) {
        temporal = connectTemporal({ config, log });
        closing.unshift(temporal.starter.close);
      }
      return temporal;
    };
    const secrets = createSecretBox([config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS]);
    const say = (line: string) => out(`${line}\n`);
    await parsed.verb.run({ store, config, secrets, temporal: connected, say }, parsed.given);
    return 0;
  } catch (error) {
    err(`${linesOf(error)}\n`);
    return 1;
  } finally {
    for (const close of closing) await close();
  }
}

/** For the file that `npm run` names. */
export async function main(command: Command): Promise<never> {
  const code = await runCommand(command, {
    argv: process.argv.slice(2),
    env: process.env,
    out: (text) => process.stdout.write(text),
    err: (text) => process.stderr.write(text),
  });
  process.exit(code);
}

/** Columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
