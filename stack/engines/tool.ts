// Runs a downloader or a compiler. Its whole output goes to a log file; the terminal shows one line of the output at a
// time.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { finished } from 'node:stream/promises';
import { signalGroup } from '../signalGroup.js';

export interface ToolRun {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Receives the whole output. */
  logFile: string;
  onLine: (line: string) => void;
  signal: AbortSignal;
}

/**
 * Resolves with the last lines of the output when the tool exits with 0; otherwise throws with those lines and the path
 * of the log file.
 */
export async function runTool(run: ToolRun): Promise<string[]> {
  mkdirSync(dirname(run.logFile), { recursive: true });
  const log = createWriteStream(run.logFile);
  // A log that cannot be written does not fail the tool. It is closed before this function ends, because a caller may
  // remove its folder then.
  const logClosed = finished(log).catch(() => undefined);
  // The tool gets its own process group, so that a stop also ends the compilers that the tool started.
  const child = spawn(run.command, run.args, { env: run.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const stop = () => signalGroup(child, 'SIGTERM');
  run.signal.addEventListener('abort', stop);

  const last: string[] = [];
  const take = (line: string) => {
    if (line.trim() === '') return;
    last.push(line.trim());
    if (last.length > 8) last.shift();
    run.onLine(line);
  };
  for (const stream of [child.stdout, child.stderr]) {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      log.write(text);
      // Progress bars redraw with carriage returns, so a carriage return counts as a line end.
      const lines = (rest + text).split(/[\r\n]+/);
      rest = lines.pop() ?? '';
      lines.forEach(take);
    });
    stream.on('end', () => take(rest));
  }

  try {
    const [code, killedBy] = await once(child, 'close');
    if (run.signal.aborted) throw new Error('stopped');
    if (code === 0) return last;
    const ending = code === null ? `was ended by ${killedBy}` : `ended with code ${code}`;
    throw new Error(`${run.command} ${ending}: ${last.at(-1) ?? 'it said nothing'} (all of it in ${run.logFile})`);
  } finally {
    run.signal.removeEventListener('abort', stop);
    log.end();
    await logClosed;
  }
}
