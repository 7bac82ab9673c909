// The table of all error codes. Every failure that leaves the service, over HTTP or as the type of an
// ApplicationFailure, has one of these codes (docs/interface.md#7-errors).

const table = {
  VALIDATION_FAILED: { status: 400, message: 'The request is not valid; see error.details.' },
  MALFORMED_REQUEST: { status: 400, message: 'The request is not valid HTTP.' },
  MALFORMED_JSON: { status: 400, message: 'The body is not valid JSON.' },
  IDEMPOTENCY_KEY_MALFORMED: { status: 400, message: 'Idempotency-Key must match ^[A-Za-z0-9_-]{8,128}$.' },
  IDEMPOTENCY_KEY_REUSED: {
    status: 400,
    message: 'This Idempotency-Key was used with another request; use a new key for a new change.',
  },
  TAG_LIMIT_EXCEEDED: { status: 400, message: 'A member can have at most 25 tags; nothing was changed.' },
  PROGRAM_ARCHIVED: { status: 400, message: 'The program is archived; no member can be enrolled into it.' },
  PAGE_CLOSED: { status: 400, message: 'The page on which people join the program is closed.' },
  POSTER_LETTERS_MISSING: {
    status: 400,
    message: 'The fonts of the poster do not have all letters of the texts; see error.details.',
  },
  PROGRAM_IN_USE: { status: 400, message: 'The program has members, so its style cannot change.' },
  PROGRAM_LIMIT_REACHED: { status: 400, message: 'The merchant has reached its limit of programs.' },
  MEMBER_NOT_ACTIVE: { status: 400, message: 'The member is not active; set its status to active first.' },
  STAMP_DELTA_ONLY: { status: 400, message: 'A stamp program accepts only a delta of 1.' },
  CARD_FULL: { status: 400, message: 'So many stamps do not fit on the card; error.details has the room.' },
  CARD_NOT_FULL: { status: 400, message: 'The balance does not reach the price of the reward; see error.details.' },
  REWARD_NOT_CONFIGURED: { status: 400, message: 'The program has no goal, so there is no reward to redeem.' },
  REWARD_NOT_FOUND: { status: 400, message: 'The program has no active reward with this id.' },
  EARNING_NOT_CONFIGURED: { status: 400, message: 'The program has no rule for earning points.' },
  EARN_LIMIT_REACHED: {
    status: 400,
    message: 'The sale exceeds the daily limit, or is too soon after another one; see error.details.',
  },
  CURRENCY_MISMATCH: { status: 400, message: 'The program gives points for another currency.' },
  NOT_REVERSIBLE: { status: 400, message: 'An entry of this type cannot be reversed.' },
  POINTS_EXPIRED: { status: 400, message: 'The points of the entry have expired, so there is nothing to take back.' },
  BALANCE_TOO_LOW: { status: 400, message: 'The balance is lower than what is needed; see error.details.' },
  IMPORT_TOO_LARGE: { status: 400, message: 'The import exceeds its limit of size or rows; nothing was created.' },
  IMPORT_INVALID: { status: 400, message: 'The file cannot be imported; nothing was created.' },
  ROLE_NOT_FOUND: { status: 400, message: 'A roleId is unknown to this merchant.' },
  ROLE_LIMIT_REACHED: { status: 400, message: 'The merchant has reached its limit of roles; delete one first.' },
  USER_LIMIT_REACHED: { status: 400, message: 'The merchant has reached its limit of users; remove one first.' },
  API_KEY_LIMIT_REACHED: { status: 400, message: 'A user can hold at most 10 active API keys; revoke one first.' },
  READER_LIMIT_REACHED: { status: 400, message: 'The merchant has reached its limit of readers.' },
  PAIRING_CODE_INVALID: { status: 400, message: 'The pairing code is unknown, used or expired; make a new one.' },
  WEBHOOK_LIMIT_REACHED: { status: 400, message: 'A merchant can have at most 20 subscriptions; delete one first.' },
  WEBHOOK_URL_FORBIDDEN: { status: 400, message: 'The webhook URL is not allowed.' },
  INVALID_API_KEY: { status: 401, message: 'The API key is invalid, expired or revoked.' },
  INVALID_TOKEN: { status: 401, message: 'The user token is invalid or expired.' },
  AUTHENTICATION_REQUIRED: {
    status: 401,
    message: 'Send an API key as "X-API-Key: <key>" or "Authorization: ApiKey <key>", or a user token.',
  },
  PERMISSION_DENIED: { status: 403, message: 'The credential lacks the permission for this operation.' },
  NETWORK_NOT_ALLOWED: { status: 403, message: 'The API key does not work from this address.' },
  CONSOLE_SESSION_REQUIRED: {
    status: 403,
    message: 'This operation needs a console session; an API key is not accepted.',
  },
  MERCHANT_SUSPENDED: { status: 403, message: 'The operator has suspended this merchant.' },
  CSRF_REJECTED: { status: 403, message: 'A cookie session may write only from the console itself.' },
  PROGRAM_NOT_FOUND: { status: 404, message: 'No such program.' },
  MEMBER_NOT_FOUND: { status: 404, message: 'No such member.' },
  UNKNOWN_ROLE: { status: 404, message: 'No such role of this merchant.' },
  USER_NOT_FOUND: { status: 404, message: 'No such user of this merchant.' },
  TRANSACTION_NOT_FOUND: { status: 404, message: 'The member has no such ledger entry.' },
  PROGRAM_VERSION_NOT_FOUND: { status: 404, message: 'No such version of the program is kept.' },
  API_KEY_NOT_FOUND: { status: 404, message: 'No such API key.' },
  READER_NOT_FOUND: { status: 404, message: 'No such reader, or it is revoked.' },
  WEBHOOK_NOT_FOUND: { status: 404, message: 'No such webhook subscription.' },
  DELIVERY_NOT_FOUND: { status: 404, message: 'No such delivery.' },
  REQUEST_NOT_FOUND: { status: 404, message: 'No request of this merchant with this id is kept.' },
  BATCH_NOT_FOUND: { status: 404, message: 'No such batch.' },
  ROUTE_NOT_FOUND: { status: 404, message: 'No such route; see /docs for the existing ones.' },
  METHOD_NOT_ALLOWED: { status: 405, message: 'This route does not accept that method; see the Allow header.' },
  REQUEST_TIMEOUT: { status: 408, message: 'The request did not arrive in time.' },
  IDEMPOTENCY_KEY_IN_USE: {
    status: 409,
    message: 'Another request with this Idempotency-Key is still running; retry with the same key in a moment.',
  },
  ALREADY_REVERSED: { status: 409, message: 'The ledger entry is already reversed.' },
  NOTHING_TO_UNDO: {
    status: 409,
    message: 'The caller has no change of this member within the last 10 minutes that is the last one.',
  },
  CODE_AMBIGUOUS: { status: 409, message: 'Several members have this code; error.details has them to choose from.' },
  REFERENCE_AMBIGUOUS: {
    status: 409,
    message: 'Several entries with this reference are not reversed; reverse one by its id.',
  },
  CARDS_NOT_MAILABLE: {
    status: 409,
    message: 'Cards are mailed where mail is set up, within 7 days after the end of an import that made members.',
  },
  VERSION_CONFLICT: {
    status: 409,
    message: 'The program was changed since it was read; read it again.',
  },
  SLUG_TAKEN: { status: 409, message: 'Another program has that slug.' },
  PROGRAM_EXISTS: { status: 409, message: 'A program with that id already exists.' },
  USER_EXISTS: { status: 409, message: 'The merchant already has a user with that email.' },
  LAST_OWNER: { status: 409, message: 'The last owner can be neither removed nor demoted; name another owner first.' },
  EMAIL_TAKEN: { status: 409, message: 'Another member of this program has that email.' },
  EXTERNAL_ID_TAKEN: { status: 409, message: 'Another member of this program has that externalId.' },
  BODY_TOO_LARGE: { status: 413, message: 'The body is larger than this route accepts.' },
  UNSUPPORTED_MEDIA_TYPE: { status: 415, message: 'This route does not accept that content type.' },
  EXPECTATION_FAILED: { status: 417, message: 'The only supported value of the Expect header is 100-continue.' },
  HEADERS_TOO_LARGE: { status: 431, message: 'The headers are larger than 16 KB.' },
  RATE_LIMITED: { status: 429, message: 'Too many requests; wait until the window resets.' },
  INTERNAL: { status: 500, message: 'Something went wrong on our side; idempotent calls are safe to retry.' },
  UNAVAILABLE: { status: 503, message: 'A part of the service is unavailable; retry with the same key in a moment.' },
  PASS_ISSUANCE_FAILED: {
    status: 201,
    message: 'The member was created, but a wallet pass could not be issued yet; it will be retried.',
  },
} as const satisfies Record<string, { status: number; message: string }>;

export type ErrorCode = keyof typeof table;

export const errorTable: Record<ErrorCode, { status: number; message: string }> = table;

/** What is wrong with a file of an import: at a line, or in columns by their numbers. */
export interface FileProblem {
  is: 'workbook' | 'noText' | 'charset' | 'quote' | 'empty' | 'header' | 'columns' | 'twice';
  line?: number;
  columns?: readonly number[];
}

/** The only error that routes and activities throw on purpose. The caller sees `details` as error.details. */
export class ServiceError extends Error {
  override readonly name = 'ServiceError';
  readonly status: number;

  constructor(
    readonly code: ErrorCode,
    readonly details?: unknown,
    message: string = errorTable[code].message,
    /** What only the sentence for a person needs. */
    readonly facts: { occurredAt?: Date | undefined; file?: FileProblem | undefined } = {},
  ) {
    super(message);
    this.status = errorTable[code].status;
  }
}
