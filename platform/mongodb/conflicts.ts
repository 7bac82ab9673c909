// Errors that end an attempt and may be retried: version conflicts, write conflicts, duplicate keys, lost connections.
import { MongoClientBulkWriteError, MongoNetworkError, MongoServerError } from 'mongodb';

export const duplicateKeyCode = 11_000;

const writeConflictCode = 112;

/** The rows on which an attempt was based have changed; the caller must read and decide again. */
export class VersionConflict extends Error {
  override readonly name = 'VersionConflict';
}

/** True when a row with the same unique key exists already; finds the error inside the driver's bulk errors too. */
export function isDuplicateKey(error: unknown): boolean {
  if (error instanceof MongoClientBulkWriteError)
    return [...error.writeErrors.values()].some((entry) => entry.code === duplicateKeyCode);
  return error instanceof MongoServerError && error.code === duplicateKeyCode;
}

/** True when another transaction wrote the same document; finds the error inside the driver's bulk errors too. */
export function isWriteConflict(error: unknown): boolean {
  if (error instanceof MongoClientBulkWriteError)
    return (
      [...error.writeErrors.values()].some((entry) => entry.code === writeConflictCode) || isWriteConflict(error.cause)
    );
  return error instanceof MongoServerError && error.hasErrorLabel('TransientTransactionError');
}

/**
 * True when the connection was closed during a transaction. The server has dropped the transaction and may be available
 * again.
 */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof MongoNetworkError && error.hasErrorLabel('TransientTransactionError');
}

export const isRetryable = (error: unknown): boolean =>
  error instanceof VersionConflict || isDuplicateKey(error) || isWriteConflict(error);
