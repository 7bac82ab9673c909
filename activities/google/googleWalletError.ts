// What went wrong at Google, in the words that decide what a caller does next. It never carries the request: that holds
// an access token.
import { z } from 'zod';

/**
 * transient: try again later (no answer, 429, 5xx). quota: the pass's daily notifications are used up. not_found: the
 * object or its class was never inserted. forbidden: the service account may not. invalid: the same again fails again.
 */
export type GoogleErrorKind = 'transient' | 'quota' | 'not_found' | 'forbidden' | 'invalid';

export class GoogleWalletError extends Error {
  override readonly name = 'GoogleWalletError';
  readonly kind: GoogleErrorKind;
  /** The HTTP status; null where no answer came. */
  readonly status: number | null;
  /** Google's word for it (`quotaExceeded`), or ours where no answer came (`timeout`, `ECONNRESET`). */
  readonly reason: string;

  constructor(failure: { kind: GoogleErrorKind; status: number | null; reason: string; message: string }) {
    super(failure.message);
    this.kind = failure.kind;
    this.status = failure.status;
    this.reason = failure.reason;
  }
}

const answered = z.object({ response: z.object({ status: z.number(), data: z.unknown().optional() }) });
const unanswered = z.object({
  // A DOMException's code is a number and says less than its name.
  code: z.string().optional().catch(undefined),
  name: z.string().optional(),
  cause: z.unknown().optional(),
});

/** The envelope of the wallet API, and the flat one of the OAuth token endpoint. */
const apiError = z.object({
  error: z.object({
    message: z.string().optional(),
    status: z.string().optional(),
    errors: z.array(z.object({ reason: z.string().optional() })).optional(),
  }),
});
const oauthError = z.object({ error: z.string(), error_description: z.string().optional() });

export function toGoogleWalletError(thrown: unknown): GoogleWalletError {
  if (thrown instanceof GoogleWalletError) return thrown;
  const answer = answered.safeParse(thrown);
  if (answer.success) return errorOfAnswer(answer.data.response.status, answer.data.response.data);
  const reason = reasonOf(thrown);
  return new GoogleWalletError({
    kind: 'transient',
    status: null,
    reason,
    message: `Google did not answer: ${reason}.`,
  });
}

export function errorOfAnswer(status: number, body: unknown): GoogleWalletError {
  const { reason, text } = readBody(body);
  const message = text === undefined ? `Google answered ${status}.` : `Google answered ${status}: ${text}`;
  return new GoogleWalletError({ kind: kindOf(status, reason), status, reason: reason ?? String(status), message });
}

function readBody(body: unknown): { reason: string | undefined; text: string | undefined } {
  const wallet = apiError.safeParse(body);
  if (wallet.success) {
    const { errors, status, message } = wallet.data.error;
    return { reason: errors?.[0]?.reason ?? status, text: message };
  }
  const oauth = oauthError.safeParse(body);
  if (oauth.success) return { reason: oauth.data.error, text: oauth.data.error_description ?? oauth.data.error };
  return { reason: undefined, text: undefined };
}

function kindOf(status: number, reason: string | undefined): GoogleErrorKind {
  if (status === 403 && reason === 'quotaExceeded') return 'quota';
  if (reason === 'invalid_grant' || status === 401 || status === 403) return 'forbidden';
  if (status === 404) return 'not_found';
  // 409 where nothing is being inserted is two writers at once, which the next try settles.
  if (status === 408 || status === 409 || status === 429 || status >= 500) return 'transient';
  return 'invalid';
}

function reasonOf(thrown: unknown): string {
  const parsed = unanswered.safeParse(thrown);
  if (!parsed.success) return 'unknown';
  const { code, name, cause } = parsed.data;
  if ([code, name].some((word) => word === 'TimeoutError' || word === 'AbortError' || word === 'ETIMEDOUT'))
    return 'timeout';
  if (code !== undefined) return code;
  return cause === undefined || cause === null ? 'unknown' : reasonOf(cause);
}
