// MongoDB's errors quote values of the rows that they refuse: an email in a duplicate key, a document that fails validation.
// Logs and Temporal's histories are read by people who must not see those, so only the rest of such a message leaves.
import { MongoError, MongoServerError } from 'mongodb';

/** The message without quoted values. */
export function plainMessage(error: Error): string {
  if (!(error instanceof MongoError)) return error.message;
  return error.message.replace(/dup key: \{.*$/s, 'dup key').slice(0, 500);
}

/** What may be thrown to Temporal: the same error, unless it carries rows. */
export function plainError(error: unknown): unknown {
  if (!(error instanceof MongoError)) return error;
  const code = error instanceof MongoServerError && error.code !== undefined ? ` ${error.code}` : '';
  const plain = new Error(`${error.name}${code}: ${plainMessage(error)}`);
  if (error.stack !== undefined) plain.stack = `${plain.message}\n${error.stack.replace(/^(?!\s+at ).*\n?/gm, '')}`;
  return plain;
}
