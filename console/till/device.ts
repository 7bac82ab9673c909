// What the till takes from the browser: calls of the API, locks and messages between tabs, its service worker.

import { language } from '../language.js';
import { createCall } from './calls.js';
import type { Ports } from './sender.js';
import { createTillStore } from './store.js';
import { createTill, type Till } from './till.js';

const pageUrl = new URL('../till', document.baseURI).href;
const baseUrl = new URL('..', document.baseURI).href;
const helloEveryMs = 60_000;

export function startTill(): Till {
  const others = new BroadcastChannel(`till ${pageUrl}`);
  const ports: Ports = {
    store: createTillStore(`till ${new URL(pageUrl).pathname}`),
    call: createCall({ baseUrl, language }),
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
