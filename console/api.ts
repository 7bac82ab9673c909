// Where the console gets its data: calls of the public API by the SDK (sdk/), which pages make in `useRead` and
// `useAction` (actions.tsx).
// Every attempt is recorded as a curl line. The state of the connection (signed out, unavailable) is recorded for the
// frame to show (docs/decisions/the-console-is-a-client.md). An upload is in pages/importUpload.ts, and the live desk also
// hears a process of the demo (pages/deskProcess.ts).
import { errorOf } from '../sdk/errors.js';
import { createClient, LoyaltyError } from '../sdk/index.js';
import { language } from './language.js';
import { createStore } from './store.js';
import { texts } from './texts.js';

/** The base URL of the service: the console is served at `console/` below it. */
export const serviceUrl = new URL('..', document.baseURI).href.replace(/\/$/, '');
export const apiUrl = `${serviceUrl}/api/v1`;

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

async function sendNoted(request: Request): Promise<Response> {
  const { method, url, headers } = request;
  const text = method === 'GET' ? '' : await request.clone().text();
  const body = text === '' ? undefined : { text };
  const since = performance.now();
  try {
    const response = await fetch(request);
    noteCall({ method, url, headers }, body, { status: response.status, ms: performance.now() - since });
    return response;
  } catch (error) {
    const isLeft = error instanceof DOMException && error.name === 'AbortError';
    if (!isLeft) noteCall({ method, url, headers }, body, { status: 0, ms: performance.now() - since });
    throw error;
  }
}

/** A person waits for the answer; the pictures of a program may take long to be sent. */
const retry = { tries: 5, attemptMs: 120_000 };

/** The language of the screen need not be that of the browser, which sends the cookie of the session. */
const headers = { 'Accept-Language': language };
export const api = createClient({ baseUrl: apiUrl, headers, fetch: sendNoted, retry });

/** Throws LoyaltyError. */
export const data = async <T>(call: Promise<{ data: T }>): Promise<T> => (await call).data;

/** The errors of what is not sent by the SDK. */
export const failureOf = (status: number, body: unknown): LoyaltyError => errorOf(new Response(null, { status }), body);
export const unanswered = (): LoyaltyError =>
  new LoyaltyError({ status: 0, code: 'NETWORK', message: texts.frame.notAnswered });

const builtIn: Readonly<Record<string, string | undefined>> = texts.people.builtIn;

/** All roles that there are to give; the built-in ones by their names on the screens. */
export async function readRoles() {
  const roles = [];
  for await (const role of api.items('/merchants/me/roles', { params: { query: { pageSize: 100 } } }))
    roles.push({ ...role, name: builtIn[role.id] ?? role.name });
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
