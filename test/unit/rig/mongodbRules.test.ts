// What MongoDB 8 would refuse is found, and what it takes is not (test/rig/mongodb/rules.ts).
import type { Document } from 'mongodb';
import { expect, it } from 'vitest';
import { indexes as declared } from '../../../schemas/tables/collections.js';
import { refusals } from '../../rig/mongodb/rules.js';

const keys = ['{"shop":1,"at":-1}'];
const refusalsOf = (command: Document): string[] =>
  refusals({ ...command, $db: command.$db ?? 'loyalty' }, (name) => (name === 'rows' ? keys : []));

const find = (more: Document): Document => ({ find: 'rows', ...more });
const update = (u: unknown, more: Document = {}): Document => ({
  update: 'rows',
  updates: [{ q: { _id: 'a' }, u, ...more }],
});
const insert = (row: Document): Document => ({ insert: 'rows', documents: [row] });
const indexes = (...all: Document[]): Document => ({
  createIndexes: 'rows',
  indexes: all.map((more) => ({ name: 'one', key: { a: 1 }, ...more })),
});
const index = (more: Document): Document => indexes(more);
const aggregate = (...pipeline: Document[]): Document => ({ aggregate: 'rows', pipeline, cursor: {} });
const bulk = (...ops: Document[]): Document => ({
  bulkWrite: 1,
  $db: 'admin',
  ops: { documents: ops },
  nsInfo: { documents: [{ ns: 'loyalty.rows' }] },
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
    [update({ $set: { a: 1 } }, { justOne: true }), 'a statement of update has no field justOne'],
    [{ insert: 'rows', documents: [] }, 'an empty list of documents'],
    [bulk(), 'an empty list of ops'],
    [{ insert: 'rows', documents: Array(100_001).fill({ a: 1 }) }, '100001 documents, more than 100,000'],
    [find({ writeConcern: { w: 1 } }), 'find has no field writeConcern'],
    [find({ collation: { locale: 'de' } }), 'find has no field collation'],
    [find({ readConcern: { level: 'local', provenance: 'x' } }), 'find has no field readConcern.provenance'],
    [{ getMore: 1, collection: 'rows', maxTimeMS: 1 }, 'a time limit of getMore'],
    [{ delete: 'rows', deletes: [{ q: {} }] }, 'a delete without the limit 0 or 1'],
    [{ delete: 'rows', deletes: [{ q: {}, limit: 2 }] }, 'a delete without the limit 0 or 1'],
  ],
  transactions: [
    [{ count: 'rows', ...begins }, 'count in a transaction'],
    [{ listIndexes: 'rows', ...goesOn }, 'listIndexes in a transaction'],
    [
      { ...index({}), ...begins },
      'createIndexes in a transaction, which MongoDB takes only of a new or empty collection',
    ],
    [{ killCursors: 'rows', cursors: [], ...begins }, 'killCursors begins a transaction'],
    [{ ...insert({ _id: 'a' }), writeConcern: { w: 'majority' }, ...begins }, 'a write concern before the commit'],
    [find({ readConcern: { level: 'snapshot' }, ...goesOn }), 'a read concern in a begun transaction'],
    [find({ readConcern: { level: 'linearizable' }, ...begins }), 'the read concern linearizable for find'],
    [find({ $db: 'admin', ...begins }), 'a transaction in the database admin'],
  ],
  'read concerns': [
    [{ count: 'rows', readConcern: { level: 'snapshot' } }, 'the read concern snapshot for count'],
    [{ listIndexes: 'rows', readConcern: { level: 'majority' } }, 'the read concern majority for listIndexes'],
  ],
  'retried writes': [
    [{ ...update({ $set: { a: 1 } }, { multi: true }), ...retried }, 'a retried write of many rows'],
    [{ delete: 'rows', deletes: [{ q: {}, limit: 0 }], ...retried }, 'a retried write of many rows'],
    [{ ...bulk({ delete: 0, filter: {}, multi: true }), ...retried }, 'a retried write of many rows'],
  ],
  filters: [
    [find({ filter: { $and: [] } }), '$and has no conditions'],
    [find({ filter: { $or: [{ a: 1 }, { $xor: [] }] } }), 'the filter has the operator $xor'],
    [find({ filter: { $where: 'true' } }), 'the filter has the operator $where'],
    [find({ filter: { a: { $gt: 1, b: 2 } } }), 'a has the operator b'],
    [find({ filter: { a: { $in: 'x' } } }), '$in of a has no list'],
    [find({ filter: { a: { $in: ['x', { $gt: 1 }] } } }), '$in of a has an operator in it'],
    [{ delete: 'rows', deletes: [{ q: { a: { $is: 1 } }, limit: 1 }] }, 'a has the operator $is'],
    [bulk({ update: 0, filter: { a: { $is: 1 } }, updateMods: { $set: { a: 1 } } }), 'a has the operator $is'],
  ],
  updates: [
    [update({ $set: { a: 1, 'a.b': 2 } }), 'an update of a.b and a'],
    [update({ $set: { a: 1 }, $unset: { a: 1 } }), 'an update of a and a'],
    [bulk({ update: 0, filter: {}, updateMods: { $set: { a: 1 }, $inc: { 'a.b': 1 } } }), 'an update of a.b and a'],
    [{ findAndModify: 'rows', query: {}, update: { $set: { a: 1, 'a.b': 1 } } }, 'an update of a.b and a'],
    [update({ a: 1 }, { multi: true }), 'a replacement of many rows'],
    [update({ $upsert: { a: 1 } }), 'the update operator $upsert'],
    [update({ $set: 3 }), '$set without fields'],
    [update({ $set: { 'a..b': 1 } }), 'the path "a..b"'],
    [update({ $set: { $b: 1 } }), 'the path "$b"'],
    [update({ $set: { 'a.$': 1 } }), 'the path "a.$"'],
    [update({ $set: { '$[].a': 1 } }), 'the path "$[].a"'],
    [update({ $set: { 'a.$[one].b': 1 } }), 'a.$[one].b without its array filter'],
    [update({ $set: { a: 1 } }, { arrayFilters: [{ 'one.b': 1 }] }), 'the array filter one, which no path names'],
    [update({ $push: { a: { $each: [1], $limit: 3 } } }), '$push of a has $limit'],
    [update({ $addToSet: { a: { $each: [1], $slice: 3 } } }), '$addToSet of a has $slice'],
    [update({ $pull: { a: { $is: 1 } } }), 'the filter has the operator $is'],
    [update({ $pull: { a: { b: { $is: 1 } } } }), 'b has the operator $is'],
    [update({ $pull: { a: { $gt: 1, $is: 1 } } }), 'a has the operator $is'],
    [update({ $inc: { _id: 1 } }), '$inc of _id'],
    [update([{ $group: { _id: 1 } }]), 'an update with the stage $group'],
    [update([{ $set: { a: { $append: ['$b', 1] } } }]), 'the expression operator $append'],
    [update([{ $set: { a: 1 } }], { arrayFilters: [{ one: 1 }] }), 'array filters with a pipeline'],
  ],
  'stored rows': [
    [insert({ _id: ['a'] }), 'an _id that is no value'],
    [insert({ _id: { $a: 1 } }), 'an _id with the key "$a"'],
    [bulk({ insert: 0, document: { _id: { a: 1, $b: 1 } } }), 'an _id with the key "$b"'],
    [insert({ _id: 'a', b: deep(101) }), 'a row of more than 100 levels'],
    [update({ $push: { a: { $each: [deep(101)] } } }), 'a row of more than 100 levels'],
  ],
  reading: [
    [find({ projection: { a: 1, b: 0 } }), 'a projection that includes and excludes'],
    [find({ projection: { a: 1, 'a.b': 1 } }), 'a projection of a.b and a'],
    [find({ projection: { a: { $first: 1 } } }), 'a projection of a by more than 0 or 1'],
    [find({ sort: new Map([['a', 'up']]) }), 'a sort of "a" by up'],
    [find({ sort: many(33) }), 'a sort of more than 32 fields'],
    [find({ limit: -1 }), 'a negative limit'],
    [find({ hint: { at: 1 } }), 'a hint to no declared index, {"at":1}'],
    [find({ hint: 'shop_1_at_-1' }), 'a hint by the name shop_1_at_-1, which the index need not have'],
  ],
  aggregations: [
    [{ aggregate: 'rows', pipeline: [] }, 'an aggregation without a cursor'],
    [aggregate({ $out: 'b' }), 'the stage $out'],
    [aggregate({ $match: {}, $limit: 1 }), 'a stage with $match and $limit'],
    [aggregate({ $match: { a: { $like: 1 } } }), 'a has the operator $like'],
    [aggregate({ $group: { _id: '$a', n: { $total: 1 } } }), 'a group with n by $total'],
    [aggregate({ $group: { _id: 1, n: 1 } }), 'a group with n by 1'],
    [aggregate({ $group: { _id: 1, n: { $sum: { $size: '$a' } } } }), 'the expression operator $size'],
    [aggregate({ $group: { n: { $sum: 1 } } }), 'a group without an _id'],
    [aggregate({ $limit: 0 }), 'a stage $limit of 0'],
  ],
  indexes: [
    [index({ key: {} }), 'an index without fields'],
    [index({ key: many(33) }), 'an index of more than 32 fields'],
    [index({ key: { a: 'up' } }), 'an index of a: up'],
    [index({ key: { 'a.': 1 } }), 'an index of the path "a."'],
    [index({ dropDups: true }), 'an index with the option dropDups'],
    [index({ partialFilterExpression: { a: { $exists: false } } }), 'a partial index by $exists: false'],
    [index({ partialFilterExpression: { a: { $ne: null } } }), 'a partial index by $ne'],
    [index({ partialFilterExpression: { a: 1 }, sparse: true }), 'an index that is partial and sparse'],
    [index({ key: { a: 1, b: 1 }, expireAfterSeconds: 1 }), 'a TTL index of other than one field'],
    [index({ expireAfterSeconds: -1 }), 'a TTL index outside of 0 to 2,147,483,647 s'],
    [indexes({ key: { a: 1 } }, { key: { b: 1 } }), 'two indexes with the name one'],
    [indexes({ key: { a: 1, b: 1 } }, { key: { a: 1, b: 1 }, name: 'two' }), 'two indexes of a, b'],
    [{ collMod: 'rows', index: { name: 'one', sparse: true } }, 'collMod of an index has no sparse'],
  ],
};

