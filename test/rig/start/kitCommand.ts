// Runs the SDK's command as `npm run kit` does, in a process of its own.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const main = join(import.meta.dirname, '../../../sdk/kit/main.ts');

export interface RunningKit {
  process: ChildProcessWithoutNullStreams;
  /** The lines of the output so far. */
  lines: () => string[];
  errors: () => string;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

export function startKit(args: readonly string[], env: Record<string, string>): RunningKit {
  const child = spawn(process.execPath, ['--import', 'tsx', main, ...args], { env: { ...process.env, ...env } });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (out += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (err += chunk));
  const lines = () => out.split('\n').filter((line) => line !== '');
  return { process: child, lines, errors: () => err, ended: once(child, 'close').then(([code]) => code) };
}

export async function runKit(args: readonly string[], env: Record<string, string>, input = '') {
  const kit = startKit(args, env);
  kit.process.stdin.end(input);
  const code = await kit.ended;
  return { code, lines: kit.lines(), errors: kit.errors() };
}
