// The processes that a scenario or a stack of the bench started. `end` ends those that still run; the reaper ends them
// when the bench itself was killed.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { type Reaper, startReaper } from '../../stack/reaper.js';

/** The supervisor stops four processes one after the other within this time. */
const graceMs = 40_000;

export interface ProcessList {
  /** Adds a process that was just started. Kills the process and throws when the list has already ended. */
  add<T extends ChildProcess>(child: T): T;
  /** Called when all processes have ended. Throws when the list has already ended. */
  onEnded(cleanUp: () => void): void;
  /** Sends SIGTERM to all processes, kills those that live after `withinMs`, and resolves when none is left. */
  end(withinMs?: number): Promise<void>;
}

export function createProcessList(): ProcessList {
  const running = new Map<ChildProcess, Promise<unknown>>();
  let reaper: Reaper | undefined;
  let isEnded = false;
  const cleanUps: (() => void)[] = [];

  const ending = () => new Error('The bench is ending, so nothing more is started.');
  const keep = () => reaper?.watch([...running.keys()].flatMap(({ pid }) => pid ?? []));
  return {
    add(child) {
      if (isEnded) {
        signal(child, 'SIGKILL');
        throw ending();
      }
      if (child.pid === undefined) return child;
      const ended = once(child, 'exit');
      reaper ??= startReaper();
      running.set(child, ended);
      keep();
      void ended.then(() => {
        running.delete(child);
        keep();
      });
      return child;
    },
    onEnded(cleanUp) {
      if (isEnded) throw ending();
      cleanUps.push(cleanUp);
    },
    async end(withinMs = graceMs) {
      isEnded = true;
      for (const child of running.keys()) signal(child, 'SIGTERM');
      const late = setTimeout(() => {
        for (const child of running.keys()) signal(child, 'SIGKILL');
      }, withinMs);
      await Promise.all(running.values());
      clearTimeout(late);
      reaper?.dismiss();
      reaper = undefined;
      for (const cleanUp of cleanUps.splice(0)) cleanUp();
    },
  };
}

/** Resolves when a command that was just started has succeeded. Throws when it fails or takes longer. */
export async function succeeded(
  processes: ProcessList,
  command: ChildProcess,
  name: string,
  withinMs: number,
): Promise<void> {
  const [code] = await once(processes.add(command), 'exit', { signal: AbortSignal.timeout(withinMs) });
  if (code !== 0) throw new Error(`${name} ended with ${code}.`);
}

/** Signals the process group if the child leads one, so that the child's own processes end too. */
function signal(child: ChildProcess, name: NodeJS.Signals): void {
  try {
    process.kill(-(child.pid ?? Number.NaN), name);
  } catch {
    child.kill(name);
  }
}
