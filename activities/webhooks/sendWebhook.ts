// One attempt: a signed POST whose every cost is bounded. It never throws, ends within `timeoutMs` whatever the receiver
// does (DNS, connect, TLS, answer and body together), keeps nothing of the answer's body and follows no redirect.
import type { Dispatcher } from 'undici';
import { parseRetryAfter } from '../../schemas/retryAfter.js';
import type { WebhookFailure } from '../../schemas/webhookFailures.js';
import { toWebhookError } from './webhookError.js';

export interface SendInput {
  url: string;
  headers: Record<string, string>;
  body: Buffer;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

export interface SendResult {
  ok: boolean;
  statusCode: number | null;
  error: WebhookFailure | null;
  /** For operators and logs alone: may hold addresses and what the receiver sent as `Location`. */
  detail: string | null;
  durationMs: number;
  /** What the receiver asked for, 24 h at most; null where it did not, and after a success. */
  retryAfterMs: number | null;
}

type Outcome = Omit<SendResult, 'durationMs'>;

/** The body of an answer is read this far, so that the socket can be used again, and then cut with its socket. */
const maxBodyBytes = 16_384;
const maxDetail = 500;

interface InTime {
  /** The `performance.now()` after which nothing may go out any more. */
  notAfter: number;
}

/** Null when there was no connection before `notAfter`: nothing was sent. */
export function sendWebhook(agent: Dispatcher, input: SendInput & InTime): Promise<SendResult | null>;
export function sendWebhook(agent: Dispatcher, input: SendInput): Promise<SendResult>;
export function sendWebhook(agent: Dispatcher, input: SendInput & Partial<InTime>): Promise<SendResult | null> {
  const { notAfter = Number.POSITIVE_INFINITY } = input;
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let controller: Dispatcher.DispatchController | null = null;
    let answer: Outcome | null = null;
    let bodyBytes = 0;
    let settled = false;

    const settle = (outcome: Outcome | null): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      input.signal?.removeEventListener('abort', callOff);
      resolve(outcome && { ...outcome, durationMs: Math.round(performance.now() - startedAt) });
    };
    /** Destroys the socket: what is left of the answer must never be read as the next one. */
    const cut = (outcome: Outcome): void => {
      settle(outcome);
      controller?.abort(new Error('cut'));
    };
    const expire = (): void => {
      const missing = controller === null ? 'connection' : 'answer';
      cut(answer ?? failed('timeout', `No ${missing} within ${input.timeoutMs} ms.`));
    };
    const callOff = (): void => cut(answer ?? failed('aborted', 'Called off.'));

    const timer = setTimeout(expire, input.timeoutMs);
    input.signal?.addEventListener('abort', callOff);
    if (input.signal?.aborted) return callOff();

    const handler: Dispatcher.DispatchHandler = {
      onRequestStart(started) {
        // The connection came too late, even if a process that stood still did not see its timer end: nothing is sent.
        const now = performance.now();
        if (now - startedAt >= input.timeoutMs) expire();
        controller = started;
        if (settled) started.abort(new Error('cut'));
        else if (now > notAfter) {
          settle(null);
          // To abort would close the connection, and a receiver that is slow to connect to would never be told.
          throw new Error('late');
        }
      },
      onResponseStart(_controller, statusCode, headers) {
        if (statusCode >= 200) answer = outcomeOf(statusCode, headers);
      },
      onResponseData(_controller, chunk) {
        bodyBytes += chunk.length;
        if (bodyBytes > maxBodyBytes && answer) cut(answer);
      },
      onResponseEnd() {
        if (answer) settle(answer);
      },
      onResponseError(_controller, error) {
        settle(answer ?? outcomeOfError(error));
      },
    };

    try {
      const { origin, pathname, search } = new URL(input.url);
      const { headers, body } = input;
      agent.dispatch({ origin, path: `${pathname}${search}`, method: 'POST', headers, body }, handler);
    } catch (error) {
      cut(outcomeOfError(error));
    }
  });
}

function outcomeOf(statusCode: number, headers: Record<string, string | string[] | undefined>): Outcome {
  if (statusCode >= 200 && statusCode < 300) {
    return { ok: true, statusCode, error: null, detail: null, retryAfterMs: null };
  }
  const location = first(headers.location);
  return {
    ok: false,
    statusCode,
    error: statusCode === 410 ? 'gone' : 'status',
    detail: cutText(location === undefined ? `HTTP ${statusCode}` : `HTTP ${statusCode}, Location: ${location}`),
    retryAfterMs: parseRetryAfter(first(headers['retry-after']), new Date()),
  };
}

function outcomeOfError(error: unknown): Outcome {
  const { kind, message } = toWebhookError(error);
  return failed(kind, message);
}

function failed(error: WebhookFailure, detail: string): Outcome {
  return { ok: false, statusCode: null, error, detail: cutText(detail), retryAfterMs: null };
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}

function cutText(text: string): string {
  return text.slice(0, maxDetail);
}
