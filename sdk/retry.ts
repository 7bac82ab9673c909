// Sends a request again while that can help and cannot do harm.
import { LoyaltyError, retryAfterMs } from './errors.js';

export interface RetryOptions {
  /** Attempts of one call, the first included (6). */
  tries?: number;
  /** No attempt begins later than this after the call (60,000). */
  withinMs?: number;
  /** An attempt without a whole answer counts as failed after this time (30,000). */
  attemptMs?: number;
}

export type Send = (request: Request) => Promise<Response>;

export interface RetryPlan extends RetryOptions {
  /** Whether the request may be applied twice without harm: it reads, or it has an idempotency key. */
  repeatable: boolean;
  /** False for an answer that is read as a stream. */
  whole: boolean;
}

const firstWaitMs = 250;
const longestWaitMs = 8_000;

/** Waits; rejects with the signal's reason when that aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}

/** A wait between polls that uses at most half of what is left of the rate limit. */
export function pacedMs(headers: Headers, atLeastMs: number): number {
  const [remaining, reset] = ['RateLimit-Remaining', 'RateLimit-Reset'].map((name) => headers.get(name));
  if (remaining == null || reset == null) return atLeastMs;
  return Math.max(atLeastMs, (2 * Number(reset) * 1000) / Math.max(Number(remaining), 1));
}

/** Whether the service may answer again soon. */
export const isPassing = (error: unknown): boolean =>
  error instanceof LoyaltyError && [0, 429, 502, 503, 504].includes(error.status);

/** Exponential, with jitter: between half of the wait and all of it. */
export function backoffMs(attempt: number, random = Math.random()): number {
  const wait = Math.min(firstWaitMs * 2 ** (attempt - 1), longestWaitMs);
  return wait * (0.5 + random / 2);
}

/** A request that was counted out was not applied; after a 502 to 504, nothing is known. */
async function mayRepeat(response: Response, { repeatable }: RetryPlan): Promise<boolean> {
  if (response.status === 429) return true;
  if (!repeatable) return false;
  if ([502, 503, 504].includes(response.status)) return true;
  // The attempt whose answer was lost still runs; its answer is there soon.
  return response.status === 409 && (await response.clone().text()).includes('"IDEMPOTENCY_KEY_IN_USE"');
}

async function attemptOnce(request: Request, send: Send, { attemptMs = 30_000, whole }: RetryPlan): Promise<Response> {
  const over = new AbortController();
  const timer = setTimeout(() => over.abort(new DOMException('No answer in time.', 'TimeoutError')), attemptMs);
  // AbortSignal.any is missing in the browsers of older tablets.
  const stop = () => over.abort(request.signal.reason);
  if (request.signal.aborted) stop();
  request.signal.addEventListener('abort', stop, { once: true });
  try {
    const response = await send(new Request(request.clone(), { signal: over.signal }));
    // A connection that breaks in the middle of an answer is a failed attempt as well.
    if (whole) await response.clone().arrayBuffer();
    return response;
  } finally {
    clearTimeout(timer);
    // What is read as a stream can still be stopped.
    if (whole) request.signal.removeEventListener('abort', stop);
  }
}

/** Throws LoyaltyError `NETWORK` when no answer came, and the reason of the request's signal when that aborts. */
export async function sendWithRetries(request: Request, send: Send, plan: RetryPlan): Promise<Response> {
  const { tries = 6, withinMs = 60_000, repeatable } = plan;
  const startedAt = Date.now();
  const waitAfter = (attempt: number, atLeastMs = 0) => {
    const wait = atLeastMs + backoffMs(attempt);
    return attempt < tries && Date.now() - startedAt + wait <= withinMs ? wait : undefined;
  };
  for (let attempt = 1; ; attempt += 1) {
    let wait: number | undefined;
    try {
      const response = await attemptOnce(request, send, plan);
      if (await mayRepeat(response, plan)) wait = waitAfter(attempt, retryAfterMs(response.headers));
      if (wait === undefined) return response;
    } catch (cause) {
      request.signal.throwIfAborted();
      if (repeatable) wait = waitAfter(attempt);
      if (wait === undefined) {
        const message = `${request.method} ${request.url}: no answer (${attempt === 1 ? 'one attempt' : `${attempt} attempts`})`;
        throw new LoyaltyError({ status: 0, code: 'NETWORK', message, cause });
      }
    }
    await sleep(wait, request.signal);
  }
}
