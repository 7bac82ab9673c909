// `kit mcp`: the operations that only read, as tools of the Model Context Protocol on the standard streams.
import { once } from 'node:events';
import { LoyaltyError } from '../errors.js';
import { Failure, type Kit, type Verb } from './verb.js';

type Json = string | number | boolean | null | Json[] | { [key: string]: Json };
type Schema = { [key: string]: Json };

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface ReadDocument {
  paths: Record<string, { get?: Operation; parameters?: object[] }>;
  /** Of each operation that has none of its own. */
  security?: Record<string, unknown>[];
}

interface Operation {
  operationId: string;
  summary?: string;
  description?: string;
  parameters?: object[];
  security?: Record<string, unknown>[];
}

/** Replaces each `$ref` by what it names; the parameters of operations have no circles. */
function resolved(value: unknown, document: object): unknown {
  if (Array.isArray(value)) return value.map((each) => resolved(each, document));
  if (typeof value !== 'object' || value === null) return value;
  const { $ref, ...rest } = value as { $ref?: string };
  const own = Object.entries(rest).map(([key, each]) => [key, resolved(each, document)]);
  if ($ref === undefined) return Object.fromEntries(own);
  const named = $ref
    .split('/')
    .slice(1)
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], document);
  return { ...(resolved(named, document) as object), ...Object.fromEntries(own) };
}

interface Tool {
  name: string;
  description: string;
  inputSchema: { type: 'object'; properties: Record<string, Schema>; required: string[]; additionalProperties: false };
  annotations: { readOnlyHint: true; openWorldHint: false };
}

interface ReadOperation {
  tool: Tool;
  path: string;
  parameters: Parameter[];
}

/** The operations that read and that an API key may call. */
function readOperations(document: ReadDocument): ReadOperation[] {
  return Object.entries(document.paths).flatMap(([path, { get, parameters: shared = [] }]) => {
    const security = get?.security ?? document.security ?? [];
    if (!get || !security.some((scheme) => 'apiKey' in scheme)) return [];
    const parameters = (resolved([...shared, ...(get.parameters ?? [])], document) as Parameter[]).filter(
      (each) => each.in === 'path' || each.in === 'query',
    );
    const properties = Object.fromEntries(
      parameters.map(({ name, description, schema }) => [name, { ...schema, ...(description && { description }) }]),
    );
    const required = parameters.filter((each) => each.required).map(({ name }) => name);
    const tool: Tool = {
      name: get.operationId,
      description: [get.summary, get.description].filter(Boolean).join('. '),
      inputSchema: { type: 'object', properties, required, additionalProperties: false },
      annotations: { readOnlyHint: true, openWorldHint: false },
    };
    return [{ tool, path, parameters }];
  });
}

type Read = (path: string, init: object) => Promise<{ data: unknown }>;

async function answerOf(kit: Kit, { tool, path, parameters }: ReadOperation, given: Record<string, unknown>) {
  const missing = tool.inputSchema.required.filter((name) => given[name] === undefined || given[name] === '');
  const unknown = Object.keys(given).filter((name) => !(name in tool.inputSchema.properties));
  if (missing.length > 0) throw new Failure(`${missing.join(', ')}: required`);
  if (unknown.length > 0) throw new Failure(`${unknown.join(', ')}: not known`);
  const of = (place: string) =>
    Object.fromEntries(parameters.filter((each) => each.in === place).map(({ name }) => [name, given[name]]));
  // The path comes from the document of the running service, which may know more than these types.
  const read = kit.client().GET as unknown as Read;
  const { data } = await read(path, { params: { path: of('path'), query: of('query') }, signal: kit.signal });
  return typeof data === 'string' ? data : JSON.stringify(data);
}

async function documentOf({ address, signal }: Kit): Promise<ReadDocument> {
  const url = `${address().baseUrl}/openapi.json`;
  const answer = await fetch(url, { signal }).catch((error) => {
    throw new Failure(`${url} cannot be read: ${error.cause?.code ?? error.message}`);
  });
  if (!answer.ok) throw new Failure(`${url} answers ${answer.status}.`);
  return (await answer.json()) as ReadDocument;
}

async function library() {
  try {
    const [{ Server }, { serveStdio }] = await Promise.all([
      import('@modelcontextprotocol/server'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    return { Server, serveStdio };
  } catch {
    throw new Failure('kit mcp needs one more package: npm install @modelcontextprotocol/server');
  }
}

export const mcp: Verb = {
  usage: 'mcp',
  does: 'Serves the operations that only read to agents, over MCP on the standard streams, with your key.',
  example: 'mcp',
  async run(kit) {
    const { Server, serveStdio } = await library();
    const operations = readOperations(await documentOf(kit));
    const handle = serveStdio(() => {
      const server = new Server({ name: 'loyalty-pass', version: '0.1.0' }, { capabilities: { tools: {} } });
      server.setRequestHandler('tools/list', () => ({ tools: operations.map(({ tool }) => tool) }));
      server.setRequestHandler('tools/call', async ({ params: { name, arguments: given = {} } }) => {
        try {
          const operation = operations.find(({ tool }) => tool.name === name);
          if (!operation) throw new Failure(`${name}: no such tool`);
          return { content: [{ type: 'text' as const, text: await answerOf(kit, operation, given) }] };
        } catch (error) {
          if (!(error instanceof Failure || error instanceof LoyaltyError)) throw error;
          const text = error instanceof LoyaltyError ? `${error.code}: ${error.message}` : error.message;
          return { isError: true, content: [{ type: 'text' as const, text }] };
        }
      });
      return server;
    });
    const aborted = kit.signal.aborted ? undefined : once(kit.signal, 'abort');
    await Promise.race([once(process.stdin, 'close'), aborted]);
    await handle.close();
    process.stdin.destroy();
    return 0;
  },
};
