// Every pair of write kinds of this service on the bare engine: an open transaction makes the first write, the second
// write conflicts with it on the same document, then the transaction writes again and commits. Both must end, and the
// collection must accept writes afterwards. Kinds that the lint rule of `npm run check` refuses are run too, to show
// why.
import { randomUUID } from 'node:crypto';
import { type ClientSession, type Collection, type Document, MongoClient } from 'mongodb';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startEngines, type TestEngines } from '../rig/start/engines.js';

interface Row extends Document {
  _id: string;
}
type CollectionRows = Collection<Row>;
type Write = (rows: CollectionRows, session?: ClientSession) => Promise<unknown>;

const set = { $set: { changed: true } };
const both = { _id: { $in: ['one', 'two'] } };
const fresh = () => ({ _id: randomUUID(), unique: randomUUID() });
const options = (session?: ClientSession) => (session ? { session } : {});

let engines: TestEngines;
let client: MongoClient;

/** Kinds that are allowed outside and inside of a transaction. */
const singles: Record<string, Write> = {
  'insert of a new row': (rows, session) => rows.insertOne(fresh(), options(session)),
  'insert of a taken id': (rows, session) => rows.insertOne({ _id: 'one', unique: 'one' }, options(session)),
  'insert of a taken unique value': (rows, session) => rows.insertOne({ ...fresh(), unique: 'one' }, options(session)),
  'insert of many, unordered': (rows, session) =>
    rows.insertMany([fresh(), { _id: 'one', unique: 'one' }, fresh()], { ordered: false, ...options(session) }),
  'update by id': (rows, session) => rows.updateOne({ _id: 'one' }, set, options(session)),
  'update by a field': (rows, session) => rows.updateOne({ kind: 1 }, set, options(session)),
  'update by a range': (rows, session) => rows.updateOne({ _id: { $gte: 'one', $lt: 'onf' } }, set, options(session)),
  'update of a unique value': (rows, session) =>
    rows.updateOne({ _id: 'one' }, { $set: { unique: 'other' } }, options(session)),
  'update that matches nothing': (rows, session) => rows.updateOne({ _id: 'nobody' }, set, options(session)),
  'upsert of a taken id': (rows, session) => rows.updateOne({ _id: 'one' }, set, { upsert: true, ...options(session) }),
  'upsert of a new id': (rows, session) =>
    rows.updateOne({ _id: 'new' }, { $setOnInsert: { unique: 'new' } }, { upsert: true, ...options(session) }),
  replace: (rows, session) => rows.replaceOne({ _id: 'one' }, { unique: 'one', kind: 1 }, options(session)),
  'find and update': (rows, session) => rows.findOneAndUpdate({ _id: 'one' }, set, options(session)),
  'remove by id': (rows, session) => rows.deleteOne({ _id: 'one' }, options(session)),
};

/** Kinds that are allowed inside of a transaction only. */
const inTransaction: Record<string, Write> = {
  ...singles,
  // biome-ignore lint/plugin: inside a transaction
  'update of many': (rows, session) => rows.updateMany(both, set, options(session)),
  // biome-ignore lint/plugin: inside a transaction
  'remove of many': (rows, session) => rows.deleteMany(both, options(session)),
  'bulk over the client': (rows, session) =>
    // biome-ignore lint/plugin: inside a transaction
    client.bulkWrite<Record<string, Row>>(
      [
        { namespace: rows.namespace, name: 'insertOne', document: fresh() },
        { namespace: rows.namespace, name: 'updateOne', filter: { _id: 'one' }, update: set },
        { namespace: rows.namespace, name: 'deleteMany', filter: { _id: 'two' } },
      ],
      { ordered: true, ...options(session) },
    ),
};

/** Reads and the work of a migration, which also meet open transactions. */
const others: Record<string, Write> = {
  find: (rows) => rows.find({ kind: 1 }).toArray(),
  'find with majority': (rows) => rows.find({ kind: 1 }, { readConcern: { level: 'majority' } }).toArray(),
  count: (rows) => rows.countDocuments({ kind: 1 }),
  'create of an index': (rows) => rows.createIndex({ later: 1 }),
  'create of another collection': async (rows) => client.db(rows.dbName).createCollection(`c-${randomUUID()}`),
  'drop of another database': () => client.db(`other-${randomUUID()}`).dropDatabase(),
};

