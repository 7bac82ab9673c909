// No query of the service may scan a collection: each shape of query is explained once, when its service stops.
import type { Db, Document } from 'mongodb';
import { askedOf, type Query } from './queries.js';
import { noteSeen } from './seenOperations.js';

/** The queries that may scan, by collection and shape, each with its reason. */
export const scansAllowed: Record<string, string> = {
  'programs {} merchantId,_id': 'an operator lists all programs',
  'programs {} _id': 'an operator names a program by the id that its merchant chose',
  'programs {}': 'the migration reads the countries of all programs',
  'merchants {} _id': 'an operator lists all merchants',
  'roles {} merchantId,_id': 'an operator lists all roles',
  'expiries {}': 'a row for each program with an expiry rule, and all of them are needed',
  'classUpdates {} _id': 'the changed programs that Google is still to hear of, read in turn for 15 s at most',
  'subscriptions {} _id': 'a change of SECRETS_KEY reads the secrets of all, page by page',
  'subscriptions {}': 'a change of SECRETS_KEY reads the secrets of all, page by page',
  'mails {"sealed":{"$exists":true}}': 'a change of SECRETS_KEY reads all mails that still have a link',
};

/** A backup reads all rows, and a restore reads them back. */
const readsAll = /^stack\/commands\/(backupFolder|restore)\.ts/;

/** Records that a query that may scan was sent. */
export const scanSeen = (key: string): string => `scan ${key}`;

const stagesOf = (plan: Document): Document[] => [
  plan,
  ...[plan.inputStage, ...(plan.inputStages ?? [])].filter(Boolean).flatMap(stagesOf),
];

/** An index that leaves out most rows may be read whole. */
function isWhole({ stage, keyPattern, indexBounds, isSparse, isPartial }: Document): boolean {
  if (stage === 'COLLSCAN') return true;
  if (stage !== 'IXSCAN' || isSparse || isPartial) return false;
  const bounds: string[] = indexBounds[Object.keys(keyPattern)[0] ?? ''];
  return new Set(bounds.flatMap((bound) => bound.match(/M(in|ax)Key/g) ?? [])).size === 2;
}

/** Whether a stage drops rows or needs all of them, so that a limit does not bound what is read. */
const readsOn = ({ stage, filter = {} }: Document): boolean => stage === 'SORT' || Object.keys(filter).length > 0;

/** Whether MongoDB reads a whole collection for the query, or null when there are too few rows to tell. */
async function scans(database: Db, { collection, limit, ...query }: Query): Promise<boolean | null> {
  const explain = { find: collection, ...query };
  const { queryPlanner } = await database.command({ explain, verbosity: 'queryPlanner' });
  const { winningPlan } = queryPlanner;
  const stages = stagesOf(winningPlan.queryPlan ?? winningPlan);
  if (stages.some(({ stage }) => stage === 'EOF')) return null;
  return stages.some(isWhole) && (!limit || stages.some(readsOn));
}

/** What the database answered from an index, also for a service that was stopped before. */
const indexed = new Set<string>();

/** Throws when a query of the service to this database, unless it is known to be bounded, scans a collection. */
export async function expectNoScans(database: Db): Promise<void> {
  const asked = askedOf(database.databaseName);
  const found: string[] = [];
  for (const [key, { query, from }] of asked) {
    if (key in scansAllowed) noteSeen(scanSeen(key));
    if (from === undefined || readsAll.test(from) || key in scansAllowed || indexed.has(key)) continue;
    const scan = await scans(database, query);
    if (scan === false) indexed.add(key);
    if (scan) found.push(`${key} (${from})`);
  }
  asked.clear();
  if (found.length > 0) throw new Error(`These queries scan a collection:\n${found.join('\n')}`);
}
