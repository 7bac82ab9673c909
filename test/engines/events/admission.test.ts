// Admission control: which changes get a workflow of their own while workflow tasks wait, while a batch runs, and when
// batches cannot be read.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Admission, createAdmission } from '../../../api/http/admission.js';
import type { Deps } from '../../../platform/deps.js';
import { removeAll } from '../../../platform/mongodb/updateMany.js';
import type { BatchRow } from '../../../schemas/batches/batches.rows.js';
import type { BatchPhase } from '../../../schemas/batches/batches.schema.js';
import { newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let deps: Deps;

beforeAll(async () => {
  service = await startService({ worker: false, env: { CHANGE_WORKFLOWS_PER_SECOND: '100' } });
  deps = service.deps;
});
afterEach(() => removeAll(deps, 'batches', {}));
afterAll(() => service.stop());

/** The clock moves by 500 ms with each call, so that each call looks for running batches. */
function anAdmission(given: Pick<Deps, 'collections' | 'config' | 'log'> = deps, backlogMs = () => 0): Admission {
  let nowMs = 0;
  return createAdmission({ ...given, workflowClient: { backlogMs } }, () => {
    nowMs += 500;
    return nowMs;
  });
}

async function aBatch(phase: BatchPhase): Promise<string> {
  const _id = newId();
  await deps.collections.batches.insertOne({ _id, merchantId: 'somebody', phase, startedAt: new Date() } as BatchRow);
  return _id;
}

describe('a change', () => {
  it('gets no workflow while workflow tasks have waited for more than 1 s, or 10 s when its answer waits for a push', () => {
    let backlogMs = 0;
    const admission = anAdmission(deps, () => backlogMs);
    expect([admission.admit(false), admission.admit(true)]).toEqual([true, true]);
    backlogMs = 1_500;
    expect([admission.admit(false), admission.admit(true)]).toEqual([false, true]);
    backlogMs = 10_500;
    expect([admission.admit(false), admission.admit(true)]).toEqual([false, false]);
    backlogMs = 0;
    expect([admission.admit(false), admission.admit(true)]).toEqual([true, true]);
  });

  it.each(['creating', 'publishing', 'running'] as const)(
    'gets no workflow while a batch is %s, unless its answer waits for a push',
    async (phase) => {
      const admission = anAdmission();
      expect(admission.admit(false)).toBe(true);
      const _id = await aBatch(phase);
      await until(() => !admission.admit(false));
      expect(admission.admit(true)).toBe(true);
      await deps.collections.batches.updateOne({ _id }, { $set: { phase: 'completed' } });
      await until(() => admission.admit(false));
    },
  );

  it.each(['storing', 'queued', 'completed', 'failed', 'cancelled'] as const)(
    'gets a workflow while a batch is %s',
    async (phase) => {
      await aBatch(phase);
      const admission = anAdmission();
      for (let count = 0; count < 20; count += 1) {
        expect(admission.admit(false)).toBe(true);
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    },
  );

  it('gets a workflow when the batches cannot be read', async () => {
    const refusing = deps.mongo.db().collection<BatchRow>('$not.a.name');
    const admission = anAdmission({ ...deps, collections: { ...deps.collections, batches: refusing } });
    expect(admission.admit(false)).toBe(true);
  });
});
