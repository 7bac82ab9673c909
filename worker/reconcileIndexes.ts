// Makes the indexes of each collection those that schemas/tables/collections.ts names. An index is what its key and
// options say; its name means nothing. New indexes are built before old ones are dropped, so that what a unique index
// guards is guarded all the time, and a build that fails leaves the old index in place.
import { type Db, type IndexDescription, type IndexDescriptionInfo, MongoClient, MongoServerError } from 'mongodb';
import type { Deps } from '../platform/deps.js';
import type { IndexSpec } from '../schemas/shared/indexes.js';
import { type CollectionName, collectionNames, indexes } from '../schemas/tables/collections.js';

export type FoundIndexes = Record<CollectionName, IndexDescriptionInfo[]>;

export interface IndexPlan {
  /** Indexes that differ only in options which `collMod` can change, or for which MongoDB builds no second index. */
  change: { index: IndexDescription; how?: { expireAfterSeconds?: number; hidden?: false } }[];
  build: IndexDescription[];
  drop: string[];
}

export async function findIndexes({ collections }: Pick<Deps, 'collections'>): Promise<FoundIndexes> {
  const found = collectionNames.map(async (name) => [
    name,
    await collections[name].indexes().catch(unless('NamespaceNotFound', [])),
  ]);
  // The compiler cannot check that each name is there.
  return Object.fromEntries(await Promise.all(found));
}

/**
 * Can run while the service is running, and in several processes at the same time. Throws when an index cannot be
 * built.
 */
export async function reconcileIndexes(
  { config, log }: Pick<Deps, 'config' | 'log'>,
  found: FoundIndexes,
): Promise<void> {
  // A client without a time limit for a statement: the build of a large index takes longer than any.
  const patient = new MongoClient(config.MONGODB_URI, {
    ...{ socketTimeoutMS: 0, serverSelectionTimeoutMS: 5_000, maxPoolSize: 8, appName: 'loyalty-pass-service' },
    writeConcern: { w: 'majority', journal: true },
  });
  const database = patient.db(config.MONGODB_DATABASE);
  const reconcile = async (name: CollectionName): Promise<void> => {
    const plan = planIndexes(indexes[name], found[name]);
    if (Object.values(plan).every((steps) => steps.length === 0)) return;
    await follow(database, name, plan);
    if (found[name].length > 0) log.info({ collection: name, ...plan }, 'the indexes were changed');
  };
  try {
    await Promise.all(collectionNames.map(reconcile));
  } finally {
    await patient.close();
  }
}

export function planIndexes(wanted: readonly IndexSpec[], found: readonly IndexDescriptionInfo[]): IndexPlan {
  const plan: IndexPlan = { change: [], build: [], drop: [] };
  const others = new Map(found.filter(({ name }) => name !== '_id_').map((index) => [identityOf(index), index]));
  const taken = new Set(found.map(({ name }) => name));
  for (const { reason, ...index } of wanted) {
    const same = others.get(identityOf(index));
    others.delete(identityOf(index));
    if (!same) {
      const name = freeName(index.key, taken);
      taken.add(name);
      plan.build.push({ ...index, name });
      continue;
    }
    const { expireAfterSeconds } = index;
    const changesExpiry = expireAfterSeconds !== same.expireAfterSeconds;
    if (!changesExpiry && !same.hidden) continue;
    const how = { ...(changesExpiry && { expireAfterSeconds }), ...(same.hidden && { hidden: false as const }) };
    const keepsExpiry = !changesExpiry || expireAfterSeconds !== undefined;
    plan.change.push({ index: { ...index, name: String(same.name) }, ...(keepsExpiry && { how }) });
  }
  plan.drop = [...others.values()].map(({ name }) => String(name));
  return plan;
}

/** Options that do not tell one index from another of the same key. */
const notIdentity = new Set(['name', 'v', 'ns', 'background', 'expireAfterSeconds', 'hidden']);

function identityOf({ key, ...options }: Omit<IndexSpec, 'reason'> | IndexDescriptionInfo): string {
  const own = Object.entries(options).filter(([option, value]) => !notIdentity.has(option) && value !== false);
  return JSON.stringify([Object.entries(key), own.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

function freeName(key: IndexSpec['key'], taken: ReadonlySet<string | undefined>): string {
  const plain = Object.entries(key).flat().join('_');
  let name = plain;
  for (let number = 2; taken.has(name); number += 1) name = `${plain}_${number}`;
  return name;
}

async function follow(database: Db, name: CollectionName, { change, build, drop }: IndexPlan): Promise<void> {
  const collection = database.collection(name);
  // Another process may have dropped it first.
  const dropOne = (index = '') => collection.dropIndex(index).catch(unless('IndexNotFound', undefined));
  const missing = [...build];
  for (const { index, how } of change) {
    const command = { collMod: name, index: { name: index.name, ...how } };
    const modify = () => database.command(command);
    // A user of MongoDB who may build and drop indexes need not have the right to change them.
    if (how && (await modify().catch(unless('Unauthorized', undefined)))) continue;
    await dropOne(index.name);
    missing.push(index);
  }
  if (missing.length > 0) await collection.createIndexes(missing);
  for (const index of drop) await dropOne(index);
}

/** A `catch` that answers `fallback` for this error of MongoDB and throws every other one. */
function unless<T>(codeName: string, fallback: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof MongoServerError && error.codeName === codeName) return fallback;
    throw error;
  };
}
