// Breaks erasure: the events about an erased member are marked as erased and keep their data and bytes.
import { Collection, type Document } from 'mongodb';

const intact = Collection.prototype.updateMany as (...given: unknown[]) => Promise<unknown>;

Object.assign(Collection.prototype, {
  async updateMany(this: Collection, where: unknown, change: Document, options: unknown): Promise<unknown> {
    if (change.$set?.erasedAt === undefined) return intact.call(this, where, change, options);
    const { data: _, envelope: __, ...$set } = change.$set;
    return intact.call(this, where, { ...change, $set }, options);
  },
});
