import {
  MongoBulkWriteError,
  MongoNetworkError,
  MongoNotConnectedError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
} from 'mongodb';
import { ServiceError } from '../schemas/errors.js';

/** MongoDB does not answer, so nothing that was asked of it is to blame, and nothing else will be answered now. */
export function isAway(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'UNAVAILABLE';
  const thrown = thrownBy(error);
  return (
    thrown instanceof MongoNetworkError ||
    thrown instanceof MongoServerSelectionError ||
    thrown instanceof MongoNotConnectedError ||
    // What waited behind a first connection that could not be made.
    thrown instanceof MongoTopologyClosedError
  );
}

/** insertMany and bulkWrite put whatever the driver threw into an error of their own. */
function thrownBy(error: unknown): unknown {
  return error instanceof MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error
    ? error.errorResponse
    : error;
}
