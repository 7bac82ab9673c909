// Downloads through the user's proxy settings. An address that cannot be reached fails within 4 s, because the caller
// has other sources to try and a person waits.
import { type Dispatcher, EnvHttpProxyAgent, fetch } from 'undici';

const connectMs = 3_000;
const answerMs = 4_000;
const silenceMs = 30_000;

/** Throws a short reason when the address does not answer within 4 s. */
export async function assertReachable(url: string): Promise<void> {
  await throughProxy(async (dispatcher) => {
    const response = await ask(url, { method: 'HEAD', dispatcher });
    await response.body?.cancel();
  });
}

/** Streams the response body to `take`. Throws when no data arrives for 30 s. */
export async function fetchBody(
  url: string,
  take: (blocks: AsyncIterable<Uint8Array>, totalBytes: number | undefined) => Promise<void>,
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
