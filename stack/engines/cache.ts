// Caches downloaded and built engines for all later starts of this user. An entry is either complete or absent: it is
// made in a temporary folder next to its final place and then renamed. When two starts need the same entry, one of them
// makes it and the other one waits.
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
  /** The folder of the entry; it appears with one rename. */
  folder: string;
  /** The program's path inside the folder. */
  program: string;
}

export function cachedPath({ cacheDir, folder, program }: CachedFile): string | undefined {
  const path = join(cacheDir, folder, program);
  return existsSync(path) ? path : undefined;
}

/**
 * Returns the cached program's path. When the entry is absent, `make` fills a new folder with it first. Throws when
 * `make` fails or does not produce the program.
 */
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
