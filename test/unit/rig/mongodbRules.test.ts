// What MongoDB 8 would refuse is found, and what it takes is not (test/rig/mongodb/rules.ts).
import type { Document } from 'mongodb';
import { expect, it } from 'vitest';
import { indexes } from '../../../schemas/tables/collections.js';
import { shapeOf } from '../../rig/mongodb/commandShape.js';
import { refusals } from '../../rig/mongodb/rules.js';

const keys = ['{"shop":1,"at":-1}'];
const refusalsOf = (command: Document): string[] =>
  refusals(shapeOf({ ...command, $db: command.$db ?? 'loyalty' }), (name) => (name === 'rows' ? keys : []));

const find = (more: Document): Document => ({ find: 'rows', ...more });
const update = (u: unknown, more: Document = {}): Document => ({
  update: 'rows',
  updates: [{ q: { _id: 'a' }, u, ...more }],
});
const index = (more: Document): Document => ({
  createIndexes: 'rows',
  indexes: [{ name: 'one', key: { a: 1 }, ...more }],
});
const aggregate = (...pipeline: Document[]): Document => ({ aggregate: 'rows', pipeline, cursor: {} });
const bulk = (...ops: Document[]): Document => ({
  bulkWrite: 1,
  $db: 'admin',
  ops,
  nsInfo: [{ ns: 'loyalty.rows' }],
  errorsOnly: true,
  ordered: true,
});
const begins = { autocommit: false, startTransaction: true, txnNumber: 1 };
const goesOn = { autocommit: false, txnNumber: 1 };
const retried = { txnNumber: 1 };
const deep = (levels: number): unknown => (levels === 0 ? 1 : [deep(levels - 1)]);
const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`field${at}`, 1]));

