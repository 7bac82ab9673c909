// Folder rules that the linter cannot check, because it looks at one import at a time: indirect imports of a folder.
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Every file of the repository that is imported from `start` directly or indirectly, including type imports. */
function reachedFrom(start: string): Set<string> {
  const reached = new Set([start]);
  for (const file of reached) {
    for (const [, specifier = ''] of readFileSync(join(root, file), 'utf8').matchAll(
      /(?:from|import\()\s*'(\.[^']+)'/g,
    )) {
      const imported = normalize(join(dirname(file), specifier)).replace(/\.js$/, '.ts');
      if (existsSync(join(root, imported))) reached.add(imported);
    }
  }
  return reached;
}

test('the API imports nothing that takes the dependencies of the worker', () => {
  const reached = reachedFrom('api/main.ts');
  expect(reached).toContain('activities/members/changeMember.writes.ts');
  expect([...reached].filter((file) => /^worker\/|^activities\/(index|workerDeps)\.ts$/.test(file))).toEqual([]);
});

test('the worker imports no file of the API', () => {
  const reached = reachedFrom('worker/main.ts');
  expect(reached).toContain('activities/workerDeps.ts');
  expect([...reached].filter((file) => file.startsWith('api/'))).toEqual([]);
});
