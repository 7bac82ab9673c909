// An error of Google Wallet, with the `kind` that tells the caller whether to retry. The error never contains the
// request, which holds an access token.
import { z } from 'zod';

/**
 * transient: try again later (no answer, 408, 409, 429, 5xx). quota: the pass has used up its notifications of the day.
 * not_found: the object or its class was never inserted. forbidden: the service account has no permission. invalid: the
 * same request would fail again.
 */
export type GoogleErrorKind = 'transient' | 'quota' | 'not_found' | 'forbidden' | 'invalid';

export class GoogleWalletError extends Error {
  override readonly name = 'GoogleWalletError';
  readonly kind: GoogleErrorKind;
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  /** Google's reason (`quotaExceeded`), or our own when there was no answer (`timeout`, `ECONNRESET`). */
  readonly reason: string;

  constructor(failure: { kind: GoogleErrorKind; status: number | null; reason: string; message: string }) {
    super(failure.message);
    this.kind = failure.kind;
    this.status = failure.status;
    this.reason = failure.reason;
  }

  /** Whether the same request may succeed later. */
  get mayPass(): boolean {
    return this.kind === 'transient' || this.kind === 'quota';
  }
}

const answered = z.object({ response: z.object({ status: z.number(), data: z.unknown().optional() }) });
const unanswered = z.object({
  // The code of a DOMException is a number; its name says more.
  code: z.string().optional().catch(undefined),
  name: z.string().optional(),
  cause: z.unknown().optional(),
});

/** The error body of the wallet API; the OAuth token endpoint has a flat one, below. */
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
  // A 409 outside an insert means two concurrent writers; the next attempt succeeds.
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
