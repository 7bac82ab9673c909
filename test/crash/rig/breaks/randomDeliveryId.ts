// Breaks guarantee 2 of docs/architecture.md: the id of a delivery is random instead of built from its event and
// subscription, so each attempt to create it makes another delivery.
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
