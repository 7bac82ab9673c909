// After a change of a member the wallets are pushed, then the event is published, both in one workflow task. An
// unavailable wallet does not delay the event, and an unavailable receiver does not delay the push.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import type { PassUpdate } from '../../../schemas/shared/passUpdate.schema.js';
import { actionsOf } from '../../rig/checks/actions.js';
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
  worker.fakes.publishNow = async ({ leaseOwner, eventIds }) => {
    note(leaseOwner, `publish ${eventIds.join()}`);
    return { published: eventIds.length };
  };
  worker.fakes.publishEvents = async ({ leaseOwner, eventIds }) => {
    note(leaseOwner, `publish again ${eventIds.join()}`);
    return { published: eventIds.length };
  };
  worker.fakes.pushLate = async ({ leaseOwner, eventIds }) => {
    note(leaseOwner, `push late ${eventIds.join()}`);
    return { newEventIds: [] };
  };
});

const handle = () => worker.client.workflow.getHandle(workflowId);
const start = () => worker.start('announceChange', input, workflowId);

describe('a change', () => {
  it('is pushed to the wallets, then published, together with the events of the push itself', async () => {
    expect(await (await start()).result()).toEqual({ pushed: true, published: 2 });
    expect(calls).toEqual(['push event-1', 'publish event-1,pass-1']);
  });

  it('costs one workflow task, and two actions', async () => {
    await (await start()).result();
    const { events } = await handle().fetchHistory();
    expect(events?.filter((event) => event.workflowTaskCompletedEventAttributes)).toHaveLength(1);
    expect(actionsOf(events ?? [])).toBe(2);
  });

  it('of an event with another lease owner is not pushed', async () => {
    worker.fakes.pushPasses = async () => ({ passUpdates: {}, newEventIds: [], late: [] });
    worker.fakes.publishNow = async () => ({ published: 0 });
    expect(await (await start()).result()).toEqual({ pushed: false, published: 0 });
  });
});

describe('a push that fails', () => {
  it('is repeated until it is accepted, and does not delay the event', async () => {
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
    expect(await (await start()).result()).toEqual({ pushed: false, published: 1 });
    expect(attempts).toBe(2);
    expect(calls).toEqual(['push failed', 'publish event-1', 'pushed late', 'publish again pass-2']);
  });

  it('for one wallet only is repeated for that wallet, and the event is published at once', async () => {
    worker.fakes.pushPasses = async () => ({ passUpdates: {}, newEventIds: [], late: ['event-1'] });
    await (await start()).result();
    expect(calls).toEqual(['publish event-1', 'push late event-1']);
  });

  it('publishes its events after those of the first push, so that none is sent twice', async () => {
    worker.fakes.pushPasses = async () => ({ passUpdates: {}, newEventIds: ['pass-1'], late: ['event-1'] });
    worker.fakes.pushLate = async () => ({ newEventIds: ['pass-1'] });
    const { open: finish, opened: held } = aGate();
    worker.fakes.publishNow = async ({ leaseOwner, eventIds }) => {
      note(leaseOwner, `publish ${eventIds.join()}`);
      await held;
      return { published: eventIds.length };
    };
    await start();
    await until(() => calls.length > 0);
    await until(async () => {
      const { events } = await handle().fetchHistory();
      return events?.some((event) => event.activityTaskCompletedEventAttributes);
    });
    expect(calls).toEqual(['publish event-1,pass-1']);
    finish();
    await handle().result();
    expect(calls).toEqual(['publish event-1,pass-1', 'publish again pass-1']);
  });

  it('is repeated for a day, at least once a minute', async () => {
    worker.fakes.pushPasses = async () => ({ passUpdates: {}, newEventIds: [], late: ['event-1'] });
    await (await start()).result();
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
  const unavailable = () => Promise.reject(new Error('The database is unavailable.'));

  it('is repeated by an activity until it succeeds, without a second push', async () => {
    worker.fakes.publishNow = unavailable;
    let failures = 1;
    worker.fakes.publishEvents = async ({ leaseOwner, eventIds }) => {
      failures -= 1;
      if (failures >= 0) return unavailable();
      note(leaseOwner, `publish again ${eventIds.join()}`);
      return { published: eventIds.length };
    };
    expect(await (await start()).result()).toEqual({ pushed: true, published: 2 });
    expect(calls).toEqual(['push event-1', 'publish again event-1,pass-1']);
  });

  it('after it was done is repeated, and the repetition answers as the first time', async () => {
    const published = new Set<string>();
    const publish = async ({ leaseOwner, eventIds }: { leaseOwner: string; eventIds: readonly string[] }) => {
      const before = published.size;
      for (const id of eventIds) published.add(id);
      note(leaseOwner, `publish ${published.size - before} new`);
      return { published: published.size };
    };
    worker.fakes.publishNow = async (lease) => {
      await publish(lease);
      throw new Error('Done, but its completion was lost.');
    };
    worker.fakes.publishEvents = publish;
    expect(await (await start()).result()).toEqual({ pushed: true, published: 2 });
    expect(calls.slice(1)).toEqual(['publish 2 new', 'publish 0 new']);
  });
});
