// Gestures beside bulk work: where it holds them up, those that nobody waits for do without workflows of their own, and bulk
// is told. Beside bulk that holds up nobody nothing changes.
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Store } from '../../activities/deps.js';
import { createMetrics } from '../../activities/metrics/metrics.js';
import { createGestureRoom } from '../../api/gestureRoom.js';
import type { BatchPhase } from '../../schemas/batches.js';
import type { BatchRow } from '../../schemas/collections.js';
import { newId } from '../../schemas/ids.js';
import { startService, type TestService, until } from '../rig/service.js';

let service: TestService;
let store: Store;

beforeAll(async () => {
  service = await startService({ worker: false });
  store = service.store;
});

afterEach(async () => {
  await store.rows.batches.deleteMany({});
  await store.rows.slowdowns.deleteMany({});
});

afterAll(() => service.stop());

const togetherMs = 500;
const gesturesTogether = 10;

/** A room whose clock moves by hand. */
function aRoom() {
  const slowdowns: number[] = [];
  const metrics = { ...createMetrics(), slowdown: (times: number) => void slowdowns.push(times) };
  let nowMs = 0;
  const room = createGestureRoom({ ...store, metrics }, () => nowMs);
  return {
    room,
    slowdowns,
    pass(ms: number) {
      nowMs += ms;
    },
    /** So many groups of gestures that take so long; each group is judged when the next one begins. */
    async gestures(groups: number, tookMs: number): Promise<void> {
      for (let group = 0; group < groups; group += 1) {
        const looks = slowdowns.length;
        nowMs += togetherMs;
        for (let index = 0; index < gesturesTogether; index += 1)
          await room.timed(async () => {
            nowMs += tookMs;
          });
        await until(() => slowdowns.length > looks);
      }
    },
  };
}

async function aBatch(phase: BatchPhase): Promise<string> {
  const _id = newId();
  await store.rows.batches.insertOne({ _id, merchantId: 'somebody', phase, startedAt: new Date() } as BatchRow);
  return _id;
}

const told = () => store.rows.slowdowns.findOne();

describe('gestures', () => {
  it('that bulk work holds up have no workflow of their own unless somebody waits for it, and bulk is told', async () => {
    const { room, gestures, slowdowns } = aRoom();
    await gestures(4, 4);
    expect(room.takeWorkflow(false)).toBe(true);
    await aBatch('publishing');
    await gestures(4, 12);
    expect(room.takeWorkflow(false)).toBe(false);
    expect(room.takeWorkflow(true)).toBe(true);
    expect(slowdowns.at(-1)).toBeCloseTo(3);
    expect((await until(told)).times).toBeCloseTo(3);
  });

  it.each(['creating', 'publishing', 'running'] as const)('are looked at beside a batch that is %s', async (phase) => {
    const { room, gestures } = aRoom();
    await gestures(4, 4);
    await aBatch(phase);
    await gestures(4, 12);
    expect(room.takeWorkflow(false)).toBe(false);
  });

  it.each(['storing', 'queued', 'completed', 'failed', 'cancelled'] as const)(
    'that are slow beside a batch that is only %s are slow for another reason',
    async (phase) => {
      const { room, gestures } = aRoom();
      await aBatch(phase);
      await gestures(4, 4);
      await gestures(4, 12);
      expect(room.takeWorkflow(false)).toBe(true);
      expect(await told()).toBeNull();
    },
  );

  it('that bulk work does not hold up keep their workflows', async () => {
    const { room, gestures } = aRoom();
    await gestures(4, 4);
    await aBatch('creating');
    await gestures(6, 5);
    expect(room.takeWorkflow(false)).toBe(true);
    expect(await told()).toBeNull();
  });

  it('do without for a while, though they are no longer held up, and no longer than the bulk', async () => {
    const { room, gestures, pass } = aRoom();
    await gestures(4, 4);
    const _id = await aBatch('publishing');
    await gestures(4, 12);
    pass(30_000);
    await gestures(3, 4);
    expect(room.takeWorkflow(false)).toBe(false);
    pass(40_000);
    expect(room.takeWorkflow(false)).toBe(true);
    await gestures(4, 12);
    expect(room.takeWorkflow(false)).toBe(false);
    await store.rows.batches.updateOne({ _id }, { $set: { phase: 'completed' } });
    await gestures(2, 12);
    expect(room.takeWorkflow(false)).toBe(true);
  });

  it('get what their transaction made, and its error', async () => {
    const { room } = aRoom();
    expect(await room.timed(async () => 'made')).toBe('made');
    await expect(room.timed(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  });

  it('are made where the batches cannot be looked at', async () => {
    const refusing = store.mongo.db().collection<BatchRow>('$not.a.name');
    const room = createGestureRoom({ ...store, rows: { ...store.rows, batches: refusing } });
    expect(await room.timed(async () => 'made')).toBe('made');
    expect(room.takeWorkflow(false)).toBe(true);
  });
});
