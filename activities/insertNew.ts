// Inserting rows whose ids are derived from what they stand for: done twice, the second time changes nothing.
import { type Collection, type Document, MongoBulkWriteError, type OptionalUnlessRequiredId } from 'mongodb';
import { pieces } from './pieces.js';

const duplicateKey = 11_000;

/** Inserts what is not there yet and answers the ids of what was. */
export async function insertNew<T extends Document & { _id: string }>(
  collection: Collection<T>,
  rows: T[],
): Promise<string[]> {
  const known: string[] = [];
  for (const some of pieces(rows)) known.push(...(await insertPiece(collection, some)));
  return known;
}

async function insertPiece<T extends Document & { _id: string }>(
  collection: Collection<T>,
  rows: T[],
): Promise<string[]> {
  try {
    // Every row brings its own id, which is all that the driver's type asks for.
    await collection.insertMany(rows as OptionalUnlessRequiredId<T>[], { ordered: false });
    return [];
  } catch (error) {
    if (!(error instanceof MongoBulkWriteError)) throw error;
    const failures = Array.isArray(error.writeErrors) ? error.writeErrors : [error.writeErrors];
    if (failures.length === 0 || failures.some((failure) => failure.code !== duplicateKey)) throw error;
    return failures.flatMap((failure) => rows[failure.index]?._id ?? []);
  }
}
