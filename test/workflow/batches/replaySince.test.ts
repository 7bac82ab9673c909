// A test of the rig: the replay at the end of each file finds code that takes other steps, and stores the history.
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, inject, it } from 'vitest';
import { replaySince } from '../../rig/start/service.js';
import { startWorkflowWorker } from '../../rig/start/workflowWorker.js';

it('code that takes other steps than an execution fails the replay, and the history is stored', async () => {
  const startedAt = new Date();
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-replay-'));
  const worker = await startWorkflowWorker();
  try {
    worker.fakes.recountMerchants = async () => ({ merchants: 1, repaired: 0 });
    const handle = await worker.start('recount', {});
    await handle.result();
    const changed = join(folder, 'workflows.cjs');
    const today = await readFile(inject('workflowBundle'), 'utf8');
    await writeFile(changed, today.replaceAll('recountMerchants', 'recountNobody'));

    const failure = await replaySince(worker.client, startedAt, changed).catch(String);
    expect(failure).toContain(`${handle.workflowId} does not replay`);
    const file = /\(its history: (.+)\)$/.exec(String(failure))?.[1] ?? '';
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ events: expect.any(Array) });
    await rm(file);
  } finally {
    await worker.stop();
    await rm(folder, { recursive: true, force: true });
  }
});
