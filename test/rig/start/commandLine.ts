// Runs an operator's command as `npm run` does, on the database of a test service.
import { type Command, runCommand } from '../../../stack/commands/command.js';
import { forkEngines } from './forkEngines.js';
import { jwtSecret, type TestService } from './service.js';

export interface Ran {
  code: number;
  lines: string[];
  errors: string[];
}

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

export async function runOn(
  service: Pick<TestService, 'deps'>,
  command: Command,
  argv: readonly string[],
  env: Record<string, string> = {},
): Promise<Ran> {
  let out = '';
  let err = '';
  const code = await runCommand(command, {
    argv,
    env: {
      MONGODB_URI: forkEngines().mongodbUri,
      MONGODB_DATABASE: service.deps.config.MONGODB_DATABASE,
      TEMPORAL_ADDRESS: forkEngines().temporalAddress,
      CONSOLE_JWT_SECRET: jwtSecret,
      RELAY_SHARDS: '1',
      ...env,
    },
    out: (text) => (out += text),
    err: (text) => (err += text),
  });
  return { code, lines: linesOf(out), errors: linesOf(err) };
}
