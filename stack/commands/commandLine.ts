// An operator's command: its verbs, their options and help, and what a verb is given.
import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { ClosableDeps } from '../../platform/createDeps.js';
import type { SecretBox } from '../../platform/secretBox.js';
import type { connectTemporal } from '../../platform/temporal/connectTemporal.js';
import { toError } from '../../platform/toError.js';
import type { AuditAction } from '../../schemas/access/audit.schema.js';
import type { Config } from '../../schemas/shared/config.schema.js';
import { nameText } from '../../schemas/shared/text.js';
import type { CollectionName } from '../../schemas/tables/collections.js';
import { ExpectedFailure } from '../expectedFailure.js';

export interface CommandContext {
  deps: ClosableDeps;
  config: Config;
  /** True for the stack of `npm start` or by NODE_ENV; never in the image. */
  isDevelopment: boolean;
  /** Where the stack, or the service, writes mails as files. */
  mailFolder: string | undefined;
  secrets: SecretBox;
  /** Connects at the first call. */
  temporal: () => ReturnType<typeof connectTemporal>;
  say: (line: string) => void;
  /** For people; not part of the command's output. */
  progress: (line: string) => void;
  /**
   * The dependencies for a change whose audit is written with it: by the next transaction that writes to one of these
   * collections, or by the next one if none is named. One row for each target.
   */
  audited: (targets: readonly AuditTarget[], writes?: readonly CollectionName[]) => ClosableDeps;
}

interface AuditTarget {
  merchantId: string;
  /** By default the id of the row that is written. */
  targetId?: string;
}

export interface CommandInput {
  values: Record<string, string | boolean | (string | boolean)[] | undefined>;
  args: string[];
}

export interface Verb {
  /** The verb and its arguments as `--help` prints them, such as `apply FILE...`. */
  usage: string;
  does: string;
  /** As it is typed, with the verb. */
  example: string;
  options?: NonNullable<ParseArgsConfig['options']>;
  /** Whether words without an option are taken; otherwise one is a mistake. */
  takesWords?: true;
  /** The audit entry for a merchant; null for a verb that changes nothing of a merchant. */
  audit: AuditAction | null;
  run: (context: CommandContext, input: CommandInput) => Promise<void>;
}

export interface Command {
  name: string;
  /** By the word that chooses it; a command with one verb and no such word has it under ''. */
  verbs: Record<string, Verb>;
  /** True when MongoDB is all that it needs. */
  mongodbOnly?: boolean;
}

/** The mistakes of one command, one for each line. */
export class Mistakes extends ExpectedFailure {
  constructor(lines: readonly string[]) {
    super(lines.join('\n'));
  }
}

/** A word as a mistake repeats it. */
const quoted = (word: string): string => JSON.stringify(word.length > 60 ? `${word.slice(0, 60)}...` : word);

const named = nameText(100);

/** The option `--name`. Throws Mistakes when it is missing, or is no name that the API would take. */
export function nameGiven(input: CommandInput): string {
  const [name = ''] = required(input, ['name']);
  const { success, data, error } = named.safeParse(name);
  if (!success) throw new Mistakes(error.issues.map(({ message }) => `--name ${message}`));
  return data;
}

/** Throws Mistakes when an option is missing. */
export function required({ values }: CommandInput, names: readonly string[]): string[] {
  const missing = names.filter((name) => !values[name]);
  if (missing.length > 0) throw new Mistakes(missing.map((name) => `--${name} is required`));
  return names.map((name) => String(values[name]));
}

function helpOf({ name, mongodbOnly }: Command, verbs: readonly Verb[]): string {
  const lines = verbs.flatMap(({ usage, does, example }) => [
    `  npm run ${name} -- ${usage}`,
    `      ${does}`,
    `      Example: npm run -s ${name} -- ${example}`.trimEnd(),
  ]);
  const addresses = mongodbOnly ? 'MONGODB_URI where given' : 'MONGODB_URI and TEMPORAL_ADDRESS where given';
  return ['Usage:', ...lines, '', `Works on the stack that runs on STACK_DIR (.stack), or on ${addresses}.`].join('\n');
}

export interface Parsed {
  verb: Verb;
  input: CommandInput;
}

const isHelp = (word: string): boolean => word === '--help' || word === '-h';

/** Returns the help where it is asked for. Throws Mistakes. */
export function parseCommand(command: Command, argv: readonly string[]): Parsed | string {
  const sole = command.verbs[''];
  const [word = '', ...others] = argv;
  // A verb that every object has, such as "constructor", is none.
  const verb = sole ?? (Object.hasOwn(command.verbs, word) ? command.verbs[word] : undefined);
  if (argv.some(isHelp)) return helpOf(command, verb ? [verb] : Object.values(command.verbs));
  if (!verb) {
    const known = Object.keys(command.verbs).join(', ');
    throw new Mistakes([`${word ? `${quoted(word)} is none of` : 'say one of'}: ${known}; --help tells more`]);
  }
  try {
    const { options = {}, takesWords: allowPositionals = false } = verb;
    const { values, positionals } = parseArgs({ args: sole ? [...argv] : others, options, allowPositionals });
    return { verb, input: { values, args: positionals } };
  } catch (error) {
    const mistake = toError(error).message.replaceAll('\n', ' ');
    throw new Mistakes([`${mistake.replace(/ Did you [^?]*\?|, as in .*|\.$/g, '')}; --help tells more`]);
  }
}
