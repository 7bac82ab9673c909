// BullMQ: the change and the event in one transaction of MongoDB, then a job in Redis. A process that dies between them
// loses the delivery.
import { Queue, Worker } from 'bullmq';
import { MongoClient } from 'mongodb';
import {
  type Attempt,
  concurrency,
  createDelivery,
  firstWaitSeconds,
  mostAttempts,
  type StoredEvent,
} from './delivery.js';
import { type Balance, type Engine, eventMaker, memberIds, type Place } from './engine.js';

const queueName = 'deliver';

const connectionOf = ({ address }: Place) => {
  const { hostname: host, port } = new URL(address);
  return { host, port: Number(port) };
};

function collectionsOf({ mongodbUri, mongodbDatabase }: Place) {
  const mongo = new MongoClient(mongodbUri, {
    writeConcern: { w: 'majority', journal: true },
    maxPoolSize: concurrency,
  });
  const database = mongo.db(mongodbDatabase);
  return {
    mongo,
    members: database.collection<Balance & { _id: string; updatedAt: Date }>('benchQueueMembers'),
    events: database.collection<{ _id: string; memberId: string; occurredAt: Date; body: string }>('benchQueueEvents'),
    attempts: database.collection<Omit<Attempt, 'id'> & { _id: string }>('benchQueueAttempts'),
  };
}

export const bullmq: Engine = {
  async startCaller(place) {
    const { mongo, members, events, attempts } = collectionsOf(place);
    await Promise.all([events.createIndex({ occurredAt: 1 }), attempts.createIndex({ success: 1 })]);
    await members.insertMany(memberIds.map((_id) => ({ _id, points: 0, version: 0, updatedAt: new Date() })));
    const queue = new Queue<StoredEvent>(queueName, { connection: connectionOf(place) });
    const makeEvent = eventMaker(place);
    const changed = (memberId: string) =>
      mongo.withSession((session) =>
        session.withTransaction(async () => {
          const at = new Date();
          const after = await members.findOneAndUpdate(
            { _id: memberId },
            { $inc: { points: 1, version: 1 }, $set: { updatedAt: at } },
            { session, returnDocument: 'after' },
          );
          if (!after) throw new Error('The member is gone.');
          const event = makeEvent(memberId, after);
          await events.insertOne({ _id: event.eventId, memberId, occurredAt: at, body: event.body }, { session });
          return event;
        }),
      );
    return {
      async change(memberId) {
        const event = await changed(memberId);
        await queue.add('deliver', event, {
          jobId: event.eventId,
          attempts: mostAttempts,
          backoff: { type: 'exponential', delay: firstWaitSeconds * 1_000 },
          removeOnComplete: true,
        });
      },
      logged: () => attempts.countDocuments({ success: true }),
    };
  },
  async startWorker(place) {
    const { attempts } = collectionsOf(place);
    const deliver = createDelivery(place.url, ({ id: _id, ...attempt }) => attempts.insertOne({ _id, ...attempt }));
    const worker = new Worker<StoredEvent>(queueName, ({ data }) => deliver(data), {
      connection: connectionOf(place),
      concurrency,
    });
    await worker.waitUntilReady();
  },
};
