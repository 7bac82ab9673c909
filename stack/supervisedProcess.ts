// Runs one process of the stack and starts it again when it ends without a stop request. The recorded pid is the
// process itself, not a shell around it. The process has its own process group, so Ctrl-C in the terminal reaches only
// the supervisor.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { deadline } from '../platform/deadline.js';
import { toError } from '../platform/toError.js';
import { ExpectedFailure } from './expectedFailure.js';
import { signalGroup } from './signalGroup.js';
import { becomesStuck, type Watch } from './watch.js';

export interface ProcessPlan {
  /** Name of the log file, and key in `pids` of stack.json. */
  name: string;
  /** The process's name in messages. */
  title: string;
  command: string;
  args: string[];
  /** Working directory; by default the supervisor's. */
  cwd?: string;
  env: NodeJS.ProcessEnv;
  /** Whether the process gets an IPC channel; only worker and API use one. */
  ipc: boolean;
  /** Resolves when the process does its work; rejects when `signal` aborts. */
  ready: (running: RunningProcess, signal: AbortSignal) => Promise<void>;
  readyWithinMs: number;
  /** Time from SIGTERM to SIGKILL. */
  graceMs: number;
  /** Whether the process is done when it ends with code 0, and is not started again. */
  once?: true;
  /** Called with each message of the process; needs `ipc`. */
  heard?: (message: unknown) => void;
  /**
   * Called each time the process becomes ready; the watch then checks that the process does its work. A process that
   * does not is killed and started again.
   */
  watch?: () => Watch;
}

export interface RunningProcess {
  pid: number;
  /** Resolves when the process has sent `'ready'`; needs `ipc`. */
  saidReady: Promise<void>;
}

export interface ProcessEvents {
  started(pid: number): void;
  /** The process ended without a stop request; it is started again after `delayMs`. */
  died(ending: string, delayMs: number): void;
  /** The process lives but does not do its work, so it is killed; `died` follows. */
  stuck(reason: string): void;
  recovered(tookMs: number): void;
  gone(): void;
}

export interface SupervisedProcess {
  plan: ProcessPlan;
  /**
   * Resolves when the process is ready for the first time. Otherwise throws ExpectedFailure with the end of the
   * process's log.
   */
  start(): Promise<void>;
  tell(message: object): void;
  stop(): Promise<void>;
  kill(): void;
}

const quickMs = 3_000;
// Delay before a restart, by the number of consecutive deaths within 3 s of a start. The first restart comes at once; a
// process that never becomes ready is restarted every 5 s.
const delaysMs = [0, 500, 1_000, 1_500, 1_500, 5_000];
const logLimitBytes = 20_000_000;

