// Breaks expiry: no transaction that expires points is committed, by the schedule or before a member is shown.
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
  async bulkWrite(this: MongoClient, statements: Statement[], options?: unknown): Promise<unknown> {
    if (statements.some(({ document }) => document?.type === 'expiry')) throw new Error('points do not expire');
    return bulkWrite.call(this, statements, options);
  },
});
