// Reads the processor time (all threads) and the resident memory of a process from /proc.
import { readdirSync, readFileSync } from 'node:fs';
import { setInterval as everyTick } from 'node:timers/promises';
import { type PerProcess, processNames, round } from './row.js';

/** Linux reports processor time in hundredths of a second, whatever the kernel's clock rate. */
const ticksPerSecond = 100;

export type Pids = PerProcess;

interface Stat {
  parent: number;
  own: number;
  /** Of children that ended, and of theirs. */
  ended: number;
}

function statOf(pid: number | string): Stat {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The name in parentheses may contain spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const seconds = (at: number) => (Number(fields[at]) + Number(fields[at + 1])) / ticksPerSecond;
  return { parent: Number(fields[1]), own: seconds(11), ended: seconds(13) };
}

export const cpuSecondsOf = (pid: number): number => statOf(pid).own;

/** The processor time of these processes and of all that they started, also of those that ended. */
export function treeSecondsOf(pids: readonly number[]): number {
  const stats = new Map<number, Stat>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      stats.set(Number(name), statOf(name));
    } catch {
      // It ended in between.
    }
  }
  const isWithin = (pid: number): boolean => {
    const parent = stats.get(pid)?.parent;
    return pids.includes(pid) || (parent !== undefined && isWithin(parent));
  };
  return [...stats].reduce((sum, [pid, { own, ended }]) => sum + (isWithin(pid) ? own + ended : 0), 0);
}

function residentMbOf(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kilobytes ?? 0) / 1_024;
}

function each(pids: Pids, read: (pid: number) => number): PerProcess {
  return Object.fromEntries(
    processNames.flatMap((name) => {
      const pid = pids[name];
      return pid === undefined ? [] : [[name, read(pid)]];
    }),
  );
}

export const memoryOf = (pids: Pids): PerProcess => each(pids, (pid) => Math.round(residentMbOf(pid)));

/** The peak memory of each process in MB while `work` ran. */
export async function peakWhile<T>(pids: Pids, work: () => Promise<T>): Promise<{ made: T; peak: PerProcess }> {
  const done = new AbortController();
  const peak: PerProcess = {};
  const watching = (async () => {
    for await (const _ of everyTick(20, undefined, { signal: done.signal })) {
      const now = memoryOf(pids);
      for (const name of processNames) if (now[name]) peak[name] = Math.max(peak[name] ?? 0, now[name]);
    }
  })().catch(() => {});
  try {
    return { made: await work(), peak };
  } finally {
    done.abort();
    await watching;
  }
}

/** Returns a function that returns the CPU seconds of each process since this call. */
export function cpuMeter(pids: Pids): () => PerProcess {
  const before = each(pids, cpuSecondsOf);
  return () => {
    const now = each(pids, cpuSecondsOf);
    return Object.fromEntries(
      Object.entries(now).map(([name, seconds]) => [name, seconds - (before[name as keyof PerProcess] ?? 0)]),
    );
  };
}

export function perThousand(cpu: PerProcess, operations: number): PerProcess {
  return Object.fromEntries(
    Object.entries(cpu).map(([name, seconds]) => [name, round((seconds / operations) * 1_000)]),
  );
}

export function added(one: PerProcess, other: PerProcess): PerProcess {
  return Object.fromEntries(
    processNames.flatMap((name) => {
      const sum = (one[name] ?? 0) + (other[name] ?? 0);
      return name in one || name in other ? [[name, sum]] : [];
    }),
  );
}
