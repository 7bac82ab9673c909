// The generated files of the repository: the OpenAPI document, the JSON Schema of program files, docs/settings.md, and the
// table in docs/customers-data.md. `npm run openapi` writes them, and a test compares them with its output.

import { openApiText } from '../../../api/openapi/document.view.js';
import { personalData } from '../../../schemas/persons/personalData.schema.js';
import { programSchemaText } from '../../../schemas/programs/programFile.schema.js';
import { collectionNames } from '../../../schemas/tables/collections.js';
import { settingsPage } from './settingsPage.js';

/** Placeholder; the served document contains the configured PUBLIC_URL. */
const publicUrl = 'http://127.0.0.1:3000';

function personalDataTable(): string {
  const lines = collectionNames.map((name) => {
    const { holds, kept, ofMember, left } = personalData[name];
    return `| ${[`\`${name}\``, holds, kept, ofMember ? left : 'all'].join(' | ')} |`;
  });
  return ['| collection | what it holds | for how long | what an erasure leaves |', '|---|---|---|---|', ...lines].join(
    '\n',
  );
}

const personalInside = /(?<=<!-- personal data -->\n).*(?=\n<!-- \/personal data -->)/s;

function withPersonalData(page: string): string {
  if (!personalInside.test(page)) throw new Error('docs/customers-data.md has no place for the table of collections.');
  return page.replace(personalInside, personalDataTable);
}

/**
 * For each file a function from its present content to its new content. The table is replaced; the text around it
 * stays.
 */
export const documents: Record<string, (now: string) => string> = {
  'openapi.json': () => openApiText({ publicUrl }),
  'program.schema.json': programSchemaText,
  'docs/customers-data.md': withPersonalData,
  'docs/settings.md': settingsPage,
};
