// A backup as a folder: the rows of each collection as `mongodump --gzip` writes them, and backup.json, which says how
// many rows there are and the sum of their digests, which does not depend on their order.
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip, createGzip } from 'node:zlib';
import { z } from 'zod';
import { parseJson } from '../../platform/parseJson.js';
import { toError } from '../../platform/toError.js';
import { fileMistake } from '../systemError.js';
import { Mistakes } from './command.js';

const collectionSummary = z.object({ rows: z.number(), digest: z.string() });
export type CollectionSummary = z.infer<typeof collectionSummary>;

const manifest = z.object({
  createdAt: z.iso.datetime(),
  database: z.string(),
  collections: z.record(z.string().regex(/^[A-Za-z]+$/), collectionSummary),
});
export type Manifest = z.infer<typeof manifest>;

/** Checks of the database's health write the row of probes, also during a restore. */
export const isBackedUp = (name: string): boolean => name !== 'probes';

export const manifestFile = 'backup.json';
export const rowsFile = (folder: string, name: string): string => join(folder, `${name}.bson.gz`);

const digestBits = 256;

/** Counts rows and adds up their digests. */
export function createSummary() {
  let rows = 0;
  let sum = 0n;
  return {
    add(row: Uint8Array): void {
      rows += 1;
      sum = BigInt.asUintN(digestBits, sum + BigInt(`0x${createHash('sha256').update(row).digest('hex')}`));
    },
    result: (): CollectionSummary => ({ rows, digest: sum.toString(16).padStart(digestBits / 4, '0') }),
  };
}

export const isSame = (one: CollectionSummary, other: CollectionSummary): boolean =>
  one.rows === other.rows && one.digest === other.digest;

/** For its owner alone. */
export async function writeRows(file: string, rows: AsyncIterable<Uint8Array>): Promise<CollectionSummary> {
  const summary = createSummary();
  async function* counted() {
    for await (const row of rows) {
      summary.add(row);
      yield row;
    }
  }
  const output = createWriteStream(file, { mode: 0o600, flush: true });
  await pipeline(Readable.from(counted(), { objectMode: true }), createGzip(), output);
  return summary.result();
}

const largestRow = 48 * 1024 * 1024;

/** Throws Mistakes when the file is damaged. */
export async function* readRows(file: string): AsyncGenerator<Buffer> {
  const damaged = (why: string) => new Mistakes([`${file} is damaged: ${why}`]);
  let rest = Buffer.alloc(0);
  const unpacked = createGunzip();
  const reading = pipeline(createReadStream(file), unpacked);
  reading.catch(() => undefined);
  try {
    for await (const chunk of unpacked) {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const length = rest.length < 4 ? Number.NaN : rest.readInt32LE();
        if (length < 5 || length > largestRow) throw damaged('a row has no length');
        if (!(rest.length >= length)) break;
        yield rest.subarray(0, length);
        rest = rest.subarray(length);
      }
    }
    await reading;
  } catch (error) {
    if (error instanceof Mistakes) throw error;
    throw damaged(fileMistake(error, 'it') ?? toError(error).message);
  } finally {
    unpacked.destroy();
  }
  if (rest.length > 0) throw damaged('its last row is cut off');
}

/** Throws Mistakes when the folder holds no backup that is complete. */
export async function readManifest(folder: string): Promise<Manifest> {
  const file = join(folder, manifestFile);
  if (!existsSync(file)) throw new Mistakes([`${folder} holds no complete backup: ${manifestFile} is missing`]);
  const { success, data } = manifest.safeParse(parseJson(await readFile(file, 'utf8')));
  if (!success) throw new Mistakes([`${file} is not what a backup writes`]);
  return data;
}

/** Reads every row. Throws Mistakes with a line for each file that is not what was written. */
export async function checkBackup(folder: string): Promise<Manifest> {
  const found = await readManifest(folder);
  const mistakes: string[] = [];
  for (const [name, expected] of Object.entries(found.collections)) {
    const file = rowsFile(folder, name);
    const summary = createSummary();
    try {
      for await (const row of readRows(file)) summary.add(row);
      if (!isSame(summary.result(), expected)) mistakes.push(`${file} is not what was written`);
    } catch (error) {
      if (!(error instanceof Mistakes)) throw error;
      mistakes.push(error.message);
    }
  }
  if (mistakes.length > 0) throw new Mistakes(mistakes);
  return found;
}
