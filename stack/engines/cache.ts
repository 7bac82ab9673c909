// What was fetched or built once serves every later start of this user, and is either whole or absent: it is made in a
// folder beside its place and renamed. Two starts at once make it once; the other one waits.

import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { waitForLock } from '../lock.js';
import type { Task } from '../terminal.js';

export function cacheDirOf(env: NodeJS.ProcessEnv): string {
  if (env.LOYALTY_PASS_CACHE) return env.LOYALTY_PASS_CACHE;
  return join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'loyalty-pass');
}

export interface CachedFile {
  cacheDir: string;
  /** The folder that appears at once or not at all. */
  folder: string;
  /** The program's path inside the folder. */
  program: string;
}

export function cachedPath({ cacheDir, folder, program }: CachedFile): string | undefined {
  const path = join(cacheDir, folder, program);
  return existsSync(path) ? path : undefined;
}

/** Gives the cached program's path; `make` fills a new folder with it when it isn't there. */
export async function intoCache(
  file: CachedFile,
  context: { task: Task; signal: AbortSignal },
  make: (folder: string) => Promise<void>,
): Promise<string> {
  const place = join(file.cacheDir, file.folder);
  mkdirSync(file.cacheDir, { recursive: true });
  const lock = await waitForLock(
    `${place}.lock`,
    () => context.task.say('another start is getting it, waiting for that'),
    context.signal,
  );
  try {
    const ready = cachedPath(file);
    if (ready !== undefined) return ready;
    removeUnfinished(place);
    const draft = await mkdtemp(`${place}.unfinished-`);
    await make(draft);
    rmSync(place, { recursive: true, force: true });
    await rename(draft, place);
    const made = cachedPath(file);
    if (made === undefined) throw new Error(`${file.program} is not among what was fetched or built`);
    return made;
  } finally {
    removeUnfinished(place);
    lock.release();
  }
}

function removeUnfinished(place: string): void {
  for (const name of readdirSync(dirname(place))) {
    if (!name.startsWith(`${basename(place)}.unfinished-`)) continue;
    rmSync(join(dirname(place), name), { recursive: true, force: true });
  }
}
