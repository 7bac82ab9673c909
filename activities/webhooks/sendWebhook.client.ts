// Sends one signed POST within fixed limits. The promise never rejects and settles within `timeoutMs`, which covers
// DNS, connect, TLS, response and body together. The status line decides, whatever follows it. The body of the response
// is not kept, and no redirect is followed.
import type { Dispatcher } from 'undici';
import type { WebhookFailure } from '../../schemas/webhooks/failures.rules.js';
import { parseRetryAfter } from '../../schemas/webhooks/retryAfter.rules.js';
import { heard } from './statusLine.rules.js';
import { toWebhookError } from './webhookError.rules.js';

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
  /** For operators and logs only: may contain addresses and the receiver's `Location` header. */
  detail: string | null;
  durationMs: number;
  /** The receiver's `Retry-After`, at most 24 h; null when the receiver sent none, and after a success. */
  retryAfterMs: number | null;
}

type Outcome = Omit<SendResult, 'durationMs'>;

/**
 * A response body of up to this size is read to its end, so that the socket can be reused. A longer one is cut off and
 * its socket is closed.
 */
const maxBodyBytes = 16_384;
const maxDetail = 500;

export function sendWebhook(agent: Dispatcher, input: SendInput): Promise<SendResult> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    let controller: Dispatcher.DispatchController | null = null;
    let answer: Outcome | null = null;
    let bodyBytes = 0;
    let settled = false;

    const settle = (outcome: Outcome): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      input.signal?.removeEventListener('abort', callOff);
      resolve({ ...outcome, durationMs: Math.round(performance.now() - startedAt) });
    };
    /** Destroys the socket, so that the rest of this response can never be read as the next response. */
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
        // The connection was ready only after the timeout, so nothing is sent. If the process was paused, the timer may
        // not have fired yet.
        if (performance.now() - startedAt >= input.timeoutMs) expire();
        controller = started;
        if (settled) started.abort(new Error('cut'));
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
      const { headers } = input;
      const body = heard(input.body, (statusCode) => {
        answer = outcomeOf(statusCode, {});
      });
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
