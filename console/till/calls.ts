// Calls of the API by the SDK (sdk/). Each is one attempt: the till has a queue with its own rules for what is repeated
// (sender.ts).
import { createClient, LoyaltyError } from '../../sdk/index.js';
import type { Answer, BodyOf, Called, DataOf, TillPath } from './taps.js';

export interface CallOptions {
  token?: string | undefined;
  key?: string;
}
/** Never rejects: `status` 0 when no answer came. */
export type Call = <P extends Called>(path: P, body: BodyOf<P>, options: CallOptions) => Promise<Answer<DataOf<P>>>;

interface Line {
  /** Of the service, with or without `/api/v1`. */
  baseUrl: string;
  language: string;
  fetch?: (request: Request) => Promise<Response>;
}

const patienceMs = (path: Called) => (path === '/till/lookup' ? 6_000 : 20_000);

/** What was refused. What is no answer of the service, such as the page of a hotel's network, says nothing. */
function refusalOf(error: unknown): Answer<never> {
  if (!(error instanceof LoyaltyError)) return { status: 0 };
  const { status, code, retryAfterMs } = error;
  const waits = retryAfterMs > 0 && { retryAfterMs };
  return code === 'NETWORK' || code === 'UNEXPECTED' ? { status, ...waits } : { status, error, ...waits };
}

export function createCall({ baseUrl, language, ...line }: Line): Call {
  return async (path, body, { token, key }) => {
    const client = createClient({
      baseUrl,
      ...(token !== undefined && { token }),
      headers: { 'Accept-Language': language, ...(key && { 'Idempotency-Key': key }) },
      retry: { tries: 1, attemptMs: patienceMs(path) },
      ...line,
    });
    const init = { credentials: token ? 'omit' : 'same-origin', cache: 'no-store', redirect: 'error' } as const;
    try {
      // The type of Call has checked the body.
      const { data, response } = await (path === '/auth/session'
        ? client.GET('/auth/session', init)
        : client.POST(path as TillPath, { ...init, body } as never));
      const { status, headers } = response;
      const programId = headers.get('X-Program-Id');
      const isRepeat = headers.has('Idempotent-Replayed');
      return { status, data: data as never, ...(programId && { programId }), ...(isRepeat && { isRepeat }) };
    } catch (error) {
      return refusalOf(error);
    }
  };
}
