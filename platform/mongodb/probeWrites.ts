// Checks whether MongoDB accepts writes to each of the most used collections. An engine can answer pings, reads and
// writes to other collections while every write to one collection hangs, so each of these collections is probed with an
// update that matches no row, which waits for the same lock as a real write. One row in `probes` is written to detect a
// full disk.
import type { Db } from 'mongodb';
import { hotCollections } from '../../schemas/tables/collections.js';
import { within } from '../within.js';

const nobody = { _id: 'probe' };

const answered = (write: Promise<unknown>, ms: number): Promise<boolean> =>
  within(
    write.then(
      () => true,
      () => false,
    ),
    { ms, fallback: false },
  );

/**
 * Returns the names of the collections that did not accept a write within `withinMs`; empty when all of them did. Never
 * throws.
 */
export async function unwritableCollections(database: Db, withinMs: number): Promise<string[]> {
  const rows = (name: string) => database.collection<{ _id: string; at?: Date }>(name);
  const writes: [string, Promise<unknown>][] = [
    ['probes', rows('probes').updateOne(nobody, { $set: { at: new Date() } }, { upsert: true })],
    ...hotCollections.map((name): [string, Promise<unknown>] => [
      name,
      rows(name).updateOne(nobody, { $set: { at: new Date() } }),
    ]),
  ];
  const answers = await Promise.all(
    writes.map(async ([name, write]) => ((await answered(write, withinMs)) ? [] : [name])),
  );
  return answers.flat();
}
