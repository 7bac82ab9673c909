// Calls of the API, typed by its OpenAPI document.
import createFetchClient, { type MaybeOptionalInit } from 'openapi-fetch';
import { errorOf, type SuccessStatus } from './errors.js';
import { keyedOperations } from './keyedOperations.js';
import type { paths, webhooks } from './openapi.js';
import { isPassing, pacedMs, type RetryOptions, type Send, sendWithRetries, sleep } from './retry.js';

export interface ClientOptions {
  /** Of the service, with or without `/api/v1`. */
  baseUrl: string;
  apiKey?: string;
  /** In place of an API key: a user's or a reader's token. */
  token?: string;
  headers?: Record<string, string>;
  fetch?: Send;
  retry?: RetryOptions;
}

type Method = 'get' | 'post' | 'patch' | 'delete';
type Operation<P extends keyof paths, M extends Method> = paths[P] extends Record<M, infer T> ? T : never;
type PathWith<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, object> ? P : never }[keyof paths];
type Content<R> = R extends { content: infer Media } ? Media[keyof Media] : never;
type Unwrapped<Body> = Body extends { data: infer Data } ? Data : Body;
type Init<P extends keyof paths, M extends Method> = MaybeOptionalInit<paths[P], M>;
type Given<I> = object extends I ? [init?: I] : [init: I];

/** The `data` of the envelope of an answer; the text of a CSV, another file as it is. */
type Data<T> = T extends { responses: infer Responses }
  ? Unwrapped<
      { [Status in keyof Responses & SuccessStatus]: Content<Responses[Status]> }[keyof Responses & SuccessStatus]
    >
  : never;

export interface Answer<T> {
  data: Data<T>;
  response: Response;
}

type Call<M extends Method> = <P extends PathWith<M>>(
  path: P,
  ...init: Given<Init<P, M>>
) => Promise<Answer<Operation<P, M>>>;

type Page<P extends keyof paths> = Data<Operation<P, 'get'>>;
type ItemOf<T> = T extends { items: (infer Item)[] } ? Item : never;
/** Lists that are read page by page. */
type PagedPath = {
  [P in keyof paths]: Page<P> extends { items: unknown[]; total: number } ? P : never;
}[keyof paths];

/** An event, told apart by `event`. */
export type LoyaltyEvent = {
  [Type in keyof webhooks]: webhooks[Type] extends {
    post: { requestBody: { content: { 'application/json': infer Envelope } } };
  }
    ? Envelope
    : never;
}[keyof webhooks];

export interface EventsOptions {
  /** The cursor to read on from; without it from the oldest event that is kept. */
  after?: string | undefined;
  types?: readonly LoyaltyEvent['event'][] | undefined;
  signal?: AbortSignal | undefined;
  /** Called when every event before the cursor was taken: keep it, and read on from it after a restart. */
  onCursor?: ((cursor: string) => void | Promise<void>) | undefined;
  /** False ends the iteration at the newest event (true). */
  follow?: boolean;
  /** The wait at the newest event (1,000), longer when little of the rate limit is left. */
  pollMs?: number;
}

export interface LoyaltyClient {
  GET: Call<'get'>;
  POST: Call<'post'>;
  PATCH: Call<'patch'>;
  DELETE: Call<'delete'>;
  /** The pages of a list. */
  pages<P extends PagedPath>(path: P, ...init: Given<Init<P, 'get'>>): AsyncGenerator<Page<P>, void>;
  /** The items of a list, over all of its pages. */
  items<P extends PagedPath>(path: P, ...init: Given<Init<P, 'get'>>): AsyncGenerator<ItemOf<Page<P>>, void>;
  /** The merchant's events in their order, each at least once. Waits for what happens next until the signal aborts. */
  events(options?: EventsOptions): AsyncGenerator<LoyaltyEvent, void>;
}

/** As `Init`, for any operation. */
interface AnyInit {
  params?: { query?: Record<string, unknown> };
  signal?: AbortSignal | undefined;
  parseAs?: string;
}

type AnyRequest = (
  method: string,
  path: string,
  init: object,
) => Promise<{ data?: unknown; error?: unknown; response: Response }>;

