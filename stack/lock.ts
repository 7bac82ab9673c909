// A lock between processes: at most one holder. The lock file names its holder, and the next caller replaces the file
// of a dead holder, so a killed process does not block the lock. The file is created by a hard link and replaced by a
// rename, so readers never see half of it. Not proper-lockfile: its file names no holder, and a paused holder
// counts as dead.
import { randomUUID } from 'node:crypto';
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { parseJson } from '../platform/parseJson.js';
import { identityOf, isAlive, type ProcessIdentity } from './processIdentity.js';
import { isSystemError } from './systemError.js';

const identitySchema = z.object({ pid: z.number().int(), startMark: z.string() });
const recordSchema = z.object({
  holder: identitySchema,
  children: z.array(identitySchema.extend({ name: z.string() })),
});

export interface NamedProcess extends ProcessIdentity {
  name: string;
}

export interface Lock {
  /** Children of earlier holders that died before they ended these children. */
  leftBehind: NamedProcess[];
  /**
   * Stores the holder's children in the lock file. The process that takes over the lock of a killed holder finds them
   * in `leftBehind`.
   */
  record(children: NamedProcess[]): void;
  release(): void;
}

/** Takes the lock, or returns its present holder. */
export function tryLock(path: string): { lock: Lock } | { heldBy: ProcessIdentity } {
  const holder = identityOf(process.pid);
  if (holder === undefined) throw new Error('This system does not tell when a process began, so locks cannot be kept.');
  const leftBehind: NamedProcess[] = [];
  const write = (to: string, children: NamedProcess[]) =>
    writeFileSync(to, JSON.stringify({ holder, children }), { mode: 0o600 });

  for (;;) {
    const draft = `${path}.${randomUUID()}`;
    write(draft, leftBehind);
    try {
      linkSync(draft, path);
      const record = (children: NamedProcess[]) => {
        write(draft, children);
        renameSync(draft, path);
      };
      return { lock: { leftBehind, record, release: () => rmSync(path, { force: true }) } };
    } catch (error) {
      if (!isSystemError(error, 'EEXIST')) throw error;
    } finally {
      rmSync(draft, { force: true });
    }

    const text = readIfThere(path);
    if (text === undefined) continue;
    const found = recordSchema.safeParse(parseJson(text)).data;
    if (found !== undefined && isAlive(found.holder)) return { heldBy: found.holder };
    if (removeStale(path, text)) leftBehind.push(...(found?.children ?? []));
  }
}

/** Takes the lock as soon as it is free. Calls `onWait` once when another process holds it. */
export async function waitForLock(path: string, onWait: () => void, signal?: AbortSignal): Promise<Lock> {
  for (let waited = false; ; waited = true) {
    const result = tryLock(path);
    if ('lock' in result) return result.lock;
    if (!waited) onWait();
    await sleep(250, undefined, signal === undefined ? {} : { signal });
  }
}

// Two processes may find the same dead holder. The one that moves the file away compares it with what it had read. When
// the other process was faster and the file is already that process's lock, the file is put back.
function removeStale(path: string, expected: string): boolean {
  const aside = `${path}.${randomUUID()}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return false;
    throw error;
  }
  const taken = readIfThere(aside) === expected;
  try {
    if (!taken) linkSync(aside, path);
  } catch (error) {
    if (!isSystemError(error, 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
  return taken;
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isSystemError(error, 'ENOENT')) return undefined;
    throw error;
  }
}
