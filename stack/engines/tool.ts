// Runs a downloader or compiler: everything that it prints goes to a log file, and the person sees one line of it.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

export interface ToolRun {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  /** Where its whole output goes. */
  logFile: string;
  onLine: (line: string) => void;
  signal: AbortSignal;
}

/** Resolves with its last lines when the tool ends well; otherwise throws with them and the log file's place. */
export async function runTool(run: ToolRun): Promise<string[]> {
  mkdirSync(dirname(run.logFile), { recursive: true });
  const log = createWriteStream(run.logFile);
  // A group of its own, so that stopping ends the compilers that it started, too.
  const child = spawn(run.command, run.args, { env: run.env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const stop = () => endGroup(child.pid);
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
      // Progress bars redraw with carriage returns, which count as line ends here.
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
  }
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGTERM');
  } catch {
    // It ended by itself in the meantime.
  }
}
