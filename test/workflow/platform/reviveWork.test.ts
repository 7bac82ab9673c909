// Lost work of each kind is searched in every run, even when other kinds fail.
import { ApplicationFailure } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;
let looked: string[];

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

beforeEach(() => {
  looked = [];
  const found = (kind: string) => async () => {
    looked.push(kind);
    return { revived: 1 };
  };
  worker.fakes.reviveDeliveries = found('deliveries');
  worker.fakes.revivePushes = found('pushes');
  worker.fakes.reviveIssues = found('issues');
  worker.fakes.reviveMails = found('mails');
  worker.fakes.reviveErasures = found('erasures');
  worker.fakes.reviveBatches = async ({ after }) => {
    looked.push(`batches after ${after}`);
    return { revived: 1, ...(after === undefined && { next: 'batch-1' }) };
  };
});

it('the revival of lost work searches deliveries, pushes, passes, mails and erasures, and the batches page by page', async () => {
  expect(await (await worker.start('reviveWork', {})).result()).toEqual({ revived: 7 });
  expect(looked.toSorted()).toEqual([
    'batches after batch-1',
    'batches after undefined',
    'deliveries',
    'erasures',
    'issues',
    'mails',
    'pushes',
  ]);
});

it('the revival of lost work searches the others when one kind fails', async () => {
  worker.fakes.reviveDeliveries = async () => {
    throw ApplicationFailure.nonRetryable('The rows are wrong.');
  };
  expect(await (await worker.start('reviveWork', {})).result()).toEqual({ revived: 6 });
  expect(looked.toSorted()).toEqual([
    'batches after batch-1',
    'batches after undefined',
    'erasures',
    'issues',
    'mails',
    'pushes',
  ]);
});
