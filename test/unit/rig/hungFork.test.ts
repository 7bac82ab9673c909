// The watch of a fork: one that stands still is ended, with the name of what it ran; one that only waits is left alone.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { watchHungFork } from '../../rig/checks/hungFork.js';

const run = promisify(execFile);

/** Runs the lines in a process that is ended when it stands still for two seconds. */
const watched = (lines: string) =>
  run(process.execPath, [
    ...['--import', 'tsx', '--input-type=module', '--eval'],
    `import { ${watchHungFork.name} } from './test/rig/checks/hungFork.js';
     const watch = watchHungFork(2_000);
     watch.doing('test/some.test.ts: a title');
     ${lines}`,
  ]);

it('ends a process that stands still, and prints what it ran', async () => {
  const hung = watched('Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);');
  await expect(hung).rejects.toMatchObject({
    signal: 'SIGKILL',
    stderr: expect.stringContaining('A fork stood still for 2 s and was ended'),
  });
  await expect(hung).rejects.toMatchObject({ stderr: expect.stringContaining('It ran: test/some.test.ts: a title') });
});

it('leaves a process alone that waits longer than the limit, and does not keep it alive', async () => {
  await expect(watched("setTimeout(() => console.log('done'), 4_000);")).resolves.toMatchObject({ stdout: 'done\n' });
});
