// Writes console/openapi.d.ts, the types of the console's client, from openapi.json. `npm run check` runs it; the file
// is not in the repository.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString } from 'openapi-typescript';
import { sha256 } from '../../../schemas/shared/ids.js';

const root = new URL('../../../', import.meta.url);
const file = new URL('console/openapi.d.ts', root);
const document = await readFile(new URL('openapi.json', root), 'utf8');
const mark = `// From openapi.json, ${sha256(document)}\n`;

if (!existsSync(file) || !(await readFile(file, 'utf8')).startsWith(mark))
  // Otherwise the generator makes every field with a default required.
  await writeFile(file, mark + astToString(await openapiTS(document, { defaultNonNullable: false })));
