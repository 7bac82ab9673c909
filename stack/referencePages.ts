// The reference of the API as Markdown, from the OpenAPI document: a page for each tag, and the page that leads to them.
import { exampleOf as exampleOfSchema } from '../api/openapi/examples.view.js';
import type { JsonSchema } from '../api/openapi/shapes.view.js';
import { type FieldRow, fieldRows, type Json, nodeOf, resolved } from './schemaRows.js';

export interface ReferencePage {
  name: string;
  markdown: string;
}

interface Operation {
  name: string;
  operation: Record<string, Json>;
}

const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll(/\s*\n\s*/g, ' ');

function fieldTable(rows: readonly FieldRow[]): string {
  const lines = rows.map(
    ({ path, form, isRequired, meaning }) =>
      `| \`${path}\` | ${cell(form)}${isRequired ? '' : '; may be absent'} | ${cell(meaning)} |`,
  );
  return ['| Field | Form | Meaning |', '|---|---|---|', ...lines].join('\n');
}

const jsonBlock = (value: Json | undefined): string => `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``;

function exampleOf({ example, examples, schema }: Record<string, Json>, document: Json): Json | undefined {
  const given = example ?? resolved(Object.values(nodeOf(examples))[0], document).value;
  const components = nodeOf(nodeOf(nodeOf(document).components).schemas) as Record<string, JsonSchema>;
  return given ?? (exampleOfSchema(nodeOf(schema), { components }) as Json);
}

function content(value: Json | undefined, document: Json, depth = 3): string[] {
  return Object.entries(nodeOf(value)).flatMap(([type, given]) => {
    const media = nodeOf(given);
    const rows = fieldRows(media.schema ?? {}, document, depth);
    const example = exampleOf(media, document);
    const shown = type.endsWith('json') && example !== undefined ? [jsonBlock(example)] : [];
    return [`\`${type}\``, ...(rows.length > 0 ? [fieldTable(rows)] : []), ...shown];
  });
}

function parameters(given: Json | undefined, document: Json): string[] {
  const rows = (Array.isArray(given) ? given : []).map((value) => {
    const { name, required, description = '', schema = {}, ...others } = resolved(value, document);
    const [row] = fieldRows({ properties: { value: schema } }, document, 1);
    return `| \`${name}\` | ${others.in} | ${cell(row?.form ?? '')}${required ? '' : '; may be absent'} | ${cell(String(description))} |`;
  });
  return rows.length > 0 ? [['| Parameter | In | Form | Meaning |', '|---|---|---|---|', ...rows].join('\n')] : [];
}

/** What the codes say that the description of a failure names. */
function codeMessages({ description, content: given }: Record<string, Json>): string[] {
  const examples = nodeOf(nodeOf(nodeOf(given)['application/json']).examples);
  const named = Object.entries(examples).filter(([code]) => String(description).includes(`\`${code}\``));
  const lines = named.map(([code, example]) => `- \`${code}\`: ${nodeOf(nodeOf(nodeOf(example).value).error).message}`);
  return lines.length > 0 ? [lines.join('\n')] : [];
}

function operationText({ name, operation }: Operation, document: Json): string {
  const body = content(resolved(operation.requestBody, document).content, document);
  const answers = Object.entries(nodeOf(operation.responses)).flatMap(([status, given]) => {
    const answer = resolved(given, document);
    const text = `**${status}** ${answer.description}`;
    return [text, ...(status.startsWith('2') ? content(answer.content, document) : codeMessages(answer))];
  });
  return [
    `## ${name}`,
    `${operation.summary}.`,
    ...(operation.description ? [String(operation.description)] : []),
    ...parameters(operation.parameters, document),
    ...(body.length > 0 ? ['### Body', ...body] : []),
    '### Answers',
    ...answers,
  ].join('\n\n');
}

const eventsText =
  'What each field of each event says, with a sample of the whole body. Fields that a later version adds are no reason to refuse an event.';

/** The headers are alike for all events: the guide of receivers has them. */
function eventText({ name, operation }: Operation, document: Json): string {
  const body = content(resolved(operation.requestBody, document).content, document, 4);
  return [`## ${name}`, `${operation.summary}.`, ...body].join('\n\n');
}

const slugOf = (tag: string): string => `api-${tag.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;

/** The anchor of a heading such as `POST /till/pair` is what the heading of a page gets. */
export function referencePages(document: Json, anchorOf: (heading: string) => string): ReferencePage[] {
  const { info, tags, paths, webhooks } = nodeOf(document);
  const operations = Object.entries(nodeOf(paths)).flatMap(([path, methods]) =>
    Object.entries(nodeOf(methods)).map(
      ([method, operation]): Operation => ({ name: `${method.toUpperCase()} ${path}`, operation: nodeOf(operation) }),
    ),
  );
  const groups = (Array.isArray(tags) ? tags : []).map((given) => {
    const { name, description } = nodeOf(given);
    const title = String(name);
    const own = operations.filter(({ operation: { tags: named } }) => Array.isArray(named) && named.includes(title));
    return { title, description: String(description), slug: slugOf(title), own };
  });
  const shown = groups.filter(({ own }) => own.length > 0);
  const events = Object.entries(nodeOf(webhooks)).map(
    ([name, given]): Operation => ({ name, operation: nodeOf(nodeOf(given).post) }),
  );
  const entry = (slug: string, { name, operation }: Operation) =>
    `- [\`${name}\`](${slug}.md#${anchorOf(name)}) ${operation.summary}`;
  const index = shown.flatMap(({ title, description, slug, own }) => [
    `## [${title}](${slug}.md)`,
    description,
    own.map((one) => entry(slug, one)).join('\n'),
  ]);
  const all = '[The OpenAPI document](../api/v1/openapi.json) has all of this for generators and tools.';
  return [
    {
      name: 'index',
      markdown: [
        '# API reference',
        String(nodeOf(info).description),
        all,
        '[Events](api-events.md): what subscribers and the feed get.',
        ...index,
      ].join('\n\n'),
    },
    {
      name: 'api-events',
      markdown: ['# Events', eventsText, ...events.map((one) => eventText(one, document))].join('\n\n'),
    },
    ...shown.map(({ title, description, slug, own }) => ({
      name: slug,
      markdown: [`# ${title}`, description, ...own.map((one) => operationText(one, document))].join('\n\n'),
    })),
  ];
}
