// Starts the stack's processes, starts them again when they die, and stops each before the processes that it needs. The
// lock file always lists all living processes, so that the next start can end them if this supervisor is killed.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { NamedProcess } from './lock.js';
import { startMarkOf } from './processIdentity.js';
import { startReaper } from './reaper.js';
import { type ProcessPlan, type SupervisedProcess, superviseProcess } from './supervisedProcess.js';
import type { Terminal } from './terminal.js';

export interface SupervisorDeps {
  logDir: string;
  terminal: Pick<Terminal, 'line' | 'warn'>;
  /** Called with all living processes each time a process starts or ends. */
  onChange: (living: NamedProcess[]) => void;
}

export interface Supervisor {
  /** Resolves when the process is ready; throws ExpectedFailure when it does not become ready. */
  start(plan: ProcessPlan): Promise<void>;
  /** Sends a message to running processes; needs their `ipc`. */
  tell(names: readonly string[], message: object): void;
  /** Stops the processes in the given order, then all others. */
  stopAll(order: string[]): Promise<void>;
  killAll(): void;
}

export function createSupervisor({ logDir, terminal, onChange }: SupervisorDeps): Supervisor {
  mkdirSync(logDir, { recursive: true });
  const reaper = startReaper();
  const processes: SupervisedProcess[] = [];
  const living = new Map<string, NamedProcess>();
  let stopping = false;

  const watch = () => reaper.watch([...living.values()].map(({ pid }) => pid));
  const changed = () => {
    watch();
    onChange([...living.values()]);
  };

  return {
    async start(plan) {
      if (stopping) throw new Error(`${plan.title} is not started: the stack is stopping.`);
      const logFile = join(logDir, `${plan.name}.log`);
      const supervised = superviseProcess(plan, logFile, {
        started(pid) {
          living.set(plan.name, { name: plan.name, pid, startMark: startMarkOf(pid) ?? '' });
          changed();
        },
        died(ending, delayMs) {
          living.delete(plan.name);
          const when = delayMs === 0 ? 'starting it again' : `starting it again in ${delayMs / 1000} s, see ${logFile}`;
          terminal.warn(`${plan.title} ${ending}; ${when}`);
          watch();
        },
        stuck(reason) {
          terminal.warn(`${plan.title} lives and does not work: it ${reason}; ending it, see ${logFile}`);
        },
        recovered(tookMs) {
          terminal.line(
            `  ${plan.title} is back after ${(tookMs / 1000).toFixed(1)} s, pid ${living.get(plan.name)?.pid}`,
          );
        },
        gone() {
          living.delete(plan.name);
          changed();
        },
      });
      processes.push(supervised);
      await supervised.start();
    },
    tell(names, message) {
      for (const supervised of processes) if (names.includes(supervised.plan.name)) supervised.tell(message);
    },
    async stopAll(order) {
      stopping = true;
      const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
      const sorted = processes.toSorted((one, other) => rank(one.plan.name) - rank(other.plan.name));
      for (const supervised of sorted) await supervised.stop();
      reaper.dismiss();
    },
    killAll() {
      for (const supervised of processes) supervised.kill();
    },
  };
}
