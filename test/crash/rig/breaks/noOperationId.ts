// Breaks promise 2: a delivery is not named after its event and subscription, so that it is another one each time.
import { randomUUID } from 'node:crypto';
import { Collection } from 'mongodb';

interface Row {
  _id: string;
}

const { insertMany } = Collection.prototype as { insertMany: (rows: Row[], options?: unknown) => Promise<unknown> };

Object.assign(Collection.prototype, {
  insertMany(this: Collection, rows: Row[], options?: unknown): Promise<unknown> {
    if (this.collectionName === 'deliveries') for (const row of rows) row._id = randomUUID();
    return insertMany.call(this, rows, options);
  },
});
