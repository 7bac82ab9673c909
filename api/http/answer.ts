// The envelope (docs/interface.md#13-response-envelope) of every JSON answer. Only this file turns errors into
// envelopes. For an unknown error (driver messages, stacks) the caller sees INTERNAL or UNAVAILABLE and nothing else.
import { MongoError } from 'mongodb';
import { isTimeLimit, isUnavailable } from '../../platform/mongodb/isUnavailable.js';
import { sentencesOf } from '../../schemas/points/refusals.rules.js';
import { type ErrorCode, errorTable, ServiceError } from '../../schemas/shared/errors.js';
import { languageOf } from '../../schemas/shared/languages/index.js';

export function success(data: unknown): Buffer {
  return Buffer.from(JSON.stringify({ success: true, data }));
}

/** The one exception of docs/interface.md#13-response-envelope: the request succeeded, but one part of it did not. */
export function partialSuccess(data: unknown, code: ErrorCode): Buffer {
  const { message } = errorTable[code];
  return Buffer.from(JSON.stringify({ success: false, partial: true, data, error: { code, message } }));
}

export interface Failure {
  status: number;
  body: { success: false; error: { code: ErrorCode; message: string; display?: string; details?: unknown } };
}

/** `acceptLanguage` decides the language of `error.display`. */
export function failure(error: unknown, { acceptLanguage = '', now = new Date() } = {}): Failure {
  const refusal = error instanceof ServiceError ? error : unexpected(error);
  const { code, details } = refusal;
  const sentences = sentencesOf(refusal, { language: languageOf({}, acceptLanguage), now });
  return {
    status: errorTable[code].status,
    body: { success: false, error: { code, ...sentences, ...(details !== undefined && { details }) } },
  };
}

function unexpected(error: unknown): ServiceError {
  if (isTimeLimit(error))
    return new ServiceError(
      'UNAVAILABLE',
      undefined,
      'The request read for longer than it may; ask for less, or retry.',
    );
  return new ServiceError(isOutage(error) ? 'UNAVAILABLE' : 'INTERNAL');
}

/** True when MongoDB is unavailable or did not answer in time. */
export const isOutage = (error: unknown): boolean =>
  isUnavailable(error) || (error instanceof MongoError && error.hasErrorLabel('RetryableWriteError'));
