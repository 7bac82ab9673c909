// npm run openapi
import { writeFile } from 'node:fs/promises';
import { documents } from './documents.js';

const root = new URL('../../', import.meta.url);

for (const [file, text] of Object.entries(documents)) await writeFile(new URL(file, root), text());
