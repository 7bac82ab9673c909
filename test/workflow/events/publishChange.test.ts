// After a change of a member the wallets are pushed, which completes the API's wait, then the event is published. An
// unavailable wallet does not delay the event, and an unavailable receiver does not delay the push.
import { WithStartWorkflowOperation } from '@temporalio/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import type { PassUpdate } from '../../../schemas/shared/passUpdate.schema.js';
import { passUpdateName, taskQueues } from '../../../schemas/tables/workflows.js';
import { until } from '../../rig/checks/until.js';
import { aGate } from '../../rig/standins/gate.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

let worker: WorkflowWorker;
let calls: string[];
let workflowId: string;

const pushed: PassUpdate = {
  serialNumber: 'serial-1',
  lastUpdateTag: '2026-11-21T04:00:00.000Z',
  rebuilt: true,
  apple: { devicesNotified: 1, devicesAttempted: 1, mode: 'real' },
  google: { objectPatched: false, mode: 'stub' },
};
const input = { merchantId: 'm', eventIds: ['event-1'] };

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

/**
 * Records the calls for this test's workflow. A local activity may run again after a workflow task that took too long.
 */
function note(leaseOwner: string, call: string): void {
  if (leaseOwner === workflowId && calls.at(-1) !== call) calls.push(call);
}

beforeEach(() => {
  calls = [];
  workflowId = `points:${newId()}:key-0001`;
  worker.fakes.pushPasses = async ({ leaseOwner, eventIds }) => {
    note(leaseOwner, `push ${eventIds.join()}`);
    return { passUpdates: { 'event-1': pushed }, newEventIds: ['pass-1'], late: [] };
  };
  worker.fakes.publishEvents = async ({ leaseOwner, eventIds }) => {
    note(leaseOwner, `publish ${eventIds.join()}`);
    return { published: eventIds.length };
  };
  worker.fakes.pushLate = async ({ leaseOwner, eventIds }) => {
    note(leaseOwner, `push late ${eventIds.join()}`);
    return { newEventIds: [] };
  };
});

const handle = () => worker.client.workflow.getHandle(workflowId);
const start = () => worker.start('publishChange', input, workflowId);