it.each(Object.keys(refused))('finds what is refused of %s', (kind) => {
  for (const [command, reason] of refused[kind] ?? [])
    expect([command, refusalsOf(command)]).toEqual([command, [reason]]);
});

const taken: Document[] = [
  find({ filter: { _id: { $in: ['a'] }, at: { $gte: new Date(), $lt: new Date() }, a: { b: 1 } }, limit: 1 }),
  find({ sort: new Map([['at', -1]]), projection: { _id: 0, a: 1, 'b.c': 1 }, hint: { shop: 1, at: -1 } }),
  find({ filter: { $or: [{ a: 1 }, { b: undefined }] }, readConcern: { level: 'snapshot', atClusterTime: 1 } }),
  { ...insert({ _id: 'a', at: new Date(), b: deep(98) }), ordered: false, writeConcern: { w: 1 } },
  { ...insert({ _id: 'a' }), readConcern: { level: 'snapshot' }, ...begins },
  { ...update({ $set: { a: 1 } }, { multi: true }), ...goesOn },
  update({ $set: { 'a.b': 1, ab: 1 }, $inc: { 'a.c': 1 }, $setOnInsert: { _id: 'a' } }, { upsert: true }),
  update({ $set: { 'a.$[one].b': 1, 'c.$[].d': 1 } }, { arrayFilters: [{ 'one.b': 2 }] }),
  update({ $push: { a: { $each: [{ b: 1 }], $slice: -3 } }, $addToSet: { b: { $each: [1] } }, $pull: { c: { d: 1 } } }),
  update([{ $set: { a: { $add: ['$a', { $indexOfArray: [['x', 'y'], '$_id'] }] } } }, { $unset: 'b' }]),
  update({ a: 1, b: { $b: 1, 'c.d': 1 } }),
  insert({ _id: 'a', $b: 1, c: { $ref: 'd', '$5 off': 1, 'e.f': [{ $set: 1 }] } }),
  update({ $set: { a: { $ref: 1, '$5 off': 1 }, 'b.$c': 1 }, $push: { d: { $each: [{ $e: 1 }] } } }),
  update({ $pull: { a: { $gt: 1 }, b: { c: { $in: [/x/] }, $or: [{ d: 1 }] }, e: 'x' } }),
  { delete: 'rows', deletes: [{ q: {}, limit: 0 }], writeConcern: { w: 'majority', j: true } },
  { ...bulk({ update: 0, filter: { _id: 'a' }, updateMods: { $inc: { a: 1 } }, upsert: true }), ...retried },
  { ...bulk({ insert: 0, document: { _id: 'a' } }, { delete: 0, filter: { a: 1 }, multi: true }), ...begins },
  aggregate({ $match: { a: 1 } }, { $limit: 3 }, { $group: { _id: 1, n: { $sum: 1 } } }),
  { findAndModify: 'rows', query: { _id: 'a' }, sort: { at: 1 }, update: { $set: { a: 1 } }, new: true, ...retried },
  { commitTransaction: 1, $db: 'admin', writeConcern: { w: 'majority', j: true }, ...goesOn },
  index({ key: { a: 1, b: -1 }, unique: true, partialFilterExpression: { a: { $exists: true }, b: { $gt: 0 } } }),
  indexes({ unique: true }, { name: 'two' }, { name: 'three', partialFilterExpression: { a: { $gt: 0 } } }),
  { collMod: 'rows', index: { name: 'one', expireAfterSeconds: 3, hidden: false } },
];

it('takes what MongoDB takes', () => {
  expect(taken.map(refusalsOf)).toEqual(taken.map(() => []));
});

it('every declared index is one that MongoDB builds, at most 63 besides that of _id', () => {
  for (const specs of Object.values(declared)) {
    expect(specs.length).toBeLessThanOrEqual(63);
    const named = specs.map(({ reason: _, ...spec }, at) => ({ name: String(at), ...spec }));
    if (named.length > 0) expect(refusalsOf(indexes(...named))).toEqual([]);
  }
});
