// The generated files of the repository: the OpenAPI document, the JSON Schema of program files, and the tables in
// docs/endpoints.md and docs/customers-data.md. `npm run openapi`
// writes them, and a test compares them with its output.

import { openApiDocument } from '../../../api/openapi/document.view.js';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { personalData } from '../../../schemas/persons/personalData.schema.js';
import { programSchemaText } from '../../../schemas/programs/programFile.schema.js';
import { collectionNames } from '../../../schemas/tables/collections.js';
import { type EndpointName, endpoints } from '../../../schemas/tables/endpoints.js';
import { provenBy } from './provenBy.js';

/** Placeholder; the served document contains the configured PUBLIC_URL. */
const publicUrl = 'http://127.0.0.1:3000';

export const openApiText = (): string => `${JSON.stringify(openApiDocument({ publicUrl }), null, 2)}\n`;

function accessOf({ access, otherAccess, alsoAccess, session }: Endpoint): string {
  if (access === 'public') return 'none';
  if (access === 'session') return 'any console session';
  if (otherAccess) return `\`${access}\` or \`${otherAccess}\``;
  if (alsoAccess) return `\`${access}\` and \`${alsoAccess}\``;
  return session ? `\`${access}\`, console session` : `\`${access}\``;
}

const testName = (file: string): string => file.replace(/^test\/|\.test\.ts$/g, '');

function endpointsTable(): string {
  const lines = (Object.keys(endpoints) as EndpointName[]).map((name) => {
    const endpoint: Endpoint = endpoints[name];
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    const test = provenBy[name];
    const cells = [
      `\`${endpoint.method.toUpperCase()} ${path}\``,
      accessOf(endpoint),
      `[${testName(test)}](../${test})`,
    ];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| endpoint | permission | test |', '|---|---|---|', ...lines].join('\n');
}

const tableInside = /(?<=<!-- endpoints -->\n).*(?=\n<!-- \/endpoints -->)/s;

function withTable(page: string): string {
  if (!tableInside.test(page)) throw new Error('docs/endpoints.md has no place for the table of endpoints.');
  return page.replace(tableInside, endpointsTable);
}

function personalDataTable(): string {
  const lines = collectionNames.map((name) => {
    const { holds, kept, ofMember, left } = personalData[name];
    return `| ${[`\`${name}\``, holds, kept, ofMember ? left : 'nothing of it is about a member'].join(' | ')} |`;
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
  'openapi.json': openApiText,
  'program.schema.json': programSchemaText,
  'docs/endpoints.md': withTable,
  'docs/customers-data.md': withPersonalData,
};
