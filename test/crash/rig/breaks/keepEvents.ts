// Breaks erasure: the events about an erased member are marked as erased and keep their data and bytes.
import { Collection, type Document, MongoClient } from 'mongodb';

interface Statement {
  namespace: string;
  name: string;
  document?: Record<string, unknown>;
  update?: unknown;
}

function keeping(change: Document): Document {
  if (change.$set?.erasedAt === undefined) return change;
  const { data: _, envelope: __, ...$set } = change.$set;
  return { ...change, $set };
}

const { updateMany } = Collection.prototype as {
  updateMany: (where: unknown, change: Document, options: unknown) => Promise<unknown>;
};
const { bulkWrite } = MongoClient.prototype as {
  bulkWrite: (statements: Statement[], options?: unknown) => Promise<unknown>;
};

Object.assign(Collection.prototype, {
  updateMany(this: Collection, where: unknown, change: Document, options: unknown): Promise<unknown> {
    return updateMany.call(this, where, keeping(change), options);
  },
});

// Events that count in the statistics are cleared in the transaction that counts them.
Object.assign(MongoClient.prototype, {
  bulkWrite(this: MongoClient, statements: Statement[], options?: unknown): Promise<unknown> {
    const kept = statements.map((statement) =>
      statement.update ? { ...statement, update: keeping(statement.update as Document) } : statement,
    );
    return bulkWrite.call(this, kept, options);
  },
});
