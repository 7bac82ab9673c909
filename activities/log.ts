// Logs are events with fields, one JSON object a line. What could hold a person or a secret is kept out here as well as where
// it is logged: a database error quotes the row that it refused, so of an error only what we name goes into a line.
import pino, { type DestinationStream, type Logger } from 'pino';
import type { Config } from '../schemas/config.js';
import { plainMessage } from './plainError.js';

const personal = ['firstName', 'lastName', 'email', 'phone'];
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
  const message = plainMessage(error);
  const code = 'code' in error && (typeof error.code === 'string' || typeof error.code === 'number');
  // The first lines of a stack repeat the message.
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
  /** Asked for each line. */
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
