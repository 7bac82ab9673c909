// interface 1.8: the envelope of every JSON answer, and the one place where an error becomes one. What is not ours to say
// (driver text, stacks) is logged and answered as INTERNAL or UNAVAILABLE.
import { MongoError } from 'mongodb';
import { isAway } from '../activities/isAway.js';
import { type ErrorCode, errorTable, ServiceError } from '../schemas/errors.js';

export function success(data: unknown): Buffer {
  return Buffer.from(JSON.stringify({ success: true, data }));
}

/** interface 1.8, the one exception: it was done, but not all of it. */
export function partialSuccess(data: unknown, code: ErrorCode): Buffer {
  const { message } = errorTable[code];
  return Buffer.from(JSON.stringify({ success: false, partial: true, data, error: { code, message } }));
}

export interface Failure {
  status: number;
  body: { success: false; error: { code: ErrorCode; message: string; details?: unknown } };
}

export function failure(error: unknown): Failure {
  const known = error instanceof ServiceError ? error : new ServiceError(isOutage(error) ? 'UNAVAILABLE' : 'INTERNAL');
  const { code, message, details } = known;
  return {
    status: errorTable[code].status,
    body: { success: false, error: { code, message, ...(details !== undefined && { details }) } },
  };
}

/** MongoDB is away, or too slow to be waited for. */
export const isOutage = (error: unknown): boolean =>
  isAway(error) || (error instanceof MongoError && error.hasErrorLabel('RetryableWriteError'));
