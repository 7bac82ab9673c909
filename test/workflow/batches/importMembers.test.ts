// The order of an import's steps (members, then their passes and events, then the end), and all ways in which it can
// stop early.
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import type { ImportMembers } from '../../../schemas/tables/workflows.js';
import { until } from '../../rig/checks/until.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;
let calls: string[];
let batchId: string;

const stepped = (from: number, over: boolean) => ({
  next: from + 1,
  over,
  total: 3,
  done: from + 1,
  created: from + 1,
  completedMembers: 0,
});

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

beforeEach(() => {
  calls = [];
  batchId = newId();
  worker.fakes.createImported = async ({ from }) => {
    calls.push(`create ${from}`);
    return stepped(from, from === 1);
  };
  worker.fakes.publishImported = async ({ from }) => {
    calls.push(`carry ${from}`);
    return stepped(from, from === 1);
  };
  worker.fakes.finishImport = async ({ failure }) => {
    calls.push(`finish ${failure ?? 'well'}`);
    return { phase: failure === undefined ? 'completed' : 'failed', eventId: 'event-1', unissued: false };
  };
  worker.fakes.publishEvents = async ({ eventIds }) => {
    calls.push(`publish ${eventIds.join()}`);
    return { published: 1 };
  };
  worker.fakes.issueImportedLate = async () => {
    calls.push('issue late');
  };
});

const start = (resume?: ImportMembers['resume']) => {
  const input = { merchantId: 'm', batchId, ...(resume && { resume }) };
  return worker.start('importMembers', input, `import:${batchId}`);
};

const whole = ['create 0', 'create 1', 'carry 0', 'carry 1', 'finish well', 'publish event-1'];

it('an import creates, issues, finishes and publishes, in that order', async () => {
  const handle = await start();
  expect(await handle.result()).toEqual({ phase: 'completed' });
  expect(calls).toEqual(whole);
});

it('an import repeats a step that failed', async () => {
  let failed = false;
  worker.fakes.publishImported = async ({ from }) => {
    if (!failed) {
      failed = true;
      throw new Error('The database is unavailable.');
    }
    calls.push(`carry ${from}`);
    return stepped(from, from === 1);
  };
  await (await start()).result();
  expect(calls).toEqual(whole);
});

it('an import issues and publishes what was created when creating fails for good', async () => {
  worker.fakes.createImported = async ({ from }) => {
    if (from === 1) throw ApplicationFailure.nonRetryable('No such program.', 'PROGRAM_NOT_FOUND');
    return stepped(from, false);
  };
  expect(await (await start()).result()).toEqual({ phase: 'failed' });
  expect(calls).toEqual(['carry 0', 'carry 1', 'finish No such program.', 'publish event-1']);
});

it('an import issues and publishes what was created when an operator cancels it', async () => {
  let created = 0;
  worker.fakes.createImported = async ({ from }) => {
    created += 1;
    return stepped(from, false);
  };
  const handle = await start();
  await until(() => created > 1);
  await worker.client.workflow.getHandle(handle.workflowId).cancel();
  expect(await handle.result()).toEqual({ phase: 'failed' });
  expect(calls).toEqual(['carry 0', 'carry 1', 'finish cancelled', 'publish event-1']);
});

it('an import continues to issue passes that a wallet did not accept after its end was published', async () => {
  worker.fakes.finishImport = async () => ({ phase: 'completed', eventId: 'event-1', unissued: true });
  await (await start()).result();
  expect(calls.slice(-2)).toEqual(['publish event-1', 'issue late']);
});

it('an import continues where an earlier run stopped, with the failure of that run', async () => {
  await (await start({ stage: 'creating', from: 1 })).result();
  expect(calls).toEqual(['create 1', ...whole.slice(2)]);
  calls = [];
  batchId = newId();
  await (await start({ stage: 'publishing', from: 1, failure: 'cancelled' })).result();
  expect(calls).toEqual(['carry 1', 'finish cancelled', 'publish event-1']);
});

it('an import continues as new after many steps', async () => {
  let steps = 0;
  worker.fakes.createImported = async ({ from }) => {
    steps += 1;
    return stepped(from, from === 64);
  };
  const handle = await start();
  expect(await handle.result()).toEqual({ phase: 'completed' });
  expect(steps).toBe(65);
  const last = await worker.client.workflow.getHandle(handle.workflowId).describe();
  expect(last.runId).not.toBe((handle as { firstExecutionRunId?: string }).firstExecutionRunId);
});
