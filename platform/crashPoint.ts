// Named points at which a process kills itself when a crash test sets CRASH_AT.
import { writeFileSync } from 'node:fs';

/**
 * `CRASH_AT=name` kills the process at that point every time. `CRASH_AT=name@file` kills it once: the process creates
 * the file first, and a process that finds the file continues. Several points are separated by commas.
 */
export function createCrashPoint(setting: string | undefined): (name: CrashPoint) => void {
  if (!setting) return () => {};
  const marks = new Map(
    setting.split(',').map((point) => {
      const [name = '', mark] = point.split('@');
      return [name, mark] as const;
    }),
  );
  return (name) => {
    if (!marks.has(name)) return;
    const mark = marks.get(name);
    if (mark !== undefined && !leaveMark(mark)) return;
    process.kill(process.pid, 'SIGKILL');
  };
}

/** Returns false when the file exists already (or cannot be written). */
function leaveMark(mark: string): boolean {
  try {
    writeFileSync(mark, String(process.pid), { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

export const crashPoints = [
  'before-commit',
  'after-commit',
  'before-workflow-start',
  'after-workflow-start',
  'after-push-before-record',
  'after-post-before-log',
  'after-log-before-mark',
  'after-mail-before-mark',
  'mid-chunk',
  'mid-list',
  'mid-expiry',
  'mid-erasure',
  'before-erasure-end',
  'mid-upload',
  'between-relay-read-and-write',
] as const;

export type CrashPoint = (typeof crashPoints)[number];
