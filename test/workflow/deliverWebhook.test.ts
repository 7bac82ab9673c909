// A delivery of its own: attempts as far apart as the subscription or the receiver wants, until one succeeds or the last one
// ends the workflow as failed, which an operator can reset.
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deliveryWorkflowId, newId } from '../../schemas/ids.js';
import type { DeliverWebhook } from '../../schemas/workflows.js';
import { startWorkflowWorker, type WorkflowWorker } from '../rig/workflowWorker.js';

let worker: WorkflowWorker;
let attempts: number[];
let eventId: string;

beforeAll(async () => {
  worker = await startWorkflowWorker();
});
afterAll(() => worker.stop());

beforeEach(() => {
  attempts = [];
  eventId = newId();
});

/** As the receiver's failure is told to the workflow. */
const refused = (nextRetryDelay: number, last = false) =>
  ApplicationFailure.create({ message: 'It answered 500.', type: 'status', nonRetryable: last, nextRetryDelay });

function answers(...outcomes: (Error | string)[]): void {
  worker.fakes.postWebhook = async ({ deliveryId }) => {
    expect(deliveryId).toBe('delivery-1');
    const outcome = outcomes[attempts.length];
    attempts.push(Date.now());
    if (outcome instanceof Error) throw outcome;
    return { state: (outcome ?? 'succeeded') as 'succeeded' };
  };
}

function start(over: Partial<DeliverWebhook> = {}) {
  const input: DeliverWebhook = {
    deliveryId: 'delivery-1',
    eventId,
    subscriptionId: 'subscription-1',
    merchantId: 'm',
    notBefore: 0,
    attempts: 5,
    backoffMs: 100,
    ...over,
  };
  return worker.start('deliverWebhook', input, deliveryWorkflowId(eventId, 'subscription-1'));
}

const waits = (): number[] => attempts.slice(1).map((at, index) => at - (attempts[index] ?? at));

describe('attempts', () => {
  it('end with the first that succeeds', async () => {
    answers('succeeded');
    expect(await (await start()).result()).toEqual({ state: 'succeeded' });
    expect(attempts).toHaveLength(1);
  });

  it('are as far apart as each failure says, longer where the receiver asked for it', async () => {
    answers(refused(100), refused(900), refused(100), 'succeeded');
    expect(await (await start()).result()).toEqual({ state: 'succeeded' });
    const [first = 0, asked = 0, last = 0] = waits();
    expect(first).toBeGreaterThanOrEqual(95);
    expect(asked).toBeGreaterThanOrEqual(895);
    expect(last).toBeGreaterThanOrEqual(95);
    expect(Math.min(first, last)).toBeLessThan(asked);
  });

  it('with a wait of nothing follow at once', async () => {
    answers(refused(1), refused(1), 'succeeded');
    await (await start({ backoffMs: 0 })).result();
    expect(attempts).toHaveLength(3);
    expect(Math.max(...waits())).toBeLessThan(20_000);
  });

  it('do not begin before their time', async () => {
    answers('succeeded');
    const notBefore = Date.now() + 1_000;
    await (await start({ notBefore })).result();
    expect(attempts[0]).toBeGreaterThanOrEqual(notBefore - 20);
  });

  it('are told how many the subscription allows', async () => {
    let allowed = 0;
    worker.fakes.postWebhook = async (input) => {
      allowed = input.attempts;
      return { state: 'succeeded' };
    };
    await (await start({ attempts: 7 })).result();
    expect(allowed).toBe(7);
  });

  it('that a dying worker cut short are made again at once and cost the receiver nothing', async () => {
    answers(new Error('The worker went away.'), new Error('The database went away.'), 'succeeded');
    expect(await (await start({ attempts: 1 })).result()).toEqual({ state: 'succeeded' });
    expect(attempts).toHaveLength(3);
  });
});

describe('a delivery that is used up', () => {
  it('fails its workflow, so that operators find it, and says what the receiver did', async () => {
    answers(refused(1), refused(1, true));
    const handle = await start();
    await expect(handle.result()).rejects.toMatchObject({
      cause: { cause: { message: 'It answered 500.', type: 'status' } },
    });
    expect((await handle.describe()).status.name).toBe('FAILED');
    expect(attempts).toHaveLength(2);
  });

  it('is attempted again when it is reset', async () => {
    answers(refused(1, true), 'succeeded');
    const handle = await start();
    await handle.result().catch(() => {});
    const { events } = await handle.fetchHistory();
    const begun = events?.find((event) => event.workflowTaskCompletedEventAttributes)?.eventId;
    const { runId } = await handle.describe();
    await worker.client.workflowService.resetWorkflowExecution({
      namespace: 'default',
      workflowExecution: { workflowId: handle.workflowId, runId },
      reason: 'the receiver is well again',
      requestId: newId(),
      workflowTaskFinishEventId: begun ?? null,
    });
    expect(await worker.client.workflow.getHandle(handle.workflowId).result()).toEqual({ state: 'succeeded' });
    expect(attempts).toHaveLength(2);
  });
});

it.each(['skipped', 'exhausted'])(
  'a delivery that comes to rest as %s ends well: there is nothing to try again',
  async (state) => {
    answers(state);
    const handle = await start();
    expect(await handle.result()).toEqual({ state });
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  },
);
