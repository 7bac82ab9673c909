// What the engines on PostgreSQL share: the tables, the statements of a change, and the log of attempts.
import { Client, Pool } from 'pg';
import type { Attempt, StoredEvent } from './delivery.js';
import { type Balance, memberIds, type Place } from './engine.js';

const connections = 20;

const tables = `
  CREATE TABLE members (id text PRIMARY KEY, points int NOT NULL, version int NOT NULL, "updatedAt" timestamptz NOT NULL);
  CREATE TABLE events (id text PRIMARY KEY, "memberId" text NOT NULL, "occurredAt" timestamptz NOT NULL, body text NOT NULL);
  CREATE TABLE attempts (id text PRIMARY KEY, "eventId" text NOT NULL, url text NOT NULL, at timestamptz NOT NULL,
    success boolean NOT NULL, "statusCode" int, "durationMs" int NOT NULL);
`;

export const databaseOf = ({ address, name }: Place): string => `${address}/${name}`;

export const poolOf = (place: Place): Pool => new Pool({ connectionString: databaseOf(place), max: connections });

/** Creates the database of the engine with the tables and the members. */
export async function createDatabase(place: Place): Promise<void> {
  const server = new Client({ connectionString: `${place.address}/postgres` });
  await server.connect();
  await server.query(`CREATE DATABASE "${place.name}"`);
  await server.end();
  const client = new Client({ connectionString: databaseOf(place) });
  await client.connect();
  await client.query(tables);
  await client.query('INSERT INTO members SELECT id, 0, 0, now() FROM unnest($1::text[]) AS id', [memberIds]);
  await client.end();
}

export type Query = (text: string, values: unknown[]) => Promise<unknown[]>;

/** The row and the event, by statements of a transaction that the caller opened. */
export async function changeBy(
  query: Query,
  memberId: string,
  makeEvent: (memberId: string, after: Balance) => StoredEvent,
): Promise<StoredEvent> {
  const [after] = (await query(
    'UPDATE members SET points = points + 1, version = version + 1, "updatedAt" = now() WHERE id = $1 RETURNING points, version',
    [memberId],
  )) as Balance[];
  if (!after) throw new Error('The member is gone.');
  const event = makeEvent(memberId, after);
  await query('INSERT INTO events VALUES ($1, $2, now(), $3)', [event.eventId, memberId, event.body]);
  return event;
}

export async function inTransaction<T>(pool: Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const done = await work(async (text, values) => (await client.query(text, values)).rows);
    await client.query('COMMIT');
    return done;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

export async function logAttempt(pool: Pool, attempt: Attempt): Promise<void> {
  const { id, eventId, url, at, success, statusCode, durationMs } = attempt;
  await pool.query('INSERT INTO attempts VALUES ($1, $2, $3, $4, $5, $6, $7)', [
    id,
    eventId,
    url,
    at,
    success,
    statusCode,
    durationMs,
  ]);
}

export async function countAttempts(pool: Pool): Promise<number> {
  const { rows } = await pool.query('SELECT count(*) FROM attempts WHERE success', []);
  return Number((rows as { count: string }[])[0]?.count);
}
