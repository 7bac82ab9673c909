// Starts the stack's processes, starts them again when they die, and stops them in the reverse order of what they need.
// At any moment the record tells every living process, for whoever comes after a supervisor that was killed.

import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { startKeeper } from './keeper.js';
import type { NamedProcess } from './lock.js';
import { startMarkOf } from './processIdentity.js';
import { type ProcessPlan, type SupervisedProcess, superviseProcess } from './supervisedProcess.js';
import type { Terminal } from './terminal.js';

export interface SupervisorDeps {
  logDir: string;
  terminal: Pick<Terminal, 'line' | 'warn'>;
  /** Called with all living processes whenever one begins or ends. */
  onChange: (living: NamedProcess[]) => void;
}

export interface Supervisor {
  /** Resolves when the process is ready; throws ExpectedFailure when it does not get there. */
  start(plan: ProcessPlan): Promise<void>;
  /** Stops in the given order, the named ones first; what isn't named comes last. */
  stopAll(order: string[]): Promise<void>;
  killAll(): void;
}

export function createSupervisor({ logDir, terminal, onChange }: SupervisorDeps): Supervisor {
  mkdirSync(logDir, { recursive: true });
  const keeper = startKeeper();
  const processes: SupervisedProcess[] = [];
  const living = new Map<string, NamedProcess>();
  let stopping = false;

  const changed = () => {
    keeper.keep([...living.values()].map(({ pid }) => pid));
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
          keeper.keep([...living.values()].map(({ pid }) => pid));
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
    async stopAll(order) {
      stopping = true;
      const rank = (name: string) => (order.includes(name) ? order.indexOf(name) : order.length);
      const sorted = processes.toSorted((one, other) => rank(one.plan.name) - rank(other.plan.name));
      for (const supervised of sorted) await supervised.stop();
      keeper.dismiss();
    },
    killAll() {
      for (const supervised of processes) supervised.kill();
    },
  };
}
