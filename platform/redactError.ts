// MongoDB's errors quote values of the rows that they refuse: an email in a duplicate key, a document that fails
// validation. Readers of logs and Temporal histories must not see personal data, so quoted values are removed from the
// messages.
import { MongoError, MongoServerError } from 'mongodb';

/**
 * Returns the message without the values of a duplicate key, at most 500 characters long. Errors of other kinds keep
 * their message.
 */
export function redactedMessage(error: Error): string {
  if (!(error instanceof MongoError)) return error.message;
  return error.message.replace(/dup key: \{.*$/s, 'dup key').slice(0, 500);
}

/** The error to throw to Temporal: errors of MongoDB are replaced by a plain error with a redacted message. */
export function redactError(error: unknown): unknown {
  if (!(error instanceof MongoError)) return error;
  const code = error instanceof MongoServerError && error.code !== undefined ? ` ${error.code}` : '';
  const plain = new Error(`${error.name}${code}: ${redactedMessage(error)}`);
  if (error.stack !== undefined) plain.stack = `${plain.message}\n${error.stack.replace(/^(?!\s+at ).*\n?/gm, '')}`;
  return plain;
}
