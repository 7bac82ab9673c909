#!/usr/bin/env node
// The command of the SDK. Exit codes: 0 done, or stopped by a signal; 1 the answer is no, or a failure; 2 a mistake in
// the words of the command.
import { parseArgs } from 'node:util';
import { LoyaltyError } from '../errors.js';
import { listen } from './listen.js';
import { mcp } from './mcp.js';
import { tail } from './tail.js';
import { trigger } from './trigger.js';
import { addressOf, clientOf, Failure, type Kit, type Verb } from './verb.js';
import { verify } from './verify.js';

const verbs: Record<string, Verb> = { listen, trigger, tail, verify, mcp };
const name = import.meta.url.endsWith('.ts') ? 'npm run -s kit --' : 'kit';
const where = `Works on LOYALTY_URL with LOYALTY_API_KEY, or on the demo of the stack that runs on STACK_DIR (.stack).
With --json each line of the output is a JSON object.`;

const indented = (text: string) => text.replaceAll(/^/gm, '      ');
const helpOf = ({ usage, does, example }: Verb) =>
  `Usage: ${name} ${usage} [--json]\n\n${does}\n\nExample: ${name} ${example}\n\n${where}`;
const help = `Usage: ${name} VERB

${Object.values(verbs)
  .map(({ usage, does }) => `  ${usage}\n${indented(does)}`)
  .join('\n')}

Example: ${name} ${listen.example}

${where}`;

const isHelp = (word: string) => word === '--help' || word === '-h';

function parsed(verb: Verb, args: string[]) {
  const options = { ...verb.options, json: { type: 'boolean' } } as const;
  try {
    const line = parseArgs({ args, options, allowPositionals: verb.takesWord ?? false });
    const [, surplus] = line.positionals;
    if (surplus !== undefined) throw new Error(`"${surplus}" is one word too many`);
    return line;
  } catch (error) {
    const mistake = (error as Error).message.replaceAll('\n', ' ');
    throw new Failure(mistake.replace(/ Did you [^?]*\?|, as in .*|\.$/g, ''), 2);
  }
}

async function run([word = '', ...rest]: string[], stop: AbortController): Promise<number> {
  const verb = verbs[word];
  if (!verb) {
    if (!isHelp(word)) throw new Failure(`${word ? `"${word}" is no verb` : 'Say a verb'}.\n\n${help}`, 2);
    console.log(help);
    return 0;
  }
  if (rest.some(isHelp)) {
    console.log(helpOf(verb));
    return 0;
  }
  const { values, positionals } = parsed(verb, rest);
  const kit: Kit = {
    address: () => addressOf(process.env),
    client: () => clientOf(addressOf(process.env)),
    say: (line, object) => console.log(values.json ? JSON.stringify(object) : line),
    note: (line) => console.error(line),
    signal: stop.signal,
  };
  return verb.run(kit, { values, args: positionals });
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stop.abort());
// A reader of the output, such as head, may have closed it.
process.stdout.on('error', () => process.exit(0));

run(process.argv.slice(2), stop).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    if (stop.signal.aborted) return;
    console.error(error instanceof LoyaltyError ? `${error.code}: ${error.message}` : (error as Error).message);
    process.exitCode = error instanceof Failure ? error.exitCode : 1;
  },
);
