// The workflow of a delivery: attempts with the delays of the subscription or the receiver, until one succeeds or the
// last one fails the workflow, which an operator can reset.
import { ApplicationFailure } from '@temporalio/common';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deliveryWorkflowId, newId } from '../../../schemas/shared/ids.js';
import type { DeliverWebhook } from '../../../schemas/tables/workflows.js';
import { startWorkflowWorker, type WorkflowWorker } from '../../rig/start/workflowWorker.js';

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

/** A failure of the receiver as the activity throws it. */
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
    attemptsLeft: 5,
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

  it('are separated by the delay of each failure, longer when the receiver asked for it', async () => {
    answers(refused(100), refused(900), refused(100), 'succeeded');
    expect(await (await start()).result()).toEqual({ state: 'succeeded' });
    const [first = 0, asked = 0, last = 0] = waits();
    expect(first).toBeGreaterThanOrEqual(95);
    expect(asked).toBeGreaterThanOrEqual(895);
    expect(last).toBeGreaterThanOrEqual(95);
    expect(Math.min(first, last)).toBeLessThan(asked);
  });

  it('with a delay of zero follow at once', async () => {
    answers(refused(1), refused(1), 'succeeded');
    await (await start({ backoffMs: 0 })).result();
    expect(attempts).toHaveLength(3);
    expect(Math.max(...waits())).toBeLessThan(20_000);
  });

  it('do not start before their time', async () => {
    answers('succeeded');
    const notBefore = Date.now() + 1_000;
    await (await start({ notBefore })).result();
    expect(attempts[0]).toBeGreaterThanOrEqual(notBefore - 20);
  });

  it('get the maximum number of attempts of the subscription', async () => {
    let allowed = 0;
    worker.fakes.postWebhook = async (input) => {
      allowed = input.attemptsLeft;
      return { state: 'succeeded' };
    };
    await (await start({ attemptsLeft: 7 })).result();
    expect(allowed).toBe(7);
  });

  it('that a dying worker interrupted are repeated at once and do not count', async () => {
    answers(new Error('The worker is unavailable.'), new Error('The database went away.'), 'succeeded');
    expect(await (await start({ attemptsLeft: 1 })).result()).toEqual({ state: 'succeeded' });
    expect(attempts).toHaveLength(3);
  });
});

describe('a delivery that is exhausted', () => {
  it("fails its workflow, so that operators find it, with the receiver's answer", async () => {
    answers(refused(1), refused(1, true));
    const handle = await start();
    await expect(handle.result()).rejects.toMatchObject({
      cause: { cause: { message: 'It answered 500.', type: 'status' } },
    });
    expect((await handle.describe()).status.name).toBe('FAILED');
    expect(attempts).toHaveLength(2);
  });

  it('is tried again when it is reset', async () => {
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
  'a delivery that ends as %s completes its workflow: there is nothing to retry',
  async (state) => {
    answers(state);
    const handle = await start();
    expect(await handle.result()).toEqual({ state });
    expect((await handle.describe()).status.name).toBe('COMPLETED');
  },
);
