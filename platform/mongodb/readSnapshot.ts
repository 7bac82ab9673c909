// Reads any number of rows as they were at one moment, while others write.
import type { ClientSession, MongoClient } from 'mongodb';

/** How long the transactions of the stack's own engines may take; one of a killed process blocks others for so long. */
export const ownTransactionSeconds = 3;
const longestReadSeconds = 3_600;

/**
 * Gives a session whose reads all see the same moment. MongoDB keeps one for five minutes (its parameter
 * `minSnapshotHistoryWindowInSeconds`), and a read after that fails. The embedded engine has no such sessions, but its
 * transactions see one moment, so their time limit is raised until the read ends.
 */
export async function readSnapshot<T>(mongo: MongoClient, read: (session: ClientSession) => Promise<T>): Promise<T> {
  const admin = mongo.db('admin');
  const isEmbedded = 'secantusVersion' in (await admin.command({ buildInfo: 1 }));
  if (!isEmbedded) return await mongo.withSession({ snapshot: true }, read);
  const limit = (transactionLifetimeLimitSeconds: number) =>
    admin.command({ setParameter: 1, transactionLifetimeLimitSeconds });
  await limit(longestReadSeconds);
  try {
    return await mongo.withSession(async (session) => {
      session.startTransaction({ readConcern: { level: 'snapshot' } });
      const result = await read(session);
      await session.abortTransaction();
      return result;
    });
  } finally {
    await limit(ownTransactionSeconds);
  }
}
