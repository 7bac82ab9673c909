// Where the console gets its data: calls of the public API, which pages make in `useRead` and `useAction`
// (actions.tsx). Their types are the SDK's (sdk/).
// Every call is recorded as a curl line. The state of the connection (signed out, unavailable) is recorded for the frame
// to show (docs/decisions/the-console-is-a-client.md). An upload is in pages/imports.tsx, and the live desk also hears a
// process of the demo (pages/liveDesk.tsx).
import createClient, { type Middleware } from 'openapi-fetch';
import type { components, paths } from '../sdk/openapi.js';
import { createStore } from './store.js';
import { texts } from './texts.js';

/** The base URL of the service: the console is served at `console/` below it. */
export const serviceUrl = new URL('..', document.baseURI).href.replace(/\/$/, '');
export const apiUrl = `${serviceUrl}/api/v1`;

type ProgramFinding = components['schemas']['ProgramFinding'];
export type Finding = Pick<ProgramFinding, 'path' | 'message'> & Partial<Pick<ProgramFinding, 'severity'>>;

/** A call that failed. `code` is the API's, or `OFFLINE` when no answer came. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  constructor(
    readonly code: string,
    message: string,
    readonly status: number,
    readonly details?: unknown,
  ) {
    super(message);
  }

  get findings(): Finding[] {
    return Array.isArray(this.details) ? (this.details as Finding[]) : [];
  }
}

export interface CallMade {
  id: number;
  at: Date;
  method: string;
  path: string;
  status: number;
  ms: number;
  curl: string;
}

const keptCalls = 50;
let callsMade = 0;
export const calls = createStore<readonly CallMade[]>([]);
export const connection = createStore({ signedOut: false, away: false, outdated: false });

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** `body` is the text, or the name of the file that was sent. */
export function noteCall(
  { method, url, headers }: { method: string; url: string; headers: Headers },
  body: { text: string } | { file: string } | undefined,
  { status, ms }: { status: number; ms: number },
): void {
  const sent = ['Content-Type', 'Idempotency-Key'].filter((name) => headers.has(name));
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(url)}`,
    '-H "Authorization: Bearer $SESSION"',
    ...sent.map((name) => `-H ${quoted(`${name}: ${headers.get(name)}`)}`),
    ...(body ? ['text' in body ? `-d ${quoted(body.text)}` : `--data-binary ${quoted(`@${body.file}`)}`] : []),
  ];
  callsMade += 1;
  const path = url.slice(apiUrl.length);
  const made = { id: callsMade, at: new Date(), method, path, status, ms: Math.round(ms), curl: parts.join(' \\\n  ') };
  calls.set([made, ...calls.get()].slice(0, keptCalls));
  const { signedOut, away } = connection.get();
  const isAway = status === 0 || status === 503;
  if (status === 401 || isAway !== away)
    connection.set({ ...connection.get(), signedOut: signedOut || status === 401, away: isAway });
}

const offline = () => new ApiError('OFFLINE', texts.frame.notSent, 0);

const noting: Middleware = {
  async onRequest({ request }) {
    const { method, url, headers } = request;
    const text = method === 'GET' ? '' : await request.clone().text();
    const body = text === '' ? undefined : { text };
    const since = performance.now();
    try {
      const response = await fetch(request);
      noteCall({ method, url, headers }, body, { status: response.status, ms: performance.now() - since });
      return response;
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      noteCall({ method, url, headers }, body, { status: 0, ms: performance.now() - since });
      throw offline();
    }
  },
};

export const api = createClient<paths>({ baseUrl: apiUrl, credentials: 'same-origin' });
api.use(noting);

export function failureOf(status: number, body: unknown): ApiError {
  const error = (body as { error?: { code?: string; message?: string; details?: unknown } } | undefined)?.error;
  return new ApiError(error?.code ?? 'UNEXPECTED', error?.message ?? `HTTP ${status}`, status, error?.details);
}

/** The `data` of an answer. Throws ApiError. */
export async function data<T>(call: Promise<{ data?: { data: T }; error?: unknown; response: Response }>): Promise<T> {
  const { data: body, error, response } = await call;
  if (body === undefined) throw failureOf(response.status, error);
  return body.data;
}

/** All roles that there are to give. */
export async function readRoles() {
  const readPage = (page: number) =>
    data(api.GET('/merchants/me/roles', { params: { query: { page, pageSize: 100 } } }));
  const { items: roles, total } = await readPage(1);
  for (let page = 2; roles.length < total && page <= Math.ceil(total / 100); page += 1)
    roles.push(...(await readPage(page)).items);
  return roles;
}

/** Whether the service answers again. */
export async function isBack(): Promise<boolean> {
  const answer = await fetch(`${serviceUrl}/readyz`, { cache: 'no-store' }).catch(() => undefined);
  return answer?.status === 200;
}

/** Whether the service now serves a page with other scripts than this tab runs. */
export async function isOutdated(): Promise<boolean> {
  const own = document.querySelector('script[type=module]')?.getAttribute('src');
  const answer = await fetch(document.baseURI, { cache: 'no-store' }).catch(() => undefined);
  return answer?.ok === true && own != null && !(await answer.text()).includes(own);
}

export const newKey = (): string => crypto.randomUUID();
