// The error of a failed attempt with its class of failure. The message is for operators and may contain addresses; a
// merchant sees only `kind`.
import type { WebhookFailure } from '../../schemas/webhooks/failures.rules.js';

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
  // A subscription cannot be created with a URL that does not parse, so attempts do not meet this error.
  ERR_INVALID_URL: 'blocked_address',
};

/** The codes that OpenSSL and Node give to a certificate that fails verification. */
const certificateCode =
  /^(ERR_TLS_|ERR_SSL_|CERT_|CRL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_|INVALID_|PATH_LENGTH_)/;

export function toWebhookError(error: unknown): WebhookError {
  if (error instanceof WebhookError) return error;
  if (!(error instanceof Error)) return new WebhookError('internal', String(error));
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  // undici's parser errors have a code only when llhttp, the parser, has a name for the error.
  const kind = error.name === 'HTTPParserError' ? 'protocol' : kindOf(code);
  return new WebhookError(kind, code === '' ? error.message : `${code}: ${error.message}`);
}

function kindOf(code: string): WebhookFailure {
  return kindOfCode[code] ?? (certificateCode.test(code) ? 'tls' : 'internal');
}
