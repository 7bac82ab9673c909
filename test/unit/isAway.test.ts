// A database that is away is known as such whatever was asked of it.
import { MongoClient, ObjectId } from 'mongodb';
import { afterAll, describe, expect, it } from 'vitest';
import { isAway } from '../../activities/isAway.js';
import { failure } from '../../api/envelope.js';
import { ServiceError } from '../../schemas/errors.js';

// Nobody listens there.
const mongo = new MongoClient('mongodb://127.0.0.1:1/', { serverSelectionTimeoutMS: 50 });
const rows = mongo.db('any').collection('rows');
afterAll(() => mongo.close());

const row = () => ({ _id: new ObjectId() });
const asked: [string, () => Promise<unknown>][] = [
  ['findOne', () => rows.findOne({})],
  ['find', () => rows.find({}).toArray()],
  ['insertOne', () => rows.insertOne(row())],
  ['updateMany', () => rows.updateMany({}, { $set: { a: 1 } })],
  ['insertMany', () => rows.insertMany([row()], { ordered: false })],
  ["a collection's bulkWrite", () => rows.bulkWrite([{ insertOne: { document: row() } }])],
  ["the client's bulkWrite", () => mongo.bulkWrite([{ namespace: 'any.rows', name: 'insertOne', document: row() }])],
  ['aggregate', () => rows.aggregate([]).toArray()],
];

describe.each([1, 2])('a database that is away, asked for the %i. time', () => {
  it.each(asked)('by %s', async (_, ask) => {
    const error: unknown = await ask().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(isAway(error)).toBe(true);
    expect(failure(error).status).toBe(503);
  });
});

it('is not what is to blame for anything else', () => {
  expect(isAway(new Error('no'))).toBe(false);
  expect(isAway(new ServiceError('MEMBER_NOT_FOUND'))).toBe(false);
  expect(isAway(new ServiceError('UNAVAILABLE'))).toBe(true);
});
