// Breaks reversals: a reversed ledger entry is not marked, so that it can be reversed again.
import { MongoClient } from 'mongodb';

interface Statement {
  namespace: string;
  name: string;
  document?: Record<string, unknown>;
  update?: unknown;
}

const { bulkWrite } = MongoClient.prototype as {
  bulkWrite: (statements: Statement[], options?: unknown) => Promise<unknown>;
};

Object.assign(MongoClient.prototype, {
  bulkWrite(this: MongoClient, statements: Statement[], options?: unknown): Promise<unknown> {
    const forgetful = statements.map((statement) =>
      statement.namespace.endsWith('.ledger') && statement.name === 'updateOne'
        ? { ...statement, update: { $set: { forgotten: true } } }
        : statement,
    );
    return bulkWrite.call(this, forgetful, options);
  },
});