/** The request of the API: starts the workflow if needed, and is answered when the wallets were pushed. */
function ask(updateId: string = passUpdateName): Promise<unknown> {
  const startWorkflowOperation = new WithStartWorkflowOperation('publishChange', {
    workflowId,
    taskQueue: taskQueues.workflows,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return worker.client.workflow.executeUpdateWithStart(passUpdateName, { updateId, startWorkflowOperation });
}

describe('a change', () => {
  it('is pushed to the wallets, then published, together with the events of the push itself', async () => {
    expect(await (await start()).result()).toEqual({ pushed: true, published: 2 });
    expect(calls).toEqual(['push event-1', 'publish event-1,pass-1']);
  });

  it('answers the caller when the wallets were pushed, before the event is published', async () => {
    const { open: finish, opened: held } = aGate();
    worker.fakes.publishEvents = async ({ leaseOwner }) => {
      await held;
      note(leaseOwner, 'published');
      return { published: 1 };
    };
    expect(await ask()).toEqual(pushed);
    expect(calls).not.toContain('published');
    finish();
    await handle().result();
    expect(calls).toContain('published');
  });

  it('answers a second caller like the first, at the same time and after its end, and is pushed once', async () => {
    expect(await Promise.all([ask(), ask()])).toEqual([pushed, pushed]);
    await handle().result();
    const { runId } = await handle().describe();
    expect(await ask()).toEqual(pushed);
    expect((await handle().describe()).runId).toBe(runId);
    expect(calls).toEqual(['push event-1', 'publish event-1,pass-1']);
  });

  it('of an event with another lease owner answers null', async () => {
    worker.fakes.pushPasses = async () => ({ passUpdates: {}, newEventIds: [], late: [] });
    expect(await ask()).toBeNull();
    await handle().result();
  });
});

describe('a push that fails', () => {
  it('answers null, is repeated until it is accepted, and does not delay the event', async () => {
    worker.fakes.pushPasses = async ({ leaseOwner }) => {
      note(leaseOwner, 'push failed');
      throw new Error('The wallets are unavailable.');
    };
    let attempts = 0;
    worker.fakes.pushLate = async ({ leaseOwner }) => {
      attempts += 1;
      if (attempts === 1) throw new Error('Still unavailable.');
      note(leaseOwner, 'pushed late');
      return { newEventIds: ['pass-2'] };
    };
    expect(await ask()).toBeNull();
    expect(await handle().result()).toEqual({ pushed: false, published: 1 });
    expect(attempts).toBe(2);
    expect(calls).toEqual(['push failed', 'publish event-1', 'pushed late', 'publish pass-2']);
  });

  it('for one wallet only is repeated for that wallet, and the event is published at once', async () => {
    worker.fakes.pushPasses = async () => ({ passUpdates: {}, newEventIds: [], late: ['event-1'] });
    expect(await ask()).toBeNull();
    await handle().result();
    expect(calls.sort()).toEqual(['publish event-1', 'push late event-1']);
  });

  it('publishes its events after those of the first push, so that none is sent twice', async () => {
    worker.fakes.pushPasses = async () => ({ passUpdates: {}, newEventIds: ['pass-1'], late: ['event-1'] });
    worker.fakes.pushLate = async () => ({ newEventIds: ['pass-1'] });
    const { open: finish, opened: held } = aGate();
    worker.fakes.publishEvents = async ({ leaseOwner, eventIds }) => {
      note(leaseOwner, `publish ${eventIds.join()}`);
      await held;
      return { published: eventIds.length };
    };
    await ask();
    await until(() => calls.length > 0);
    await until(async () => {
      const { events = [] } = await handle().fetchHistory();
      const pushedAt = events?.findIndex((event) => event.activityTaskCompletedEventAttributes) ?? -1;
      return pushedAt >= 0 && events?.slice(pushedAt).some((event) => event.workflowTaskCompletedEventAttributes);
    });
    expect(calls).toEqual(['publish event-1,pass-1']);
    finish();
    await handle().result();
    expect(calls).toEqual(['publish event-1,pass-1', 'publish pass-1']);
  });

  it('is repeated for a day, at least once a minute', async () => {
    worker.fakes.pushPasses = async () => ({ passUpdates: {}, newEventIds: [], late: ['event-1'] });
    await ask();
    await handle().result();
    const { events = [] } = await handle().fetchHistory();
    const late = events
      ?.map((event) => event.activityTaskScheduledEventAttributes)
      .find((scheduled) => scheduled?.activityType?.name === 'pushLate');
    expect(Number(late?.scheduleToCloseTimeout?.seconds)).toBe(86_400);
    expect(late?.retryPolicy?.maximumAttempts ?? 0).toBe(0);
    expect(Number(late?.retryPolicy?.maximumInterval?.seconds)).toBeLessThanOrEqual(60);
  });
});

describe('publishing that fails', () => {
  it('is repeated, without a second push', async () => {
    let failed = false;
    const { publishEvents } = worker.fakes;
    worker.fakes.publishEvents = async (claim) => {
      if (!failed) {
        failed = true;
        throw new Error('The database is unavailable.');
      }
      if (!publishEvents) throw new Error('No step.');
      return publishEvents(claim);
    };
    expect(await (await start()).result()).toEqual({ pushed: true, published: 2 });
    expect(calls).toEqual(['push event-1', 'publish event-1,pass-1']);
  });

  it('after it was done is repeated, and its activity answers as the first time', async () => {
    const published = new Set<string>();
    let lost = false;
    worker.fakes.publishEvents = async ({ leaseOwner, eventIds }) => {
      const before = published.size;
      for (const id of eventIds) published.add(id);
      note(leaseOwner, `publish ${published.size - before} new`);
      if (!lost) {
        lost = true;
        throw new Error('Done, but its completion was lost.');
      }
      return { published: published.size };
    };
    expect(await (await start()).result()).toEqual({ pushed: true, published: 2 });
    expect(calls.slice(1)).toEqual(['publish 2 new', 'publish 0 new']);
  });
});