const refused: Record<string, [Document, string][]> = {
  'commands and fields': [
    [{ mapReduce: 'rows' }, 'the command mapReduce'],
    [find({ snapshot: true }), 'find has no field snapshot'],
    [update({ $set: { a: 1 } }, { justOne: true }), 'a statement of updates has no field justOne'],
    [{ insert: 'rows', documents: [] }, 'an empty list of documents'],
    [bulk(), 'an empty list of ops'],
  ],
  transactions: [
    [{ count: 'rows', ...begins }, 'count in a transaction'],
    [{ listCollections: 1, ...begins }, 'listCollections in a transaction'],
    [{ listIndexes: 'rows', ...goesOn }, 'listIndexes in a transaction'],
    [{ ...index({}), ...begins }, 'createIndexes in a transaction'],
    [{ collMod: 'rows', ...begins }, 'collMod in a transaction'],
    [{ ...aggregate({ $match: {} }, { $out: 'b' }), ...begins }, '$out in a transaction'],
    [{ ...aggregate({ $merge: 'b' }), ...begins }, '$merge in a transaction'],
    [{ killCursors: 'rows', cursors: [], ...begins }, 'killCursors begins a transaction'],
    [{ insert: 'rows', documents: [{ _id: 'a' }], writeConcern: { w: 'majority' }, ...begins }, 'a write concern'],
    [find({ readConcern: { level: 'snapshot' }, ...goesOn }), 'a read concern in a begun transaction'],
    [find({ readConcern: { level: 'linearizable' }, ...begins }), 'the read concern linearizable'],
    [find({ $db: 'admin', ...begins }), 'the database admin'],
  ],
  'read concerns': [
    [{ count: 'rows', readConcern: { level: 'snapshot' } }, 'the read concern snapshot for count'],
    [{ listIndexes: 'rows', readConcern: { level: 'majority' } }, 'the read concern majority for listIndexes'],
  ],
  'retryable writes': [
    [{ ...update({ $set: { a: 1 } }, { multi: true }), ...retried }, 'a retryable write of many rows'],
    [{ delete: 'rows', deletes: [{ q: {}, limit: 0 }], ...retried }, 'a retryable write of many rows'],
    [{ ...bulk({ delete: 0, filter: {}, multi: true }), ...retried }, 'a retryable write of many rows'],
  ],
  filters: [
    [find({ filter: { $and: [] } }), '$and has no conditions'],
    [find({ filter: { $or: [{ a: 1 }, { $xor: [] }] } }), 'the operator $xor'],
    [find({ filter: { a: { $gt: 1, b: 2 } } }), 'a has the operator b'],
    [find({ filter: { a: { $in: 'x' } } }), '$in of a has no list'],
    [find({ filter: { a: { $not: 3 } } }), '$not of a has a value'],
    [find({ filter: { a: { $like: 'x' } } }), 'a has the operator $like'],
    [find({ filter: { a: { $options: 'i' } } }), '$options of a without $regex'],
    [find({ filter: { $expr: { $equals: ['$a', 1] } } }), 'the expression operator $equals'],
    [{ delete: 'rows', deletes: [{ q: { a: { $is: 1 } }, limit: 1 }] }, 'a has the operator $is'],
    [bulk({ update: 0, filter: { a: { $is: 1 } }, updateMods: { $set: { a: 1 } } }), 'a has the operator $is'],
  ],
  updates: [
    [update({ $set: { a: 1, 'a.b': 2 } }), 'an update of a.b and a'],
    [update({ $set: { a: 1 }, $unset: { a: 1 } }), 'an update of a and a'],
    [update({ $set: { a: 1 }, $setOnInsert: { 'a.b': 1 } }), 'an update of a.b and a'],
    [update({ a: 1 }, { multi: true }), 'a replacement of many rows'],
    [update({ $upsert: { a: 1 } }), 'the update operator $upsert'],
    [update({ $set: 3 }), '$set without fields'],
    [update({ $set: { 'a..b': 1 } }), 'the path "a..b"'],
    [update({ $set: { $a: 1 } }), 'the path "$a"'],
    [update({ $set: { 'a.$b': 1 } }), 'the path "a.$b"'],
    [update({ $set: { 'a.$.b': 1 } }, { upsert: true }), 'a.$.b in an upsert'],
    [update({ $set: { 'a.$[one].b': 1 } }), 'without its array filter'],
    [update({ $set: { a: 1 } }, { arrayFilters: [{ 'one.b': 1 }] }), 'the array filter one'],
    [update({ $push: { a: { $each: [1], $limit: 3 } } }), '$push of a has $limit'],
    [update({ $addToSet: { a: { $each: [1], $slice: 3 } } }), '$addToSet of a has $slice'],
    [update({ $inc: { _id: 1 } }), '$inc of _id'],
    [update([{ $group: { _id: 1 } }]), 'an update with the stage $group'],
    [update([{ $set: { a: { $append: ['$b', 1] } } }]), 'the expression operator $append'],
    [update([{ $set: { a: 1 } }], { arrayFilters: [{ one: 1 }] }), 'array filters with a pipeline'],
    [{ findAndModify: 'rows', query: {}, update: { $set: { a: 1, 'a.b': 1 } } }, 'an update of a.b and a'],
  ],
  'stored rows': [
    [{ insert: 'rows', documents: [{ _id: 'a', b: { $where: 1 } }] }, 'the key "$where"'],
    [{ insert: 'rows', documents: [{ _id: ['a'] }] }, 'an _id that is no value'],
    [{ insert: 'rows', documents: [{ _id: 'a', b: deep(101) }] }, 'more than 100 levels'],
    [update({ $set: { a: { $b: 1 } } }), 'a would hold Object, the key "$b"'],
    [update({ $push: { a: { $each: [{ $b: 1 }] } } }), 'the key "$b"'],
    [bulk({ insert: 0, document: { _id: 'a', $b: 1 } }), 'the key "$b"'],
  ],
  reading: [
    [find({ projection: { a: 1, b: 0 } }), 'includes and excludes'],
    [find({ projection: { a: 1, 'a.b': 1 } }), 'a projection of a.b and a'],
    [find({ projection: { a: { $first: 1, $each: [] } } }), 'the projection operator $each'],
    [find({ sort: { a: 'up' } }), 'a sort of a by up'],
    [find({ sort: many(33) }), 'more than 32 fields'],
    [find({ limit: -1 }), 'a negative limit'],
    [find({ hint: { at: 1 } }), 'a hint to no index'],
    [find({ hint: 'shop_1_at_-1' }), 'a hint by the name'],
  ],
  aggregations: [
    [{ aggregate: 'rows', pipeline: [] }, 'without a cursor'],
    [aggregate({ $where: 1 }), 'the stage $where'],
    [aggregate({ $match: {}, $limit: 1 }), 'a stage with $match and $limit'],
    [aggregate({ $out: 'b' }, { $match: {} }), '$out before the last stage'],
    [aggregate({ $match: { a: { $like: 1 } } }), 'a has the operator $like'],
    [aggregate({ $group: { _id: '$a', n: { $total: 1 } } }), 'the expression operator $total'],
  ],
  indexes: [
    [index({ key: {} }), 'without fields'],
    [index({ key: many(33) }), 'more than 32 fields'],
    [index({ key: { a: 'up' } }), 'an index of a: up'],
    [index({ key: { 'a.': 1 } }), 'the path "a."'],
    [index({ background: true, clustered: true, dropDups: true }), 'the option dropDups'],
    [index({ partialFilterExpression: { a: { $exists: false } } }), '$exists: false'],
    [index({ partialFilterExpression: { a: { $ne: null } } }), 'a partial index by $ne'],
    [index({ partialFilterExpression: { a: { $nin: [1] } } }), 'a partial index by $nin'],
    [index({ partialFilterExpression: { $nor: [{ a: 1 }] } }), 'a partial index by $nor'],
    [index({ partialFilterExpression: { a: 1 }, sparse: true }), 'partial and sparse'],
    [index({ key: { a: 1, b: 1 }, expireAfterSeconds: 1 }), 'a TTL index of other than one field'],
    [index({ key: { _id: 1 }, expireAfterSeconds: 1 }), 'a TTL index of other than one field'],
    [index({ expireAfterSeconds: -1 }), 'a TTL index outside'],
    [index({ key: { '$**': 1 }, unique: true }), 'a unique index of this kind'],
    [{ collMod: 'rows', index: { name: 'one', sparse: true } }, 'collMod of an index has no sparse'],
  ],
};

