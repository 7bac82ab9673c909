// Finds the engines for operators' commands: at the addresses in the environment, otherwise at the stack that runs on
// STACK_DIR. There is no further fallback.
import { resolve } from 'node:path';
import { ExpectedFailure } from './expectedFailure.js';
import { startMarkOf } from './processIdentity.js';
import { readStackFile, type StackFile } from './stackFile.js';

export interface StackAddresses {
  mongodbUri: string;
  temporalAddress: string;
  redisUrl?: string;
  /** The API's address with `/api/v1`; only set for a running stack. */
  baseUrl?: string;
  /** Only set for a running stack. */
  stack?: StackFile;
}

/** Throws ExpectedFailure when no stack runs on STACK_DIR. */
export function runningStack(env: NodeJS.ProcessEnv, orGive: string): StackFile {
  const stackDir = resolve(env.STACK_DIR || '.stack');
  const stack = readStackFile(stackDir);
  const help = `Start it with npm start, or give ${orGive}.`;
  if (stack === undefined) throw new ExpectedFailure(`No stack is running on ${stackDir}. ${help}`);
  if (startMarkOf(stack.pids.supervisor) === undefined) {
    throw new ExpectedFailure(`The stack on ${stackDir} was killed and runs no more. ${help}`);
  }
  return stack;
}

/** Throws ExpectedFailure when the environment has no addresses and no stack runs on STACK_DIR. */
export function connectStack(
  env: NodeJS.ProcessEnv,
  { mongodbOnly = false }: { mongodbOnly?: boolean } = {},
): StackAddresses {
  const { MONGODB_URI: mongodbUri, TEMPORAL_ADDRESS: temporalAddress = '', REDIS_URL: redisUrl } = env;
  if (mongodbUri && (temporalAddress || mongodbOnly))
    return { mongodbUri, temporalAddress, ...(redisUrl ? { redisUrl } : {}) };

  const stack = runningStack(env, mongodbOnly ? 'MONGODB_URI' : 'MONGODB_URI and TEMPORAL_ADDRESS');
  const known = redisUrl || stack.redisUrl;
  return {
    mongodbUri: mongodbUri || stack.mongodbUri,
    temporalAddress: temporalAddress || stack.temporalAddress,
    ...(known ? { redisUrl: known } : {}),
    baseUrl: stack.baseUrl,
    stack,
  };
}
