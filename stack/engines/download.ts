// Downloads go through the user's proxy settings, and a network that leads nowhere is noticed in seconds: a download
// is one way among several, and a person waits.

import { type Dispatcher, EnvHttpProxyAgent, fetch } from 'undici';

const connectMs = 3_000;
const answerMs = 4_000;
const silenceMs = 30_000;

/** Throws a short reason when nothing answers at the address within a few seconds. */
export async function assertReachable(url: string): Promise<void> {
  await throughProxy(async (dispatcher) => {
    const response = await ask(url, { method: 'HEAD', dispatcher });
    await response.body?.cancel();
  });
}

export async function fetchJson(url: string): Promise<unknown> {
  return await throughProxy(async (dispatcher) => {
    const response = await ask(url, { dispatcher });
    if (!response.ok) throw new Error(`${new URL(url).host} answered ${response.status}`);
    return await response.json();
  });
}

/** Hands the body to `take` as it comes; fails when nothing comes for half a minute. */
export async function fetchBody(
  url: string,
  take: (pieces: AsyncIterable<Uint8Array>, totalBytes: number | undefined) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  await throughProxy(async (dispatcher) => {
    const response = await fetch(url, { dispatcher, signal });
    if (!response.ok || response.body === null) throw new Error(`${new URL(url).host} answered ${response.status}`);
    await take(response.body, Number(response.headers.get('content-length')) || undefined);
  });
}

async function throughProxy<T>(work: (dispatcher: Dispatcher) => Promise<T>): Promise<T> {
  const agent = new EnvHttpProxyAgent({ connectTimeout: connectMs, bodyTimeout: silenceMs });
  try {
    return await work(agent);
  } finally {
    await agent.destroy();
  }
}

async function ask(url: string, init: { method?: string; dispatcher: Dispatcher }) {
  try {
    return await fetch(url, { ...init, signal: AbortSignal.timeout(answerMs) });
  } catch (error) {
    throw new Error(`${new URL(url).host} cannot be reached (${reasonOf(error)})`);
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause && typeof cause.code === 'string') return cause.code;
  return cause instanceof Error ? cause.message : String(cause);
}