/** Kinds that the lint rule refuses, and a drop, which only tests use. */
const refused: Record<string, Write> = {
  // biome-ignore lint/plugin: shows why it is refused
  'update of many': (rows) => rows.updateMany(both, set),
  // biome-ignore lint/plugin: shows why it is refused
  'update of one by updateMany': (rows) => rows.updateMany({ _id: 'one' }, set),
  // biome-ignore lint/plugin: shows why it is refused
  'remove of many': (rows) => rows.deleteMany(both),
  'bulk that removes many': (rows) =>
    // biome-ignore lint/plugin: shows why it is refused
    client.bulkWrite<Record<string, Row>>([{ namespace: rows.namespace, name: 'deleteMany', filter: both }]),
  'bulk of a collection': (rows) =>
    // biome-ignore lint/plugin: shows why it is refused
    rows.bulkWrite([{ updateMany: { filter: both, update: set } }]),
};

/** Runs the write in its own transaction, which is aborted after a conflict. */
const whole =
  (write: Write): Write =>
  async (rows) => {
    const session = client.startSession();
    try {
      session.startTransaction();
      await write(rows, session);
      await session.commitTransaction();
    } finally {
      await session.endSession();
    }
  };

/** 'ended' when the promise settled within the time, otherwise 'hangs'. */
async function ending(work: Promise<unknown>, withinMs = 6_000): Promise<'ended' | 'hangs'> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'hangs'>((resolve) => {
    timer = setTimeout(resolve, withinMs, 'hangs');
  });
  const ended = work.then(
    () => 'ended' as const,
    () => 'ended' as const,
  );
  return Promise.race([ended, late]).finally(() => clearTimeout(timer));
}

beforeEach(async () => {
  engines = await startEngines({ temporal: false });
  client = new MongoClient(engines.mongodbUri, { writeConcern: { w: 'majority', journal: true }, maxPoolSize: 200 });
});

afterEach(async () => {
  // The engine is stopped first, because a wedged engine does not answer the client's close.
  await engines.stop();
  await client.close(true);
});

async function prepared(): Promise<CollectionRows> {
  const rows = client.db('kinds').collection<Row>(`rows-${randomUUID()}`);
  await rows.createIndexes([
    { key: { unique: 1 }, unique: true },
    { key: { kind: 1 }, name: 'kind' },
  ]);
  await rows.insertMany(['one', 'two', 'three'].map((_id) => ({ _id, unique: _id, kind: 1 })));
  return rows;
}

/** The calls that hang when `other` meets a transaction that has made `first`; empty when all end. */
async function meet(first: Write, other: Write): Promise<string[]> {
  const rows = await prepared();
  const session = client.startSession();
  session.startTransaction();
  const begun = await ending(first(rows, session));
  const met = ending(other(rows));
  // Long enough for the statement to reach the engine while the transaction is open.
  await Promise.race([met, new Promise((resolve) => setTimeout(resolve, 30))]);
  const seen = {
    'first write': begun,
    'second write': await ending(rows.updateOne({ _id: 'three' }, set, { session })),
    commit: await ending(session.commitTransaction()),
    'other statement': await met,
    'write afterwards': await ending(rows.updateOne({ _id: 'nobody' }, set)),
  };
  const hanging = Object.entries(seen).flatMap(([name, how]) => (how === 'hangs' ? [name] : []));
  const ended = session.endSession();
  if (hanging.length === 0) await ended;
  else ended.catch(() => undefined);
  return hanging;
}

it('no two kinds of write of this service block each other forever', async () => {
  const against = {
    ...singles,
    ...others,
    ...Object.fromEntries(
      Object.entries(inTransaction).map(([name, write]) => [`${name}, in a transaction`, whole(write)]),
    ),
  };
  const hanging: string[] = [];
  let played = 0;
  for (const [firstName, first] of Object.entries(inTransaction))
    for (const [otherName, other] of Object.entries(against)) {
      const hangs = await meet(first, other);
      played += 1;
      if (hangs.length > 0) hanging.push(`${firstName} / ${otherName}: ${hangs.join(', ')}`);
      if (hangs.includes('write afterwards')) throw new Error(`wedged after ${played} pairs by ${hanging.at(-1)}`);
    }
  console.log(`${played} pairs of kinds of write were played on ${engines.mongodbUri}.`);
  expect(hanging).toEqual([]);
}, 900_000);

it.each(Object.entries(refused))(
  'a refused kind wedges the embedded engine, or ends on a MongoDB: %s',
  async (_, other) => {
    const hangs = await meet((rows, session) => rows.updateOne({ _id: 'one' }, set, options(session)), other);
    console.log(hangs.join(', ') || 'all ends');
    expect(hangs.includes('write afterwards')).toBe(engines.mongodbKind === 'secantusd');
  },
  120_000,
);
