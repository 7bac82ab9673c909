// Writes sdk/openapi.ts, the types of the SDK and of the console, from openapi.json. `npm run check` and the packing of
// the SDK run it; the file is not in the repository.
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import openapiTS, { astToString, type OpenAPITSOptions } from 'openapi-typescript';
import ts from 'typescript';
import { sha256 } from '../../../schemas/shared/ids.js';

const root = new URL('../../../', import.meta.url);
const file = new URL('sdk/openapi.ts', root);
const document = await readFile(new URL('openapi.json', root), 'utf8');
const mark = `// From openapi.json, ${sha256(document)}\n`;

const blob = ts.factory.createTypeReferenceNode('Blob');
const options: OpenAPITSOptions = {
  // Otherwise the generator makes every field with a default required.
  defaultNonNullable: false,
  transform: ({ format }) => (format === 'binary' ? blob : undefined),
};

if (!existsSync(file) || !(await readFile(file, 'utf8')).startsWith(mark))
  await writeFile(file, mark + astToString(await openapiTS(document, options)));
