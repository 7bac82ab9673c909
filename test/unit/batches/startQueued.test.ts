// What becomes of a stored batch whose workflow could not be started.
import { expect, it, vi } from 'vitest';
import { startQueued } from '../../../activities/batches/startBatch.effect.js';
import { Withdrawn } from '../../../platform/fairLimit.js';
import { batchRow } from '../../rig/start/batchRow.js';

async function startFailing(error: Error) {
  const takeBack = vi.fn(async () => true);
  const deps = {
    workflowClient: { start: () => Promise.reject(error) },
    log: { warn: () => {} },
  } as unknown as Parameters<typeof startQueued>[0];
  const batch = batchRow({ merchantId: 'm', kind: 'campaign', phase: 'queued' });
  const outcome = await startQueued(deps, { batch, summary: '', takeBack }).then(
    () => 'kept',
    ({ code }: { code: string }) => code,
  );
  return { outcome, takenBack: takeBack.mock.calls.length };
}

it('a batch is taken back when Temporal did not start it', async () => {
  expect(await startFailing(new Error('Temporal is away.'))).toEqual({ outcome: 'UNAVAILABLE', takenBack: 1 });
});

it('a batch stays queued when its start got no turn among many', async () => {
  expect(await startFailing(new Withdrawn())).toEqual({ outcome: 'kept', takenBack: 0 });
});
