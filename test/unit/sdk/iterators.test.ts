// Lists and the feed, read to their end.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createClient, LoyaltyError } from '../../../sdk/index.js';
import { pacedMs } from '../../../sdk/retry.js';

const answer = (data: unknown, status = 200) =>
  new Response(JSON.stringify(status < 300 ? { success: true, data } : { success: false, error: data }), {
    status,
    headers: { 'Content-Type': 'application/json' },
  });

const clientOf = (handle: (query: URLSearchParams) => Response | Promise<Response>, tries = 1) =>
  createClient({
    baseUrl: 'https://cards.example.com',
    apiKey: 'k',
    retry: { tries },
    fetch: async ({ url }) => handle(new URL(url).searchParams),
  });

function listOf(count: number) {
  const asked: string[] = [];
  const client = clientOf((query) => {
    const [page, pageSize] = [Number(query.get('page') ?? 1), Number(query.get('pageSize') ?? 25)];
    asked.push(query.toString());
    const ids = Array.from({ length: count }, (_, index) => ({ id: String(index) }));
    return answer({ items: ids.slice((page - 1) * pageSize, page * pageSize), page, pageSize, total: count });
  });
  return { client, asked };
}

async function all<T>(iterator: AsyncIterable<T>): Promise<T[]> {
  const taken: T[] = [];
  for await (const each of iterator) taken.push(each);
  return taken;
}

it('items gives each item of a list once, in its order, with the filters on every page', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 1, max: 30 }), async (count, pageSize) => {
      const { client, asked } = listOf(count);
      const query = { q: 'ada', pageSize };
      const items = await all(client.items('/merchants/me/members', { params: { query } }));
      expect(items.map(({ id }) => Number(id))).toEqual(Array.from({ length: count }, (_, index) => index));
      expect(asked.every((each) => each.includes('q=ada') && each.includes(`pageSize=${pageSize}`))).toBe(true);
      expect(asked.length).toBe(Math.floor(count / pageSize) + 1);
    }),
  );
});

it('pages gives the pages from the one that is asked for', async () => {
  const { client } = listOf(60);
  const query = { page: 2 };
  const pages = await all(client.pages('/merchants/me/members', { params: { query } }));
  expect(pages.map(({ page, items }) => [page, items.length])).toEqual([
    [2, 25],
    [3, 10],
  ]);
});

function feedOf(pages: readonly (readonly string[])[]) {
  const asked: (string | null)[] = [];
  const client = clientOf((query) => {
    const after = query.get('after');
    asked.push(after);
    const position = after === null ? 0 : Number(after);
    const items = (pages[position] ?? []).map((eventId) => ({ event: 'points.changed', eventId }));
    return answer({ items, cursor: String(Math.min(position + 1, pages.length)), more: position + 1 < pages.length });
  });
  return { client, asked };
}

it('events gives every event in the order of the feed, and reads on from a cursor', async () => {
  const { client, asked } = feedOf([['a', 'b'], [], ['c']]);
  const cursors: string[] = [];
  const onCursor = (cursor: string) => void cursors.push(cursor);
  const events = await all(client.events({ follow: false, onCursor, types: ['points.changed'] }));
  expect(events.map(({ eventId }) => eventId)).toEqual(['a', 'b', 'c']);
  expect(asked).toEqual([null, '1', '2']);
  expect(cursors).toEqual(['1', '2', '3']);
  expect((await all(client.events({ after: '2', follow: false }))).map(({ eventId }) => eventId)).toEqual(['c']);
});

it('a cursor is handed out only when every event before it was taken', async () => {
  const { client } = feedOf([['a', 'b']]);
  const seen: string[] = [];
  const onCursor = (cursor: string) => void seen.push(`cursor ${cursor}`);
  for await (const { eventId } of client.events({ follow: false, onCursor })) {
    seen.push(eventId);
    if (eventId === 'b') break;
  }
  expect(seen).toEqual(['a', 'b']);
});

it('events waits for what happens next, also while the service is away, until the signal aborts', async () => {
  const stop = new AbortController();
  let calls = 0;
  const client = clientOf(() => {
    calls += 1;
    if (calls === 2) throw new TypeError('fetch failed');
    if (calls === 3) return answer({ code: 'UNAVAILABLE', message: 'Later.' }, 503);
    const items = calls === 1 || calls === 5 ? [{ event: 'points.changed', eventId: String(calls) }] : [];
    return answer({ items, cursor: String(calls), more: false });
  });
  const taken: string[] = [];
  for await (const { eventId } of client.events({ signal: stop.signal, pollMs: 1 })) {
    taken.push(eventId);
    if (taken.length === 2) stop.abort();
  }
  expect(taken).toEqual(['1', '5']);
});

it('events throws what stays wrong', async () => {
  const client = clientOf(() => answer({ code: 'VALIDATION_FAILED', message: 'after' }, 400));
  const failed = await all(client.events({ after: 'nonsense' })).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(LoyaltyError);
  expect(failed).toMatchObject({ code: 'VALIDATION_FAILED' });
});

it('a poll that is paced leaves half of the rate limit to others', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 1_000 }), fc.integer({ min: 0, max: 900 }), (remaining, reset) => {
      const headers = new Headers({ 'RateLimit-Remaining': String(remaining), 'RateLimit-Reset': String(reset) });
      const polls = Math.floor((reset * 1000) / pacedMs(headers, 1));
      expect(polls).toBeLessThanOrEqual(Math.max(remaining, 1) / 2);
    }),
  );
  expect(pacedMs(new Headers(), 1_000)).toBe(1_000);
  expect(pacedMs(new Headers({ 'RateLimit-Remaining': '1000', 'RateLimit-Reset': '1' }), 1_000)).toBe(1_000);
});
