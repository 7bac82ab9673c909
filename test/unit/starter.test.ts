// How many starts are on their way to Temporal at once: few of those that nobody waits for, and none of the others held back.
import type { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { afterEach, expect, it } from 'vitest';
import { createStarter, type Starter, type StartWorkflow } from '../../activities/starter.js';

let starter: Starter | undefined;
afterEach(() => starter?.close());

/** Temporal, whose starts are answered when they are told to be. */
function slowTemporal(): { starter: Starter; begun: string[]; answer: () => void } {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  const client = {
    workflow: {
      start: (_name: string, { workflowId }: { workflowId: string }) => {
        begun.push(workflowId);
        return new Promise<void>((resolve) => waiting.push(resolve));
      },
    },
  } as unknown as Client;
  const connection = {
    withDeadline: (_deadline: number, call: () => Promise<unknown>) => call(),
    workflowService: { getSystemInfo: async () => ({}) },
    close: async () => {},
  } as unknown as Connection;
  starter = createStarter({ client, connection, log: pino({ level: 'silent' }) });
  const answer = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  return { starter, begun, answer };
}

function workflow(workflowId: string, priority: 2 | 4): StartWorkflow<'pushPassesLate'> {
  return {
    name: 'pushPassesLate',
    workflowId,
    input: { merchantId: 'm', eventIds: [] },
    summary: '',
    searchAttributes: { MerchantId: 'm' },
    priority,
    fairnessKey: 'm',
  };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

it('a burst of deliveries goes out sixteen at a time, and whoever waits for an answer goes before them', async () => {
  const { starter, begun, answer } = slowTemporal();
  const burst = Array.from({ length: 100 }, (_, index) => starter.start(workflow(`delivery-${index}`, 4)));
  await settle();
  expect(begun).toHaveLength(16);
  const gesture = starter.start(workflow('gesture', 2));
  await settle();
  expect(begun.at(-1)).toBe('gesture');
  for (let round = 0; round < 10; round += 1) {
    answer();
    await settle();
  }
  await Promise.all([gesture, ...burst]);
  expect(new Set(begun).size).toBe(101);
});
