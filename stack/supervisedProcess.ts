// One process of the stack over all of its lives: it is started again when it dies unasked, and its pid is always the
// process itself. It stands in a group of its own, so a terminal's Ctrl-C reaches only the supervisor.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ExpectedFailure } from './expectedFailure.js';

export interface ProcessPlan {
  /** Key among the pids and the log's name. */
  name: string;
  /** Its name for people. */
  title: string;
  command: string;
  args: string[];
  /** Where it runs; here by default. */
  cwd?: string;
  env: NodeJS.ProcessEnv;
  /** With a channel for messages: for processes of ours. */
  ipc: boolean;
  /** Resolves when the process does its work; gives up when `signal` aborts. */
  ready: (running: RunningProcess, signal: AbortSignal) => Promise<void>;
  readyWithinMs: number;
  /** How long it may take from SIGTERM to its end. */
  graceMs: number;
}

export interface RunningProcess {
  pid: number;
  /** Resolves when the process has sent `'ready'`; only with `ipc`. */
  saidReady: Promise<void>;
}

export interface ProcessEvents {
  started(pid: number): void;
  /** It died unasked; the next life begins after `delayMs`. */
  died(ending: string, delayMs: number): void;
  recovered(tookMs: number): void;
  gone(): void;
}

export interface SupervisedProcess {
  plan: ProcessPlan;
  /** Resolves when its first life is ready; throws ExpectedFailure with the end of its log. */
  start(): Promise<void>;
  stop(): Promise<void>;
  kill(): void;
}

const quickMs = 3_000;
// Deaths in a row that came quickly: the first is answered at once, and a process that never comes up is not spun.
const delaysMs = [0, 500, 1_000, 1_500, 1_500, 5_000];
const logLimitBytes = 20_000_000;

export function superviseProcess(plan: ProcessPlan, logFile: string, events: ProcessEvents): SupervisedProcess {
  const stopping = new AbortController();
  let current: ChildProcess | undefined;
  let quickDeaths = 0;
  let lives: Promise<void> = Promise.resolve();

  const begin = (): { child: ChildProcess; ended: Promise<string>; ready: Promise<void> } => {
    const child = spawnInto(plan, logFile);
    current = child;
    const ended = endingOf(child);
    if (child.pid === undefined)
      return { child, ended, ready: ended.then((ending) => Promise.reject(new Error(ending))) };
    events.started(child.pid);
    return { child, ended, ready: becomeReady(plan, child, child.pid, ended, stopping.signal) };
  };

  const live = async (first: Promise<string>, since: number) => {
    let ended = first;
    let began = since;
    for (;;) {
      const ending = await ended;
      current = undefined;
      if (stopping.signal.aborted) return;
      quickDeaths = Date.now() - began < quickMs ? quickDeaths + 1 : 0;
      const delayMs = delaysMs[Math.min(quickDeaths, delaysMs.length) - 1] ?? 0;
      const diedAt = Date.now();
      events.died(ending, delayMs);
      await sleep(delayMs, undefined, { signal: stopping.signal }).catch(() => undefined);
      if (stopping.signal.aborted) return;

      const next = begin();
      ended = next.ended;
      // Until it is ready its life counts as not begun, so that one that never comes up is started ever more slowly.
      began = Number.POSITIVE_INFINITY;
      next.ready.then(
        () => {
          began = Date.now();
          events.recovered(began - diedAt);
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
      lives = live(ended, Date.now());
    },
    async stop() {
      stopping.abort();
      const child = current;
      if (child !== undefined) await endProcess(child, plan.graceMs);
      await lives;
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

/** How the process ended, in words; never rejects. */
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
  const signal = AbortSignal.any([over.signal, stopped, AbortSignal.timeout(plan.readyWithinMs)]);
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

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is empty already.
  }
}

function failedStart(plan: ProcessPlan, error: unknown, logFile: string, exitCode: number | null): ExpectedFailure {
  const reason = error instanceof Error ? error.message : String(error);
  const tail = existsSync(logFile) ? readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-12) : [];
  const lines = [`${plan.title} ${reason}. The end of ${logFile}:`, ...tail.map((line) => `  ${line.slice(0, 500)}`)];
  return new ExpectedFailure(lines.join('\n'), exitCode === 78 ? 78 : 1);
}
