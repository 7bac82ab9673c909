import { MongoNetworkError, MongoServerSelectionError, MongoTopologyClosedError } from 'mongodb';
import { ServiceError } from '../schemas/errors.js';

/** MongoDB does not answer, so nothing that was asked of it is to blame, and nothing else will be answered now. */
export function isAway(error: unknown): boolean {
  if (error instanceof ServiceError) return error.code === 'UNAVAILABLE';
  return (
    error instanceof MongoNetworkError ||
    error instanceof MongoServerSelectionError ||
    // What waited behind a first connection that could not be made.
    error instanceof MongoTopologyClosedError
  );
}
