// The result of an attempt is in the delivery log exactly once, also when the first write of it fails. An attempt that
// could not be logged would be made again.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientSession, MongoNetworkError } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createLogAttempt, type DeliveryRecord } from '../../../activities/webhooks/logAttempt.writes.js';
import type { Deps } from '../../../platform/deps.js';
import { newId } from '../../../schemas/shared/ids.js';
import type { DeliveryRow } from '../../../schemas/webhooks/webhooks.rows.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;

beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

function aDelivery(): DeliveryRow {
  const now = new Date();
  return {
    _id: newId(),
    merchantId: 'merchant-log',
    subscriptionId: newId(),
    eventId: newId(),
    eventType: 'points.changed',
    url: 'http://127.0.0.1/',
    state: 'pending',
    success: null,
    statusCode: null,
    error: null,
    detail: null,
    attempts: 0,
    history: [],
    createdAt: now,
    lastAttemptAt: null,
    nextAttemptAt: null,
    fence: newId(),
  };
}

const resultOf = (delivery: DeliveryRow, unlogged = false): DeliveryRecord => ({
  deliveryId: delivery._id,
  ...(unlogged && { unlogged: delivery }),
  fence: delivery.fence,
  set: { state: 'succeeded', success: true, statusCode: 204 },
  attempt: { attempt: 1, at: new Date(), statusCode: 204, error: null, durationMs: 5 },
});

const logged = (delivery: DeliveryRow) => service.deps.collections.deliveries.findOne({ _id: delivery._id });

/** The database fails `times` times after it has committed, so the client does not learn that its write succeeded. */
function losingAnswers(deps: Deps, times: number): Deps {
  let left = times;
  const lose = (session: ClientSession): ClientSession => {
    const commit = session.commitTransaction.bind(session);
    session.commitTransaction = async () => {
      await commit();
      left -= 1;
      if (left >= 0) throw new MongoNetworkError('The answer of a commit was lost.');
    };
    return session;
  };
  const mongo = new Proxy(deps.mongo, {
    get(target, name) {
      if (name === 'startSession') return () => lose(target.startSession());
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { ...deps, mongo };
}

it('rows that another transaction is writing, and the others of their group, are logged when it has ended', async () => {
  const { deps } = service;
  const { deliveries } = deps.collections;
  const [held, queued, fresh] = [aDelivery(), aDelivery(), aDelivery()];
  await deliveries.insertOne(queued);
  const session = deps.mongo.startSession();
  session.startTransaction();
  await deliveries.insertOne(held, { session });
  await deliveries.updateOne({ _id: queued._id }, { $set: { fence: 'another' } }, { session });
  const logAttempt = createLogAttempt(deps);
  const results = Promise.all([
    logAttempt(resultOf(held, true)),
    logAttempt(resultOf(queued)),
    logAttempt(resultOf(fresh, true)),
  ]);
  results.catch(() => {});
  await sleep(300);
  await session.commitTransaction();
  await session.endSession();
  await results;
  for (const delivery of [held, queued, fresh])
    expect(await logged(delivery)).toMatchObject({ state: 'succeeded', attempts: 1, history: [{ statusCode: 204 }] });
});

it('writes whose answer was lost are repeated and count once', async () => {
  const [queued, fresh, both] = [aDelivery(), aDelivery(), aDelivery()];
  await service.deps.collections.deliveries.insertMany([queued, both]);
  const logAttempt = createLogAttempt(losingAnswers(service.deps, 3));
  await Promise.all([
    logAttempt(resultOf(queued)),
    logAttempt(resultOf(fresh, true)),
    logAttempt(resultOf(both, true)),
  ]);
  for (const delivery of [queued, fresh, both])
    expect(await logged(delivery)).toMatchObject({ state: 'succeeded', attempts: 1, history: [{ statusCode: 204 }] });
});
