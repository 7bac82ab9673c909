// A client that follows the documentation for integrators: it repeats an unanswered request with the same key at the
// next API process until it gets an answer, its 90 s are over, or its attempts are used up.
import { Agent, type FormData, fetch } from 'undici';
import type { Site, World } from './world.js';

export interface Asked {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  key?: string;
  body?: unknown;
  form?: FormData;
}

/** One answer, or the reason why none came. */
export type Answer = { status: number; text: string; code: string; replayed: boolean } | { lost: string };

export const isAnswer = (answer: Answer): answer is Exclude<Answer, { lost: string }> => 'status' in answer;

export interface Called {
  /** The last answer; a lost one when no definite answer came. */
  answer: Answer;
  requests: number;
  /**
   * True when an attempt before the last one was not answered or got a 5xx, so that its change may have been applied.
   */
  doubtful: boolean;
  surprises: string[];
}

export interface Caller {
  /** Sends one request to the API process with this number. */
  once(asked: Asked, api: number): Promise<Answer>;
  /** Repeats the request until a definite answer comes, `patienceMs` is over, or `attempts` are used up. */
  call(asked: Asked, options?: { attempts?: number }): Promise<Called>;
  close(): Promise<void>;
}

/** Statuses that are not definite; the same request can and should be sent again. */
const again: readonly number[] = [409, 500, 502, 503];
const patienceMs = 90_000;

interface CallerOptions {
  /** Called with each answer that comes, and with each that does not. */
  heard?: (asked: Asked, answer: Answer) => void;
  /** How long it waits for an answer. */
  timeoutMs?: number;
}

export function createCaller(
  { cluster, apiKey }: World<Site>,
  { heard = () => undefined, timeoutMs = 8_000 }: CallerOptions = {},
): Caller {
  const apis = Object.values(cluster.apis);
  const { ca } = cluster;
  const dispatcher = new Agent({
    connections: 32,
    keepAliveTimeout: 10_000,
    ...(ca !== undefined && { connect: { ca } }),
  });
  let turn = 0;

  async function once(asked: Asked, api: number): Promise<Answer> {
    const answer = await send(asked, api);
    heard(asked, answer);
    return answer;
  }

  async function send({ method, path, key, body, form }: Asked, api: number): Promise<Answer> {
    try {
      const response = await fetch(`${apis[api % apis.length]}${path}`, {
        method,
        headers: {
          'X-API-Key': apiKey,
          ...(key !== undefined && { 'Idempotency-Key': key }),
          ...(body !== undefined && { 'Content-Type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        ...(form && { body: form }),
        signal: AbortSignal.timeout(timeoutMs),
        dispatcher,
      });
      const text = await response.text();
      return {
        status: response.status,
        text,
        code: /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? '',
        replayed: response.headers.has('idempotent-replayed'),
      };
    } catch (error) {
      const cause = error instanceof Error ? (error.cause ?? error) : error;
      return { lost: cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause) };
    }
  }

  return {
    once,
    async call(asked, { attempts = Number.POSITIVE_INFINITY } = {}) {
      const until = performance.now() + patienceMs;
      const surprises: string[] = [];
      let doubtful = false;
      turn += 1;
      const first = turn;
      for (let requests = 1; ; requests += 1) {
        const answer = await once(asked, first + requests);
        if (isAnswer(answer)) {
          if (answer.status === 500) surprises.push(`500 ${answer.text.slice(0, 200)}`);
          const isDefinite = !again.includes(answer.status) || answer.code === 'ALREADY_REVERSED';
          if (isDefinite) return { answer, requests, doubtful, surprises };
        }
        if (!isAnswer(answer) || answer.status >= 500) doubtful = true;
        if (requests >= attempts || performance.now() > until) {
          const lost = isAnswer(answer) ? { lost: `still ${answer.status} ${answer.code}` } : answer;
          return { answer: lost, requests, doubtful, surprises };
        }
        await new Promise((resolve) => setTimeout(resolve, Math.min(50 * requests, 500)));
      }
    },
    close: () => dispatcher.destroy(),
  };
}