export function superviseProcess(plan: ProcessPlan, logFile: string, events: ProcessEvents): SupervisedProcess {
  const stopping = new AbortController();
  let current: ChildProcess | undefined;
  let quickDeaths = 0;
  let keptAlive: Promise<void> = Promise.resolve();

  const begin = (): { child: ChildProcess; ended: Promise<string>; ready: Promise<void> } => {
    const child = spawnInto(plan, logFile);
    current = child;
    const ended = endingOf(child);
    if (child.pid === undefined)
      return { child, ended, ready: ended.then((ending) => Promise.reject(new Error(ending))) };
    events.started(child.pid);
    if (plan.heard) child.on('message', plan.heard);
    return { child, ended, ready: becomeReady(plan, child, child.pid, ended, stopping.signal) };
  };

  const watchOver = (child: ChildProcess, ended: Promise<string>): void => {
    if (plan.watch === undefined) return;
    const died = new AbortController();
    void ended.then(() => died.abort());
    const over = AbortSignal.any([died.signal, stopping.signal]);
    void becomesStuck(plan.watch(), { logFile, ended: over }).then((reason) => {
      if (reason === undefined || over.aborted) return;
      events.stuck(reason);
      signalGroup(child, 'SIGKILL');
    });
  };

  const keepAlive = async (first: Promise<string>, since: number) => {
    let ended = first;
    let began = since;
    for (;;) {
      const ending = await ended;
      const isDone = plan.once === true && current?.exitCode === 0;
      current = undefined;
      if (stopping.signal.aborted) return;
      if (isDone) return events.gone();
      quickDeaths = Date.now() - began < quickMs ? quickDeaths + 1 : 0;
      const delayMs = delaysMs[Math.min(quickDeaths, delaysMs.length) - 1] ?? 0;
      const diedAt = Date.now();
      events.died(ending, delayMs);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;

      const next = begin();
      ended = next.ended;
      // Until the process is ready, its death counts as a quick one, so the delay grows for a process that never
      // becomes ready.
      began = Number.POSITIVE_INFINITY;
      next.ready.then(
        () => {
          began = Date.now();
          events.recovered(began - diedAt);
          watchOver(next.child, next.ended);
        },
        () => stopping.signal.aborted || signalGroup(next.child, 'SIGKILL'),
      );
    }
  };

  return {
    plan,
    async start() {
      const { child, ended, ready } = begin();
      try {
        await ready;
      } catch (error) {
        if (stopping.signal.aborted) throw error;
        stopping.abort();
        await endProcess(child, plan.graceMs);
        events.gone();
        throw failedStart(plan, error, logFile, child.exitCode);
      }
      watchOver(child, ended);
      keptAlive = keepAlive(ended, Date.now());
    },
    tell(message) {
      if (current?.connected) current.send(message);
    },
    async stop() {
      stopping.abort();
      const child = current;
      if (child !== undefined) await endProcess(child, plan.graceMs);
      await keptAlive;
      events.gone();
    },
    kill() {
      stopping.abort();
      if (current !== undefined) signalGroup(current, 'SIGKILL');
    },
  };
}

function spawnInto(plan: ProcessPlan, logFile: string): ChildProcess {
  if (existsSync(logFile) && statSync(logFile).size > logLimitBytes) renameSync(logFile, `${logFile}.1`);
  const log = openSync(logFile, 'a', 0o600);
  try {
    const stdio = ['ignore', log, log, ...(plan.ipc ? (['ipc'] as const) : [])] as const;
    const cwd = plan.cwd === undefined ? {} : { cwd: plan.cwd };
    return spawn(plan.command, plan.args, { ...cwd, env: plan.env, stdio: [...stdio], detached: true });
  } finally {
    closeSync(log);
  }
}

/** Resolves with a text about how the process ended; never rejects. */
function endingOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`could not be started: ${error.message}`));
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `ended with code ${code}` : `was ended by ${signal}`),
    );
  });
}

async function becomeReady(
  plan: ProcessPlan,
  child: ChildProcess,
  pid: number,
  ended: Promise<string>,
  stopped: AbortSignal,
): Promise<void> {
  const over = new AbortController();
  const signal = deadline(plan.readyWithinMs, over.signal, stopped);
  const saidReady = new Promise<void>((resolve) => {
    child.on('message', (message) => message === 'ready' && resolve());
  });
  const late = once(signal, 'abort').then(() => {
    throw new Error(`did not get ready within ${plan.readyWithinMs / 1000} s`);
  });
  const died = ended.then((ending) => {
    throw new Error(ending);
  });
  late.catch(() => undefined);
  died.catch(() => undefined);
  try {
    await Promise.race([plan.ready({ pid, saidReady }, signal), late, died]);
  } finally {
    over.abort();
  }
}

async function endProcess(child: ChildProcess, graceMs: number): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const late = setTimeout(() => signalGroup(child, 'SIGKILL'), graceMs);
  await gone;
  clearTimeout(late);
}

function failedStart(plan: ProcessPlan, error: unknown, logFile: string, exitCode: number | null): ExpectedFailure {
  const tail = existsSync(logFile) ? readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-12) : [];
  const lines = [
    `${plan.title} ${toError(error).message}. The end of ${logFile}:`,
    ...tail.map((line) => `  ${line.slice(0, 500)}`),
  ];
  return new ExpectedFailure(lines.join('\n'), exitCode === 78 ? 78 : 1);
}
