// Calls all kinds of endpoints at the same time for a given duration: changes, enrollments, imports, replays,
// campaigns, registrations of phones, lists and the feed. Counts the statuses of the answers for each kind of call.
import { randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { watchStalls } from '../checks/stalls.js';

export interface LoadTarget {
  /** With the prefix `/api/v1`. */
  baseUrl: string;
  publicUrl: string;
  /** An API key whose role permits all calls of the load. */
  apiKey: string;
  /** Points programs with public enrollment. */
  programs: { id: string; slug: string }[];
  /** An existing subscription; the load replays ranges of events to it. */
  subscriptionId: string;
  passTypeId: string;
  /** The identity of a pass, as the Wallet app knows it from the pass. */
  passOf: (memberId: string) => Promise<{ serialNumber: string; authenticationToken: string }>;
}

export interface LoadResult {
  calls: number;
  /**
   * For each kind of call the number of answers by status; `lost` counts calls without an answer within 15 s, imports
   * without one within 65 s.
   */
  answers: Record<string, Record<string, number>>;
  /** The first 50 answers of 500 or more and lost calls, without those in `duringStalls`. */
  failures: string[];
  /**
   * The first 50 such failures of calls during which this process stood still for 1 s or more: the API then treats a
   * MongoDB that did not answer in that time as unavailable.
   */
  duringStalls: string[];
  /** The duration of the slowest call of each kind. */
  slowestMs: Record<string, number>;
}

interface Call {
  method?: string;
  body?: unknown;
  headers?: Record<string, string>;
  withinMs?: number;
}

type Kind = (caller: number) => Promise<void>;

const answerWithinMs = 15_000;
/** A small import is answered within 60 s, as long as it makes progress. */
const importWithinMs = 65_000;
const stallMs = 1_000;

/** The three kinds with the slowest calls, such as `import 2730 ms`. */
export const slowestKinds = ({ slowestMs }: LoadResult): string =>
  Object.entries(slowestMs)
    .sort(([, one], [, other]) => other - one)
    .slice(0, 3)
    .map(([kind, ms]) => `${kind} ${Math.round(ms)} ms`)
    .join(', ');

/**
 * Runs `callers` callers for `ms`, and until each kind of call had its turn. At the same time two readers read the feed
 * from beginning to end, again and again.
 */
export async function runMixedLoad(
  target: LoadTarget,
  { callers, ms }: { callers: number; ms: number },
): Promise<LoadResult> {
  const over = performance.now() + ms;
  const result: LoadResult = { calls: 0, answers: {}, failures: [], duringStalls: [], slowestMs: {} };
  const stalls = watchStalls();
  const members: string[] = [];
  const batches: string[] = [];
  const pick = <T>(all: readonly T[]): T | undefined => all[randomInt(Math.max(all.length, 1))];
  const run = randomUUID().slice(0, 8);
  let made = 0;

  async function call(
    kind: string,
    path: string,
    { method, body, headers = {}, withinMs = answerWithinMs }: Call = {},
  ): Promise<unknown> {
    const startedAt = performance.now();
    const stalled = stalls.stalledMs();
    const raw = typeof body === 'string' || body instanceof FormData;
    const url = path.startsWith('/merchants') || path.startsWith('/enroll') ? `${target.baseUrl}${path}` : path;
    result.answers[kind] ??= {};
    const counts = result.answers[kind] ?? {};
    result.calls += 1;
    try {
      const response = await fetch(url, {
        method: method ?? (body === undefined ? 'GET' : 'POST'),
        headers: {
          'X-API-Key': target.apiKey,
          ...(body !== undefined && !raw && { 'Content-Type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && { body: raw ? body : JSON.stringify(body) }),
        signal: AbortSignal.timeout(withinMs),
      });
      const text = await response.text();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
      if (response.status >= 500) fail(`${kind}: ${response.status} ${text.slice(0, 200)}`, stalled);
      return response.headers.get('content-type')?.includes('json') ? JSON.parse(text) : text;
    } catch (error) {
      counts.lost = (counts.lost ?? 0) + 1;
      fail(`${kind}: ${error instanceof Error ? error.message : String(error)}`, stalled);
      return undefined;
    } finally {
      result.slowestMs[kind] = Math.max(result.slowestMs[kind] ?? 0, performance.now() - startedAt);
    }
  }

  const fail = (line: string, stalledBefore: number): void => {
    const failures = stalls.stalledMs() - stalledBefore >= stallMs ? result.duringStalls : result.failures;
    if (failures.length < 50) failures.push(`${new Date().toISOString()} ${line}`);
  };
  const member = (path = ''): string => `/merchants/me/members/${pick(members) ?? 'nobody'}${path}`;
  const person = () => {
    made += 1;
    return { firstName: `Ada${made % 70}`, lastName: 'Lovelace', email: `${run}.${made}@example.com` };
  };
  const keep = (answer: unknown, ids: string[]): void => {
    const id = (answer as { data?: { id?: string } } | undefined)?.data?.id;
    if (id !== undefined) ids.push(id);
  };
  const program = () => pick(target.programs) ?? { id: '', slug: '' };

  async function register(): Promise<void> {
    const id = pick(members);
    if (id === undefined) return;
    const { serialNumber, authenticationToken } = await target.passOf(id);
    const apple = `${target.publicUrl}/wallet/apple/v1`;
    const device = randomUUID();
    const path = `${apple}/devices/${device}/registrations/${target.passTypeId}`;
    const headers = { Authorization: `ApplePass ${authenticationToken}` };
    const body = { pushToken: device.replaceAll('-', '') };
    await call('register', `${path}/${serialNumber}`, { headers, body });
    await call('list for a device', path);
    await call('fetch a pass', `${apple}/passes/${target.passTypeId}/${serialNumber}`, { headers });
    if (randomInt(2) === 0) await call('unregister', `${path}/${serialNumber}`, { method: 'DELETE', headers });
  }

  async function importFile(rows: number): Promise<void> {
    const lines = Array.from({ length: rows }, () => {
      const { firstName, email } = person();
      return `${email},${firstName},${randomInt(50)}`;
    });
    const form = new FormData();
    form.append('programId', program().id);
    const csv = ['email,firstName,initialPoints', ...lines].join('\n');
    form.append('file', new Blob([csv], { type: 'text/csv' }), 'members.csv');
    const answer = await call('import', '/merchants/me/members/import', { body: form, withinMs: importWithinMs });
    const { batchId, results } =
      (answer as { data?: { batchId: string; results: { memberId?: string }[] } })?.data ?? {};
    if (batchId !== undefined) batches.push(batchId);
    for (const { memberId } of results ?? []) if (memberId !== undefined) members.push(memberId);
  }

  const patch = (kind: string, path: string, body: unknown) => call(kind, path, { method: 'PATCH', body });
  /** Each kind of call with its weight; the weights add up to about 100. */
  const kinds: [number, Kind][] = [
    [
      14,
      async () =>
        keep(
          await call('enroll', '/merchants/me/members', { body: { programId: program().id, ...person() } }),
          members,
        ),
    ],
    [22, async () => void (await patch('points', member('/points'), { delta: randomInt(1, 60) }))],
    [6, async () => void (await patch('set points', member('/points'), { value: randomInt(200) }))],
    [8, async () => void (await call('redeem', member('/redeem'), { method: 'POST' }))],
    [4, async () => void (await patch('status', member('/status'), { status: pick(['active', 'active', 'voided']) }))],
    [3, async () => void (await call('add tags', member('/tags'), { body: { tags: [`tag-${randomInt(30)}`] } }))],
    [
      2,
      async () =>
        void (await call('remove tags', member('/tags'), {
          method: 'DELETE',
          body: { tags: [`tag-${randomInt(30)}`] },
        })),
    ],
    [3, async () => void (await patch('update', member(), { lastName: `Byron ${randomInt(30)}` }))],
    [2, async () => void (await call('push', member('/push'), { method: 'POST' }))],
    [3, async () => void (await call('scan', '/merchants/me/scans', { body: { code: 'NOBODY0000' } }))],
    [5, register],
    [2, async () => void (await call('public enrollment', `/enroll/${program().slug}/submit`, { body: person() }))],
    [3, async () => void (await call('member', member()))],
    [3, async () => void (await call('search', `/merchants/me/members?q=${pick(['ada', 'love', run, 'ada1 lo'])}`))],
    [2, async () => void (await call('members', '/merchants/me/members?pageSize=50'))],
    [2, async () => void (await call('timeline', member('/events')))],
    [1, async () => void (await call('timeline as CSV', member('/events.csv')))],
    [2, async () => void (await call('ledger', member('/transactions')))],
    [1, async () => void (await call('tags', '/merchants/me/members/tags'))],
    [1, async () => void (await call('programs', '/merchants/me/programs'))],
    [2, async () => void (await call('delivery log', '/merchants/me/webhooks/delivery-logs?pageSize=50'))],
    [1, async () => void (await call('subscriptions', '/merchants/me/webhooks'))],
    [
      1,
      async () => void (await call('test', `/merchants/me/webhooks/${target.subscriptionId}/test`, { method: 'POST' })),
    ],
    [1, async () => void (await call('batches', '/merchants/me/batches'))],
    [1, async () => void (await call('batch', `/merchants/me/batches/${pick(batches) ?? 'none'}`))],
    [1, async () => void (await call('ready', `${target.publicUrl}/readyz`))],
    [1, async () => importFile(randomInt(5, 120))],
  ];
  const lottery = kinds.flatMap(([times, kind]) => Array.from({ length: times }, () => kind));
  const untried = kinds.map(([, kind]) => kind);

  async function caller(index: number): Promise<void> {
    while (performance.now() < over || untried.length > 0) await (untried.pop() ?? pick(lottery))?.(index);
  }

  async function feedReader(): Promise<void> {
    let after = '';
    while (performance.now() < over) {
      const answer = await call('feed', `/merchants/me/events${after ? `?after=${after}` : ''}`);
      const { cursor: next, more } = (answer as { data?: { cursor?: string; more?: boolean } } | undefined)?.data ?? {};
      after = next ?? after;
      // Starts from the beginning again from time to time.
      if (!more && randomInt(20) === 0) after = '';
      if (!more) await sleep(50);
    }
  }

  /** Starts batches one after the other, each kind again every few seconds. */
  async function batchStarter(): Promise<void> {
    while (performance.now() < over) {
      const since = new Date(Date.now() - 10_000).toISOString();
      const path = `/merchants/me/webhooks/${target.subscriptionId}/replay`;
      keep(await call('replay a range', path, { body: { since } }), batches);
      await sleep(Math.min(2_000, Math.max(over - performance.now(), 0)));
      const message = `Hello ${randomInt(1_000)}`;
      keep(
        await call('campaign', '/merchants/me/campaigns', {
          body: { programId: program().id, tags: [`tag-${randomInt(30)}`], message },
        }),
        batches,
      );
      await sleep(Math.min(4_000, Math.max(over - performance.now(), 0)));
    }
  }

  for (let index = 0; index < 8; index += 1) await kinds[0]?.[1](0);
  await Promise.all([
    ...Array.from({ length: callers }, (_, index) => caller(index)),
    feedReader(),
    feedReader(),
    batchStarter(),
  ]);
  stalls.stop();
  return result;
}
