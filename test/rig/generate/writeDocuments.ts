// `npm run openapi`: writes the generated files of documents.ts.
import { readFile, writeFile } from 'node:fs/promises';
import { readOptions } from '../../../stack/readOptions.js';
import { documents } from './documents.js';

readOptions('Usage: npm run openapi\n\nWrites openapi.json and the other generated files.', {});

const root = new URL('../../../', import.meta.url);

for (const [name, text] of Object.entries(documents)) {
  const file = new URL(name, root);
  await writeFile(file, text(await readFile(file, 'utf8')));
}
