// Makes the page start without a line. It keeps the page and its files of one version together, and never touches the
// API.
export {};

declare const TILL_FILES: readonly string[];
declare const TILL_VERSION: string;

interface Lasting extends Event {
  waitUntil: (work: Promise<unknown>) => void;
}
interface Fetching extends Event {
  request: Request;
  respondWith: (answer: Promise<Response>) => void;
}
// TypeScript's types of a page and of a service worker exclude each other.
const worker = globalThis as unknown as { skipWaiting: () => Promise<void>; clients: { claim: () => Promise<void> } };

const page = new URL('../till', location.href).href;
const assets = `${page}/assets/`;
const family = `till ${page} `;
const name = family + TILL_VERSION;
const patienceMs = 3_000;

async function install(): Promise<void> {
  const cache = await caches.open(name);
  const urls = [page, `${page}/manifest.webmanifest`, ...TILL_FILES.map((file) => assets + file)];
  await cache.addAll(urls.map((url) => new Request(url, { cache: 'reload' })));
  await worker.skipWaiting();
}

async function activate(): Promise<void> {
  const former = (await caches.keys()).filter((key) => key.startsWith(family) && key !== name);
  await Promise.all(former.map((key) => caches.delete(key)));
  await worker.clients.claim();
}

async function pageOf(request: Request): Promise<Response> {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(patienceMs) });
    if (answer.ok) return answer;
  } catch {
    // No line.
  }
  return (await caches.match(page, { cacheName: name })) ?? fetch(request);
}

/** The decoder is large, so it is kept when it is first needed. */
async function assetOf(request: Request): Promise<Response> {
  const cache = await caches.open(name);
  const kept = await cache.match(request);
  if (kept) return kept;
  const answer = await fetch(request);
  if (answer.ok) await cache.put(request, answer.clone());
  return answer;
}

addEventListener('install', (event) => (event as Lasting).waitUntil(install()));
addEventListener('activate', (event) => (event as Lasting).waitUntil(activate()));
addEventListener('fetch', (event) => {
  const { request, respondWith } = event as Fetching;
  if (request.method !== 'GET') return;
  if (request.mode === 'navigate' && request.url.split(/[?#]/)[0] === page) respondWith.call(event, pageOf(request));
  else if (request.url.startsWith(assets)) respondWith.call(event, assetOf(request));
});
