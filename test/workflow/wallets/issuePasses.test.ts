// After an enrollment both passes are issued at the same time, then the events are published. A wallet that fails is
// reported as failed and issued later.
import { WithStartWorkflowOperation } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { enrollId, newId } from '../../../schemas/shared/ids.js';
import { passIssuanceName, taskQueues } from '../../../schemas/tables/workflows.js';
import { aGate } from '../../rig/standins/gate.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;
let calls: string[];
let memberId: string;

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

const issued = (platform: string) => async (input: { memberIds: readonly string[]; leaseOwner: string }) => {
  // A local activity may run again after a workflow task that took too long.
  if (!calls.includes(`issue ${platform}`)) calls.push(`issue ${platform}`);
  expect(input).toEqual({ memberIds: [memberId], leaseOwner: enrollId(memberId) });
  return { newEventIds: [`${platform}-created`] };
};

/** Fails `times` times, then calls `work`. */
function failing<I, O>(times: number, work: (input: I) => Promise<O>): (input: I) => Promise<O> {
  let left = times;
  return async (input) => {
    left -= 1;
    if (left >= 0) throw new Error('The wallet is unavailable.');
    return work(input);
  };
}

beforeEach(() => {
  calls = [];
  memberId = newId();
  worker.fakes.issueApplePasses = issued('apple');
  worker.fakes.issueGooglePasses = issued('google');
  worker.fakes.issueLate = failing(1, async ({ memberIds }: { memberIds: string[] }) => {
    expect(memberIds).toEqual([memberId]);
    calls.push('issue what is missing');
  });
  worker.fakes.publishEvents = async ({ eventIds }) => {
    calls.push(`publish ${eventIds.join()}`);
    return { published: eventIds.length };
  };
});

const input = () => ({ merchantId: 'm', memberId, eventId: 'created' });
const run = async () => (await worker.start('issuePasses', input(), enrollId(memberId))).result();

/** The request of the public page. */
function ask(): Promise<unknown> {
  const startWorkflowOperation = new WithStartWorkflowOperation('issuePasses', {
    workflowId: enrollId(memberId),
    taskQueue: taskQueues.workflows,
    args: [input()],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return worker.client.workflow.executeUpdateWithStart(passIssuanceName, {
    updateId: passIssuanceName,
    startWorkflowOperation,
  });
}

describe('both passes', () => {
  it('are issued, then published with their member', async () => {
    expect(await run()).toEqual({ apple: true, google: true });
    expect(calls.slice(0, 2).sort()).toEqual(['issue apple', 'issue google']);
    expect(calls.slice(2)).toEqual(['publish created,apple-created,google-created']);
  });

  it('that exist already cause no further event', async () => {
    worker.fakes.issueApplePasses = async () => ({ newEventIds: [] });
    worker.fakes.issueGooglePasses = async () => ({ newEventIds: [] });
    expect(await run()).toEqual({ apple: true, google: true });
    expect(calls).toEqual(['publish created']);
  });

  it('answer the waiting page before the events are published', async () => {
    const { open: finish, opened: held } = aGate();
    worker.fakes.publishEvents = async () => {
      await held;
      calls.push('published');
      return { published: 3 };
    };
    expect(await ask()).toEqual({ apple: true, google: true });
    expect(calls).not.toContain('published');
    finish();
    await worker.client.workflow.getHandle(enrollId(memberId)).result();
    expect(await ask()).toEqual({ apple: true, google: true });
  });
});

describe('a wallet that fails', () => {
  it.each(['apple', 'google'] as const)('(%s) is reported as failed at once, and issued later', async (platform) => {
    const name = platform === 'apple' ? 'issueApplePasses' : 'issueGooglePasses';
    const other = platform === 'apple' ? 'google' : 'apple';
    worker.fakes[name] = failing(1, issued(platform));
    expect(await ask()).toEqual({ apple: platform !== 'apple', google: platform !== 'google' });
    await worker.client.workflow.getHandle(enrollId(memberId)).result();
    expect(calls).toEqual([`issue ${other}`, `publish created,${other}-created`, 'issue what is missing']);
  });

  it('together with the other one does not delay the event either', async () => {
    worker.fakes.issueApplePasses = failing(1, issued('apple'));
    worker.fakes.issueGooglePasses = failing(1, issued('google'));
    expect(await run()).toEqual({ apple: false, google: false });
    expect(calls).toEqual(['publish created', 'issue what is missing']);
  });
});

it('publishing that fails is repeated, and no pass is issued twice', async () => {
  const { publishEvents } = worker.fakes;
  if (!publishEvents) throw new Error('No step.');
  worker.fakes.publishEvents = failing(1, publishEvents);
  expect(await run()).toEqual({ apple: true, google: true });
  expect(calls.filter((call) => call.startsWith('issue'))).toHaveLength(2);
});
