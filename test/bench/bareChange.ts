// A points change as efficient code with the bare driver would make it: two concurrent reads, then one transaction
// whose statements are sent in one message.
import {
  type AnyClientBulkWriteModel,
  type Db,
  type Document,
  type MongoClient,
  MongoClientBulkWriteError,
} from 'mongodb';
import { shardOf } from '../../schemas/events/events.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { keyedChangeId, newId, newToken } from '../../schemas/shared/ids.js';
import type { IdempotencyKeyRow } from '../../schemas/shared/service.rows.js';

type Statement = AnyClientBulkWriteModel<Document & { _id: string }>;

const answer = Buffer.alloc(400, 'x');

export function bareChange(db: Db, mongo: MongoClient): (of: Pick<MemberRow, '_id'>) => Promise<void> {
  const members = db.collection<MemberRow>('members');
  const idempotencyKeys = db.collection<IdempotencyKeyRow>('idempotencyKeys');
  const namespaceOf = (name: string) => `${db.databaseName}.${name}`;

  return async function change({ _id: memberId }) {
    for (;;) {
      const id = keyedChangeId('points', memberId, newToken());
      const [, member] = await Promise.all([idempotencyKeys.findOne({ _id: id }), members.findOne({ _id: memberId })]);
      if (!member) throw new Error('The member is gone.');
      const eventId = newId();
      const now = new Date();
      const { merchantId, programId, version, balance } = member;
      const statements: Statement[] = [
        {
          namespace: namespaceOf('members'),
          name: 'updateOne',
          filter: { _id: memberId, merchantId, version },
          update: {
            $set: {
              balance: balance + 1,
              lifetimePoints: balance + 1,
              version: version + 1,
              updatedAt: now,
              'pass.tag': now,
              'pass.modifiedAt': now,
            },
          },
        },
        ...inserts({ id, memberId, merchantId, programId, eventId, now, version, balance }, namespaceOf),
      ];
      const done = await mongo
        .withSession((session) =>
          session.withTransaction(
            async () =>
              // biome-ignore lint/plugin: inside a transaction
              (await mongo.bulkWrite<Record<string, Document & { _id: string }>>(statements, { session })).matchedCount,
          ),
        )
        .catch((error: unknown) => {
          // An engine under load may abort a transaction in the middle.
          if (error instanceof MongoClientBulkWriteError) return 0;
          throw error;
        });
      if (done === 1) return;
    }
  };
}

interface Facts {
  id: string;
  memberId: string;
  merchantId: string;
  programId: string;
  eventId: string;
  now: Date;
  version: number;
  balance: number;
}

function inserts(
  { id, memberId, merchantId, programId, eventId, now, version, balance }: Facts,
  namespaceOf: (name: string) => string,
) {
  const into = (name: string, document: Document & { _id: string }): Statement => ({
    namespace: namespaceOf(name),
    name: 'insertOne',
    document,
  });
  const change = { field: 'points', previous: balance, current: balance + 1, delta: 1 };
  const about = { memberId, merchantId, programId };
  return [
    into('idempotencyKeys', {
      _id: id,
      merchantId,
      fingerprint: id,
      eventId,
      createdAt: now,
      response: { status: 200, body: answer },
    }),
    into('ledger', {
      _id: id,
      ...about,
      eventId,
      fingerprint: id,
      type: 'adjust',
      ...change,
      actor: { type: 'api-key', id: eventId, name: 'bench' },
      memberVersion: version + 1,
      createdAt: now,
    }),
    into('events', {
      _id: eventId,
      ...about,
      type: 'points.changed',
      occurredAt: now,
      data: { ...about, ...change, memberVersion: version + 1 },
      // The relay ignores a published event, so only the transaction is measured.
      state: 'published',
      leaseOwner: '',
      dueAt: now,
      shard: shardOf(merchantId, 4),
    }),
  ];
}
