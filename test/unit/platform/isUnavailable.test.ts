// Every kind of call to an unavailable database fails with an error that is recognised.
import { MongoClient, MongoClientBulkWriteError, MongoServerError, ObjectId } from 'mongodb';
import { afterAll, describe, expect, it } from 'vitest';
import { failure } from '../../../api/http/answer.js';
import { isUnavailable } from '../../../platform/mongodb/isUnavailable.js';
import { StillContended } from '../../../platform/mongodb/stillContended.js';
import { ServiceError } from '../../../schemas/shared/errors.js';

// No server listens on port 1.
const mongo = new MongoClient('mongodb://127.0.0.1:1/', { serverSelectionTimeoutMS: 50 });
const rows = mongo.db('any').collection('rows');
afterAll(() => mongo.close());

const row = () => ({ _id: new ObjectId() });
const asked: [string, () => Promise<unknown>][] = [
  ['findOne', () => rows.findOne({})],
  ['find', () => rows.find({}).toArray()],
  ['insertOne', () => rows.insertOne(row())],
  // biome-ignore lint/plugin: nobody listens there
  ['updateMany', () => rows.updateMany({}, { $set: { a: 1 } })],
  ['insertMany', () => rows.insertMany([row()], { ordered: false })],
  // biome-ignore lint/plugin: nobody listens there
  ["a collection's bulkWrite", () => rows.bulkWrite([{ insertOne: { document: row() } }])],
  // biome-ignore lint/plugin: nobody listens there
  ["the client's bulkWrite", () => mongo.bulkWrite([{ namespace: 'any.rows', name: 'insertOne', document: row() }])],
  ['aggregate', () => rows.aggregate([]).toArray()],
];

describe.each([1, 2])('an unavailable database, called for the %i. time', () => {
  it.each(asked)('is reported as unavailable by %s', async (_, ask) => {
    const error: unknown = await ask().then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(isUnavailable(error)).toBe(true);
    expect(failure(error).status).toBe(503);
  });
});

// While another server becomes primary, the driver's second try may be refused as well, and a getMore has none.
it.each([
  ['ShutdownInProgress', 91],
  ['PrimarySteppedDown', 189],
  ['NotWritablePrimary', 10_107],
  ['InterruptedAtShutdown', 11_600],
  ['InterruptedDueToReplStateChange', 11_602],
  ['NotPrimaryNoSecondaryOk', 13_435],
  ['NotPrimaryOrSecondary', 13_436],
])('a server that answers %s is unavailable, also to a bulk write', (codeName, code) => {
  const refused = new MongoServerError({ message: codeName, codeName, code });
  const bulk = new MongoClientBulkWriteError({ message: 'failed' });
  bulk.cause = refused;
  for (const error of [refused, bulk]) {
    expect(isUnavailable(error)).toBe(true);
    expect(failure(error).status).toBe(503);
  }
});

it('other errors are not reported as unavailable', () => {
  expect(isUnavailable(new Error('no'))).toBe(false);
  expect(isUnavailable(new MongoServerError({ message: 'taken', code: 11_000 }))).toBe(false);
  expect(isUnavailable(new ServiceError('MEMBER_NOT_FOUND'))).toBe(false);
  expect(isUnavailable(new ServiceError('UNAVAILABLE'))).toBe(true);
  expect(isUnavailable(new StillContended())).toBe(false);
  expect(failure(new StillContended()).status).toBe(503);
});
