// Sends one request on an open HTTP/2 connection. Settles by the deadline, with an answer or an Http2Failure.
import { type ClientHttp2Session, type ClientHttp2Stream, constants } from 'node:http2';

export interface Http2Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

/**
 * No answer. `lost`: the request may be sent again at once on a new connection. `unreachable`, `timeout`: retry later.
 */
export class Http2Failure extends Error {
  readonly kind: 'lost' | 'unreachable' | 'timeout';

  constructor(kind: Http2Failure['kind'], message: string) {
    super(message);
    this.name = 'Http2Failure';
    this.kind = kind;
  }
}

const MAX_BODY = 4096;

export const timeLeft = (deadline: number) => Math.max(0, deadline - Date.now());

export const tooLate = () => new Http2Failure('timeout', 'no answer in time');

/** Settles like `work`, or rejects with a timeout at `deadline` (milliseconds since the epoch). */
export function before<T>(deadline: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(tooLate()), timeLeft(deadline));
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** Sends nothing after the deadline: a process that was paused does not know what others did since. */
export function exchange(
  session: ClientHttp2Session,
  headers: Record<string, string>,
  body: string,
  deadline: number,
): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    if (Date.now() >= deadline) {
      reject(tooLate());
      return;
    }
    let request: ClientHttp2Stream;
    try {
      request = session.request(headers);
    } catch (error) {
      reject(new Http2Failure('lost', error instanceof Error ? error.message : 'the connection ended'));
      return;
    }
    const timer = setTimeout(() => {
      reject(tooLate());
      request.close(constants.NGHTTP2_CANCEL);
    }, timeLeft(deadline));
    const answer: Http2Answer = { status: 0, headers: {}, body: '' };
    request.setEncoding('utf8');
    request.on('response', (received) => {
      answer.status = Number(received[':status']);
      answer.headers = received;
    });
    request.on('data', (text: string) => {
      if (answer.body.length < MAX_BODY) answer.body += text;
    });
    request.on('error', () => undefined);
    request.on('close', () => {
      clearTimeout(timer);
      // A stream that was cut off in the middle of its answer also ends, but with a code.
      if (answer.status !== 0 && request.rstCode === constants.NGHTTP2_NO_ERROR) resolve(answer);
      else reject(new Http2Failure('lost', `the stream ended with code ${request.rstCode}`));
    });
    request.end(body);
  });
}
