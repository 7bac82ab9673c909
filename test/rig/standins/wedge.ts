// Makes the embedded engine refuse all later writes to one collection by the only known way (docs/embedded-engine.md).
// A real MongoDB is not affected. The collection must hold at least two rows; their content does not change.
import { setTimeout as sleep } from 'node:timers/promises';
import { type ClientSession, type Collection, MongoClient, type ObjectId } from 'mongodb';
import { isWriteConflict } from '../../../platform/mongodb/conflicts.js';

const set = { $set: { wedged: true } };

/** Begins the transaction again while the service writes the same row. */
async function updateFirst(rows: Collection, { _id, session }: { _id: ObjectId; session: ClientSession }) {
  for (let tries = 1; ; tries += 1) {
    session.startTransaction();
    try {
      return await rows.updateOne({ _id }, set, { session });
    } catch (error) {
      await session.abortTransaction();
      if (!isWriteConflict(error) || tries === 10) throw error;
      await sleep(100);
    }
  }
}

export async function wedge(uri: string, at: { database: string; collection: string }): Promise<void> {
  const client = new MongoClient(uri, { serverSelectionTimeoutMS: 2_000, retryWrites: false });
  const rows = client.db(at.database).collection(at.collection);
  const ids = (
    await rows
      .find({}, { projection: { _id: 1 } })
      .limit(2)
      .toArray()
  ).map(({ _id }) => _id);
  const [first, second] = ids;
  if (!first || !second) throw new Error(`There are no two rows in ${at.collection}.`);
  const session = client.startSession();
  await updateFirst(rows, { _id: first, session });
  // biome-ignore lint/plugin: this is the statement that does it
  rows.updateMany({ _id: { $in: ids } }, set).catch(() => undefined);
  await sleep(200);
  rows.updateOne({ _id: second }, set, { session }).catch(() => undefined);
  await sleep(200);
  // The close completes when the engine ends.
  client.close(true).catch(() => undefined);
}
