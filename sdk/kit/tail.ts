// `kit tail`: requests and deliveries as they happen, or one request and what followed from it.
import { isPassing, pacedMs, sleep } from '../retry.js';
import { clock, type Kit, type Verb } from './verb.js';

const pollMs = 1_000;
/** Of each source at most; of more, the newest. */
const pageSize = 100;
/** The log of requests is written in the background, so an item may appear after a later one. */
const lateMs = 10_000;
/** For how long a delivery is watched. */
const watchedMs = 600_000;
const remembered = 10_000;

interface Shown {
  /** Differs with each state of the item. */
  key: string;
  line: string;
  item: object;
}

type Read = (kit: Kit, begun: number) => Promise<{ shown: Shown[]; response: Response }>;

const init = ({ signal }: Kit, begun: number, watchMs: number) => {
  const since = new Date(Math.max(begun, Date.now() - watchMs)).toISOString();
  return { params: { query: { since, pageSize } }, signal };
};

const requests: Read = async (kit, begun) => {
  const { data, response } = await kit.client().GET('/merchants/me/requests', init(kit, begun, lateMs));
  const shown = data.items.map((item) => {
    const { requestId, createdAt, ms, method, path, status, errorCode } = item;
    const answer = [status, errorCode].filter(Boolean).join(' ');
    const line = `${clock(createdAt)}  ${method} ${path}  ${answer}  ${ms} ms  ${requestId}`;
    return { key: `${requestId} ${createdAt}`, line, item: { kind: 'request', ...item } };
  });
  return { shown, response };
};

const deliveries: Read = async (kit, begun) => {
  const path = '/merchants/me/webhooks/delivery-logs';
  const { data, response } = await kit.client().GET(path, init(kit, begun, watchedMs));
  const shown = data.items.map((item) => {
    const { id, eventType, url, state, statusCode, attempts, eventId } = item;
    const line = `${clock()}    ${eventType} -> ${url}  ${state} ${statusCode ?? ''}  attempt ${attempts}  ${eventId}`;
    return { key: `${id} ${state} ${attempts}`, line, item: { kind: 'delivery', ...item } };
  });
  return { shown, response };
};

async function follow(kit: Kit): Promise<void> {
  const begun = Date.now();
  const seen = new Set<string>();
  kit.note('Requests and deliveries as they happen (Ctrl-C ends it):');
  while (!kit.signal.aborted) {
    let waitMs = pollMs;
    for (const read of [requests, deliveries]) {
      try {
        const { shown, response } = await read(kit, begun);
        for (const { key, line, item } of shown.reverse()) {
          if (!seen.has(key)) kit.say(line, item);
          seen.add(key);
        }
        waitMs = pacedMs(response.headers, waitMs);
      } catch (error) {
        if (!isPassing(error)) throw error;
      }
    }
    for (const key of seen) if (seen.size > remembered) seen.delete(key);
    await sleep(waitMs, kit.signal).catch(() => undefined);
  }
}

async function one(kit: Kit, requestId: string): Promise<void> {
  const init = { params: { path: { requestId } }, signal: kit.signal };
  const { data } = await kit.client().GET('/merchants/me/requests/{requestId}', init);
  const { transaction, event, workflow, deliveries, devices } = data;
  const lines = [
    `${clock(data.createdAt)}  ${data.method} ${data.path}  ${data.status} ${data.errorCode ?? ''}  ${data.ms} ms`,
    `  asked       ${JSON.stringify({ ...data.query, ...data.body })}`,
    ...(transaction ? [`  ledger      ${transaction.type} ${transaction.delta}, ${transaction.id}`] : []),
    ...(event ? [`  event       ${event.type} ${event.id}, ${event.publishedAt ? 'published' : 'waits'}`] : []),
    ...(workflow ? [`  workflow    ${workflow.kind} ${workflow.id ?? ''}`] : []),
    ...deliveries.map(
      (each) => `  delivery    ${each.eventType} ${each.state} ${each.statusCode ?? ''}, attempt ${each.attempts}`,
    ),
    ...devices.map((each) => `  phone       told ${each.pushedAt ?? '-'}, fetched ${each.fetchedAt ?? '-'}`),
  ];
  kit.say(lines.join('\n'), data);
}

export const tail: Verb = {
  usage: 'tail [REQUEST_ID]',
  does: `Shows requests and deliveries as they happen. With the X-Request-Id of an answer: that request and what followed
from it: ledger entry, event, workflow, deliveries, phones.`,
  example: 'tail',
  takesWord: true,
  async run(kit, { args: [requestId] }) {
    await (requestId === undefined ? follow(kit) : one(kit, requestId));
    return 0;
  },
};
