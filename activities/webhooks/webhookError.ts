// A connection that could not be made, as a class of failure. The message is for operators and may hold addresses; the
// `kind` is all that a merchant sees.
import type { WebhookFailure } from '../../schemas/webhookFailures.js';

export class WebhookError extends Error {
  override readonly name = 'WebhookError';

  constructor(
    readonly kind: WebhookFailure,
    message: string,
  ) {
    super(message);
  }
}

const kindOfCode: Record<string, WebhookFailure> = {
  ECONNREFUSED: 'refused',
  EHOSTUNREACH: 'refused',
  ENETUNREACH: 'refused',
  EHOSTDOWN: 'refused',
  ENETDOWN: 'refused',
  EADDRNOTAVAIL: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  ECONNABORTED: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_OVERFLOW: 'protocol',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'protocol',
  EPROTO: 'tls',
  // Text that is no URL is refused at create, long before an attempt.
  ERR_INVALID_URL: 'blocked_address',
};

/** What openssl and Node call a certificate that does not convince. */
const certificateCode =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_|INVALID_|PATH_LENGTH_)/;

export function toWebhookError(error: unknown): WebhookError {
  if (error instanceof WebhookError) return error;
  if (!(error instanceof Error)) return new WebhookError('internal', String(error));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // undici gives its parser's errors a code only where llhttp has a name for them.
  const kind = error.name === 'HTTPParserError' ? 'protocol' : kindOf(code);
  return new WebhookError(kind, code === '' ? error.message : `${code}: ${error.message}`);
}

function kindOf(code: string): WebhookFailure {
  return kindOfCode[code] ?? (certificateCode.test(code) ? 'tls' : 'internal');
}
