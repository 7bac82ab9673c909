// What of the repository is generated: the OpenAPI document and the README's table of endpoints. `npm run openapi` writes it, a
// test proves it fresh.
import type { Endpoint } from '../../schemas/endpoints/endpoint.js';
import { type EndpointName, endpoints } from '../../schemas/endpoints/index.js';
import { openApiDocument } from '../../schemas/openapi.js';
import { provenBy } from './provenBy.js';

/** The served document names the real PUBLIC_URL instead. */
const publicUrl = 'http://127.0.0.1:3000';

export const openApiText = (): string => `${JSON.stringify(openApiDocument({ publicUrl }), null, 2)}\n`;

function accessOf({ access, session }: Endpoint): string {
  if (access === 'public') return 'none';
  return session ? `\`${access}\`, console session` : `\`${access}\``;
}

const testName = (file: string): string => file.replace(/^test\/|\.test\.ts$/g, '');

function endpointsTable(): string {
  const lines = (Object.keys(endpoints) as EndpointName[]).map((name) => {
    const endpoint: Endpoint = endpoints[name];
    const path = endpoint.path.replace(/:(\w+)/g, '{$1}');
    const test = provenBy[name];
    const cells = [`\`${endpoint.method.toUpperCase()} ${path}\``, accessOf(endpoint), `[${testName(test)}](${test})`];
    return `| ${cells.join(' | ')} |`;
  });
  return ['| endpoint | permission | test |', '|---|---|---|', ...lines].join('\n');
}

const tableInside = /(?<=<!-- endpoints -->\n).*(?=\n<!-- \/endpoints -->)/s;

function withTable(readme: string): string {
  if (!tableInside.test(readme)) throw new Error('The README has no place for the table of endpoints.');
  return readme.replace(tableInside, endpointsTable);
}

/** What each file is to be, by what it is now: the README holds a table among what people write. */
export const documents: Record<string, (now: string) => string> = {
  'openapi.json': openApiText,
  'README.md': withTable,
};
