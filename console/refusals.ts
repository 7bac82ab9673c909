// What the service refuses, in the language of the screen: its own sentence, else one by the code, and the mistakes at
// fields by their kinds.
import type { components } from '../sdk/index.js';
import { LoyaltyError } from '../sdk/index.js';
import { kindOf } from './mistakes.js';
import { texts } from './texts.js';

type ProgramFinding = components['schemas']['ProgramFinding'];
export type Finding = Pick<ProgramFinding, 'path' | 'message'> & Partial<Pick<ProgramFinding, 'severity'>>;

const said = texts.refusals;

/** Those of the codes that the service has no sentence for a cashier for. */
const sentences: Readonly<Record<string, string | undefined>> = {
  ...all(['PROGRAM_NOT_FOUND', 'UNKNOWN_ROLE', 'ROLE_NOT_FOUND', 'USER_NOT_FOUND', 'BATCH_NOT_FOUND'], said.gone),
  ...all(['PROGRAM_VERSION_NOT_FOUND', 'API_KEY_NOT_FOUND', 'READER_NOT_FOUND', 'WEBHOOK_NOT_FOUND'], said.gone),
  ...all(['DELIVERY_NOT_FOUND', 'REQUEST_NOT_FOUND'], said.gone),
  ...all(['MALFORMED_REQUEST', 'MALFORMED_JSON', 'IDEMPOTENCY_KEY_MALFORMED', 'ROUTE_NOT_FOUND'], said.broken),
  ...all(['METHOD_NOT_ALLOWED', 'REQUEST_TIMEOUT', 'UNSUPPORTED_MEDIA_TYPE', 'EXPECTATION_FAILED'], said.broken),
  ...all(['INVALID_API_KEY', 'INVALID_TOKEN', 'AUTHENTICATION_REQUIRED', 'CONSOLE_SESSION_REQUIRED'], said.signedOut),
  ...all(['CSRF_REJECTED', 'NETWORK_NOT_ALLOWED'], said.signedOut),
  ...all(['ROLE_LIMIT_REACHED', 'USER_LIMIT_REACHED', 'API_KEY_LIMIT_REACHED'], said.atLimit),
  ...all(['READER_LIMIT_REACHED', 'WEBHOOK_LIMIT_REACHED'], said.atLimit),
  ...all(['BODY_TOO_LARGE', 'HEADERS_TOO_LARGE'], said.tooLarge),
  PROGRAM_LIMIT_REACHED: said.askOperator,
  TAG_LIMIT_EXCEEDED: said.tags,
  PROGRAM_ARCHIVED: said.archived,
  PAGE_CLOSED: said.pageClosed,
  PROGRAM_IN_USE: said.styleInUse,
  POSTER_LETTERS_MISSING: said.poster,
  WEBHOOK_URL_FORBIDDEN: said.receiver,
  MERCHANT_SUSPENDED: said.suspended,
  CARDS_NOT_MAILABLE: said.cardsNotMailable,
  VERSION_CONFLICT: said.changedSince,
  SLUG_TAKEN: said.slugTaken,
  PROGRAM_EXISTS: said.programExists,
  USER_EXISTS: said.userExists,
  LAST_OWNER: said.lastOwner,
  EMAIL_TAKEN: said.emailTaken,
  EXTERNAL_ID_TAKEN: said.numberTaken,
  PASS_ISSUANCE_FAILED: said.cardLater,
};

function all(codes: readonly string[], sentence: string): Record<string, string> {
  return Object.fromEntries(codes.map((code) => [code, sentence]));
}

/** What was refused. */
export const refusalOf = (error: Error): string =>
  (error instanceof LoyaltyError ? (error.display ?? sentences[error.code]) : undefined) ?? error.message;

/** The finding in the language of the screen; one of no known kind as the service says it. */
export function inLanguage<F extends Finding>(finding: F): F {
  const { kind, limit } = kindOf(finding.message) ?? {};
  if (kind === undefined) return finding;
  const sentence: string | ((limit: string) => string) = texts.mistakes[kind];
  return { ...finding, message: typeof sentence === 'string' ? sentence : sentence(limit ?? '') };
}

export const findingsOf = (error: unknown): Finding[] =>
  error instanceof LoyaltyError && Array.isArray(error.details) ? (error.details as Finding[]).map(inLanguage) : [];