/** An object with a file in it is sent as a form, a string (a CSV, with its `Content-Type`) as it is. */
function serializedBody(body: unknown) {
  if (typeof body === 'string' || body instanceof FormData) return body;
  const fields = Object.entries(body ?? {});
  if (!fields.some(([, value]) => value instanceof Blob)) return JSON.stringify(body);
  const form = new FormData();
  for (const [name, value] of fields) form.append(name, value);
  return form;
}

/**
 * The `data` of the envelope, the text of a CSV, or another file as it is. A proxy or a hotel's network may answer
 * something else.
 */
async function dataOf(response: Response, body: unknown) {
  const type = response.headers.get('Content-Type') ?? '';
  if (body instanceof Blob && /^(?:application\/pdf|image\/)/.test(type)) return body;
  const text = body instanceof Blob ? await body.text() : String(body);
  if (type.includes('csv')) return text;
  try {
    const body = JSON.parse(text);
    if ('success' in body && 'data' in body) return body.data;
  } catch {}
  throw errorOf(response, undefined);
}

/** Each call throws LoyaltyError unless it succeeds. */
export function createClient(options: ClientOptions): LoyaltyClient {
  const { baseUrl, apiKey, token, headers, fetch: send = (request) => globalThis.fetch(request), retry } = options;
  const root = baseUrl.replace(/\/+$/, '');
  const core = createFetchClient({
    baseUrl: root.endsWith('/api/v1') ? root : `${root}/api/v1`,
    bodySerializer: serializedBody,
    headers: { ...(apiKey && { 'X-API-Key': apiKey }), ...(token && { Authorization: `Bearer ${token}` }), ...headers },
  });
  // The types are those of LoyaltyClient, below.
  const requestAny = core.request as unknown as AnyRequest;

  async function request(method: Method, path: string, init: AnyInit = {}) {
    const isKeyed = keyedOperations.has(`${method} ${path}`);
    const plan = { ...retry, repeatable: method === 'get' || isKeyed, whole: init.parseAs !== 'stream' };
    const { data, error, response } = await requestAny(method, path, {
      parseAs: 'blob',
      ...init,
      fetch(made: Request) {
        if (isKeyed && !made.headers.has('Idempotency-Key')) made.headers.set('Idempotency-Key', crypto.randomUUID());
        return sendWithRetries(made, send, plan);
      },
    });
    if (!response.ok) throw errorOf(response, error);
    return { data: init.parseAs ? data : await dataOf(response, data), response };
  }

  async function* pages(path: string, init: AnyInit = {}) {
    const { query } = init.params ?? {};
    for (let page = Number(query?.page ?? 1); ; page += 1) {
      const params = { ...init.params, query: { ...query, page } };
      const { data } = await request('get', path, { ...init, params });
      if (data.items.length > 0) yield data;
      if (data.items.length < data.pageSize) return;
    }
  }

  async function* items(path: string, init?: AnyInit) {
    for await (const page of pages(path, init)) yield* page.items;
  }

  async function* events({ after, types, signal, onCursor, follow = true, pollMs = 1_000 }: EventsOptions = {}) {
    let cursor = after;
    while (!signal?.aborted) {
      const params = { query: { after: cursor, types: types?.join(','), limit: 100 } };
      const page = await request('get', '/merchants/me/events', { params, signal }).catch((error: unknown) => {
        if (signal?.aborted || (follow && isPassing(error)))
          return { data: { items: [], cursor, more: false }, response: undefined };
        throw error;
      });
      yield* page.data.items;
      if (page.data.cursor !== cursor) await onCursor?.(page.data.cursor);
      cursor = page.data.cursor;
      if (page.data.more) continue;
      if (!follow) return;
      await sleep(pacedMs(page.response?.headers ?? new Headers(), pollMs), signal).catch(() => undefined);
    }
  }

  const call = (method: Method) => (path: string, init?: AnyInit) => request(method, path, init);
  const client = { GET: call('get'), POST: call('post'), PATCH: call('patch'), DELETE: call('delete') };
  return { ...client, pages, items, events } as LoyaltyClient;
}
