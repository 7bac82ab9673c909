// Makes the embedded engine refuse all later writes to one collection by the only known way (docs/embedded-engine.md).
// A real MongoDB is not affected. The collection must hold at least two rows; their content does not change.
import { MongoClient } from 'mongodb';

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
  const set = { $set: { wedged: true } };
  const session = client.startSession();
  session.startTransaction();
  await rows.updateOne({ _id: first }, set, { session });
  // biome-ignore lint/plugin: this is the statement that does it
  rows.updateMany({ _id: { $in: ids } }, set).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 200));
  rows.updateOne({ _id: second }, set, { session }).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 200));
  // The close completes when the engine ends.
  client.close(true).catch(() => undefined);
}