it.each(Object.keys(refused))('finds what is refused of %s', (kind) => {
  for (const [command, reason] of refused[kind] ?? [])
    expect([reason, refusalsOf(command).join('; ')]).toEqual([reason, expect.stringContaining(reason)]);
});

const taken: Document[] = [
  find({
    filter: { _id: { $in: ['a'] }, at: { $gte: new Date(), $lt: new Date() } },
    sort: { at: -1, _id: -1 },
    limit: 1,
  }),
  find({
    filter: { $or: [{ a: /x/ }, { a: { $not: { $exists: true } } }], rows: { $elemMatch: { a: 1, b: { $gt: 2 } } } },
  }),
  find({
    projection: { _id: 0, a: 1, 'b.c': 1 },
    readConcern: { level: 'majority' },
    maxTimeMS: 5,
    hint: { shop: 1, at: -1 },
  }),
  find({ filter: { a: { b: 1 } }, readConcern: { level: 'snapshot', atClusterTime: 1 } }),
  { insert: 'rows', documents: [{ _id: 'a', at: new Date(), b: deep(98) }], ordered: false, writeConcern: { w: 1 } },
  { insert: 'rows', documents: [{ _id: 'a' }], readConcern: { level: 'snapshot' }, ...begins },
  { ...update({ $set: { a: 1 } }, { multi: true }), ...goesOn },
  update({ $set: { 'a.b': 1, ab: 1 }, $inc: { 'a.c': 1 }, $setOnInsert: { _id: 'a' } }, { upsert: true }),
  update({ $set: { 'days.2026-01-01.n': 1, 'days.2026-01-02.n': 1 } }),
  update({ $set: { 'a.$[one].b': 1, 'c.$[].d': 1 } }, { arrayFilters: [{ 'one.b': 2 }] }),
  update({ $push: { a: { $each: [{ b: 1 }], $slice: -3 } }, $addToSet: { b: { $each: [1] } }, $pull: { c: { d: 1 } } }),
  update([{ $set: { a: { $add: ['$a', { $indexOfArray: [['x', 'y'], '$_id'] }] } } }, { $unset: 'b' }]),
  update({ a: 1 }),
  { ...bulk({ update: 0, filter: { _id: 'a' }, updateMods: { $inc: { a: 1 } }, upsert: true }), ...retried },
  { ...bulk({ insert: 0, document: { _id: 'a' } }, { delete: 0, filter: { a: 1 }, multi: true }), ...begins },
  aggregate({ $match: { a: 1 } }, { $limit: 3 }, { $group: { _id: 1, n: { $sum: 1 } } }),
  { findAndModify: 'rows', query: { _id: 'a' }, sort: { at: 1 }, update: { $set: { a: 1 } }, new: true, ...retried },
  { commitTransaction: 1, $db: 'admin', writeConcern: { w: 'majority', j: true }, ...goesOn },
  index({ unique: true, sparse: true }),
  index({
    key: { a: 1, b: -1 },
    partialFilterExpression: { a: { $exists: true }, $or: [{ b: { $gt: 0 } }, { b: true }] },
  }),
  { collMod: 'rows', index: { name: 'one', expireAfterSeconds: 3, hidden: false } },
];

it('takes what MongoDB takes', () => {
  expect(taken.map(refusalsOf)).toEqual(taken.map(() => []));
});

it('every declared index is one that MongoDB builds, at most 63 besides that of _id', () => {
  for (const specs of Object.values(indexes)) {
    expect(specs.length).toBeLessThanOrEqual(63);
    for (const { reason: _, ...spec } of specs) expect(refusalsOf(index(spec))).toEqual([]);
  }
});
