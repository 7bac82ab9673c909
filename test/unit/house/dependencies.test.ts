// Installed packages: the lock file works on all platforms, and with every registry.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { z } from 'zod';

const read = (path: string) => readFileSync(join(import.meta.dirname, '..', '..', '..', path), 'utf8');
const names = z.record(z.string(), z.string()).default({});

const lock = z
  .object({ packages: z.record(z.string(), z.object({ version: z.string().optional(), optionalDependencies: names })) })
  .parse(JSON.parse(read('package-lock.json')));

/** Searches as Node does: next to the package, then further up. */
function isLocked(from: string, name: string): boolean {
  const folders = from.split('/node_modules/');
  return folders.some((_, index) => {
    const above = folders.slice(0, folders.length - index).join('/node_modules/');
    return `${above}/node_modules/${name}` in lock.packages || `node_modules/${name}` in lock.packages;
  });
}

it('the lock file has the packages of other platforms, too, without which npm ci would refuse it there', () => {
  const missing = Object.entries(lock.packages).flatMap(([from, { optionalDependencies }]) =>
    Object.keys(optionalDependencies).filter((name) => !isLocked(from, name)),
  );
  expect(missing).toEqual([]);
});

it.each(['package-lock.json', 'test/bench/engines/package-lock.json'])(
  '%s names no registry, so every user installs from their own',
  (path) => {
    expect(read(path)).not.toMatch(/"resolved": "https?:/);
  },
);
