import {
  MongoBulkWriteError,
  MongoClientBulkWriteError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoOperationTimeoutError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';
import { ServiceError } from '../../schemas/shared/errors.js';
import { StillContended } from './stillContended.js';

/** The server stops, or is not the primary: the codes of a node that is not writable or recovering. */
const noPrimaryCodes = new Set<unknown>([91, 189, 10_107, 11_600, 11_602, 13_435, 13_436]);

/**
 * True when MongoDB does not answer, or not in time. Unless a query read too much, the operation itself did not cause
 * the error, and other operations would fail now too.
 */
export function isUnavailable(error: unknown): boolean {
  if (error instanceof StillContended) return false;
  if (error instanceof ServiceError) return error.code === 'UNAVAILABLE';
  const thrown = thrownBy(error);
  return (
    thrown instanceof MongoNetworkError ||
    thrown instanceof MongoServerSelectionError ||
    thrown instanceof MongoNotConnectedError ||
    // A statement that exceeded its time limit.
    thrown instanceof MongoOperationTimeoutError ||
    isTimeLimit(thrown) ||
    (thrown instanceof MongoServerError && noPrimaryCodes.has(thrown.code)) ||
    // An operation that waited for the first connection, which failed.
    thrown instanceof MongoTopologyClosedError
  );
}

/** True for a query that the server ended after `maxTimeMS` (driverPatch.ts). */
export const isTimeLimit = (error: unknown): boolean => error instanceof MongoServerError && error.code === 50;

/** insertMany and bulkWrite wrap the error that the driver threw. */
function thrownBy(error: unknown): unknown {
  if (error instanceof MongoClientBulkWriteError) return error.cause;
  return error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error
    ? error.errorResponse
    : error;
}
