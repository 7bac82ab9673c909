// Creates the logger: one JSON object on each line. Personal data and secrets must not be logged; as a second safeguard
// this file masks fields with such names. A MongoDB error can quote the row that it refused, so only selected fields of
// an error are logged.
import pino, { type DestinationStream, type Logger } from 'pino';
import type { Config } from '../schemas/shared/config.schema.js';
import { redactedMessage } from './redactError.js';

const personal = ['firstName', 'lastName', 'email', 'phone', 'phoneE164', 'externalId'];
const secret = ['authorization', 'cookie', 'apiKey', 'secret', 'secrets', 'token', 'pushToken', 'authenticationToken'];
const hidden = [...personal, ...secret].flatMap((name) => [name, `*.${name}`]);

interface LoggedError {
  type: string;
  message: string;
  code?: string | number;
  stack?: string;
  cause?: LoggedError;
}

const deepest = 4;

function loggedError(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: String(error).slice(0, 500) };
  const message = redactedMessage(error);
  const code = 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number');
  // Only the frames: the first lines of a stack repeat the message.
  const frames = error.stack?.split('\n').filter((line) => /^\s+at /.test(line));
  return {
    type: error.name,
    message,
    ...(code && { code: error.code as string | number }),
    ...(frames && { stack: frames.join('\n') }),
    ...(error.cause !== undefined && depth < deepest && { cause: loggedError(error.cause, depth + 1) }),
  };
}

export interface LogOptions {
  /** Standard output when omitted. */
  destination?: DestinationStream;
  /** Called for each line; the result is added to the line. */
  fields?: () => Record<string, unknown>;
}

export function createLog(
  config: Pick<Config, 'LOG_LEVEL'>,
  process: string,
  { destination = pino.destination(1), fields }: LogOptions = {},
): Logger {
  return pino(
    {
      level: config.LOG_LEVEL,
      base: { process },
      ...(fields && { mixin: fields }),
      redact: { paths: hidden, censor: '***' },
      serializers: { err: (error: unknown) => loggedError(error) },
    },
    destination,
  );
}
