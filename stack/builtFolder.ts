// A folder of dist that is built from sources: written as a draft, then put in place of the one before. A folder of the
// same sources is reused.
import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';

/** A digest of the names and contents of files. */
export async function digestOf(files: readonly string[], also = ''): Promise<string> {
  const hash = createHash('sha256').update(also);
  for (const file of files) hash.update(basename(file)).update(await readFile(file));
  return hash.digest('hex');
}

interface Build {
  output: string;
  /** The digest of the sources. */
  sources: string;
  write: (draft: string) => Promise<void>;
}

/** Returns whether the folder was built again. */
export async function builtFolder({ output, sources, write }: Build): Promise<boolean> {
  const isThere = async () => (await readFile(join(output, 'sources'), 'utf8').catch(() => '')) === sources;
  if (await isThere()) return false;
  const draft = `${output}.${process.pid}`;
  await mkdir(draft, { recursive: true });
  await write(draft);
  await writeFile(join(draft, 'sources'), sources);
  try {
    await rm(output, { recursive: true, force: true });
    await rename(draft, output);
  } catch (error) {
    // Another process may have stored the same build at the same moment.
    await rm(draft, { recursive: true, force: true });
    if (!(await isThere())) throw error;
  }
  return true;
}
