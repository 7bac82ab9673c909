// What a call throws.
import type { components } from './openapi.js';

export type SuccessStatus = 200 | 201 | 202;

/** The codes of the service; `NETWORK` when no answer came, `UNEXPECTED` when it is not the service that answered. */
export type ErrorCode = components['schemas']['ErrorCode'] | 'NETWORK' | 'UNEXPECTED';

interface Refusal {
  code: string;
  message: string;
  display?: string;
  details?: unknown;
}

export interface LoyaltyErrorInput extends Refusal {
  status: number;
  requestId?: string | undefined;
  retryAfterMs?: number;
  cause?: unknown;
}

/** A call that failed. Branch on `code`; `message` is for developers. */
export class LoyaltyError extends Error {
  override readonly name = 'LoyaltyError';
  /** 0 when no answer came: then nothing is known about the change. */
  readonly status: number;
  readonly code: ErrorCode;
  /** For a cashier, to be read aloud, in a language of `Accept-Language`. */
  readonly display: string | undefined;
  readonly details: unknown;
  /** Names the request in the logs of the service. */
  readonly requestId: string | undefined;
  /** How long the service asked to wait; 0 when it did not. */
  readonly retryAfterMs: number;

  constructor({ status, code, message, display, details, requestId, retryAfterMs = 0, cause }: LoyaltyErrorInput) {
    super(message, cause === undefined ? {} : { cause });
    this.status = status;
    // A newer service may have codes that these types do not know.
    this.code = code as ErrorCode;
    this.display = display;
    this.details = details;
    this.requestId = requestId;
    this.retryAfterMs = retryAfterMs;
  }
}

const isRefusal = (value: unknown): value is Refusal =>
  typeof value === 'object' && value !== null && 'code' in value && 'message' in value;

/** What `Retry-After` asks for, as seconds or as a date; 0 without it. */
export function retryAfterMs(headers: Headers, now = Date.now()): number {
  const value = headers.get('Retry-After')?.trim() ?? '';
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - now;
  return Number.isFinite(ms) ? Math.max(ms, 0) : 0;
}

/** The error of an answer, whatever a proxy on the way made of it. */
export function errorOf(response: Response, body: unknown): LoyaltyError {
  const said = typeof body === 'object' && body !== null && 'error' in body ? body.error : undefined;
  const refusal = isRefusal(said) ? said : { code: 'UNEXPECTED', message: `HTTP ${response.status}` };
  const requestId = response.headers.get('X-Request-Id') ?? undefined;
  const { status, headers } = response;
  return new LoyaltyError({ ...refusal, status, requestId, retryAfterMs: retryAfterMs(headers) });
}
