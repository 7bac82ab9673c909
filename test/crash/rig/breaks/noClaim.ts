// Breaks the idempotency key: its row is not written, and ledger entry and event get random ids instead of ids derived
// from the key.
import { randomUUID } from 'node:crypto';
import { MongoClient } from 'mongodb';

interface Statement {
  namespace: string;
  name: string;
  document?: Record<string, unknown>;
}

const { bulkWrite } = MongoClient.prototype as {
  bulkWrite: (statements: Statement[], options?: unknown) => Promise<unknown>;
};

Object.assign(MongoClient.prototype, {
  bulkWrite(this: MongoClient, statements: Statement[], options?: unknown): Promise<unknown> {
    const unclaimed = statements
      .filter(({ namespace }) => !namespace.endsWith('.idempotencyKeys'))
      .map((statement) =>
        /\.(?:ledger|events)$/.test(statement.namespace) && statement.document
          ? { ...statement, document: { ...statement.document, _id: randomUUID() } }
          : statement,
      );
    return bulkWrite.call(this, unclaimed, options);
  },
});
