// What the till takes from the browser: calls of the API, locks and messages between tabs, its service worker.
import type { Call, Ports } from './sender.js';
import { createTillStore } from './store.js';
import { type Answer, readAnswer } from './taps.js';
import { language } from './texts.js';
import { createTill, type Till } from './till.js';

const pageUrl = new URL('../till', document.baseURI).href;
const apiUrl = new URL('../api/v1', document.baseURI).href;
const patienceMs = (path: string) => (path === '/till/lookup' ? 6_000 : 20_000);

const call: Call = async (path, body, { token, key }): Promise<Answer> => {
  try {
    const response = await fetch(apiUrl + path, {
      method: body ? 'POST' : 'GET',
      headers: {
        'Accept-Language': language,
        ...(body && { 'Content-Type': 'application/json' }),
        ...(token && { Authorization: `Bearer ${token}` }),
        ...(key && { 'Idempotency-Key': key }),
      },
      ...(body && { body: JSON.stringify(body) }),
      credentials: token ? 'omit' : 'same-origin',
      cache: 'no-store',
      redirect: 'error',
      signal: AbortSignal.timeout(patienceMs(path)),
    });
    return readAnswer(response, await response.text());
  } catch {
    return { status: 0 };
  }
};

const helloEveryMs = 60_000;

export function startTill(): Till {
  const others = new BroadcastChannel(`till ${pageUrl}`);
  const ports: Ports = {
    store: createTillStore(`till ${new URL(pageUrl).pathname}`),
    call,
    now: () => Date.now(),
    newKey: () => crypto.randomUUID(),
    async lock(work) {
      await navigator.locks.request(`till ${pageUrl}`, work);
    },
    announce: () => others.postMessage('changed'),
    later: (ms, work) => setTimeout(work, ms),
  };
  const till = createTill(ports);
  others.onmessage = () => void till.refresh();
  const connect = () => void till.connect();
  connect();
  setInterval(connect, helloEveryMs);
  addEventListener('online', connect);
  document.addEventListener('visibilitychange', () => document.hidden || connect());
  void navigator.storage?.persist?.();
  return till;
}

/** A new version is shown when no customer is at the till. */
export async function keepOffline(isIdle: () => boolean): Promise<void> {
  if (!navigator.serviceWorker) return;
  const hadOne = navigator.serviceWorker.controller !== null;
  navigator.serviceWorker.addEventListener('controllerchange', () => {
    if (hadOne && isIdle()) location.reload();
  });
  await navigator.serviceWorker.register(`${pageUrl}/sw.js`, { scope: pageUrl }).catch(() => undefined);
}
