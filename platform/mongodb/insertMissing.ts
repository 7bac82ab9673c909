// Inserts rows whose ids are derived from their content. A repeated insert changes nothing.
import { type Collection, type Document, MongoBulkWriteError, type OptionalUnlessRequiredId } from 'mongodb';
import { toChunks } from '../toChunks.js';
import { duplicateKeyCode } from './conflicts.js';

/** Inserts the rows whose ids do not exist yet. Returns the ids that existed already. */
export async function insertMissing<T extends Document & { _id: string }>(
  collection: Collection<T>,
  rows: T[],
): Promise<string[]> {
  const known: string[] = [];
  for (const chunk of toChunks(rows)) known.push(...(await insertChunk(collection, chunk)));
  return known;
}

async function insertChunk<T extends Document & { _id: string }>(
  collection: Collection<T>,
  rows: T[],
): Promise<string[]> {
  try {
    // Every row has its own id; the driver's type requires nothing else.
    await collection.insertMany(rows as OptionalUnlessRequiredId<T>[], { ordered: false });
    return [];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
    if (failures.length === 0 || failures.some((failure) => failure.code !== duplicateKeyCode)) throw error;
    return failures.flatMap((failure) => rows[failure.index]?._id ?? []);
  }
}
