// Operator's commands work on what the environment names, else on the stack that runs on STACK_DIR; never on a guess.

import { resolve } from 'node:path';
import { ExpectedFailure } from './expectedFailure.js';
import { startMarkOf } from './processIdentity.js';
import { readStackFile, type StackFile } from './stackFile.js';

export interface StackAddresses {
  mongodbUri: string;
  temporalAddress: string;
  redisUrl?: string;
  /** With `/api/v1`; only of a running stack. */
  baseUrl?: string;
  /** Only of a running stack. */
  stack?: StackFile;
}

/** Throws ExpectedFailure when neither the environment nor a running stack tells where the engines are. */
export function connectStack(env: NodeJS.ProcessEnv): StackAddresses {
  const { MONGODB_URI: mongodbUri, TEMPORAL_ADDRESS: temporalAddress, REDIS_URL: redisUrl } = env;
  if (mongodbUri && temporalAddress) return { mongodbUri, temporalAddress, ...(redisUrl ? { redisUrl } : {}) };

  const stackDir = resolve(env.STACK_DIR || '.stack');
  const stack = readStackFile(stackDir);
  const help = 'Start it with npm start, or give MONGODB_URI and TEMPORAL_ADDRESS.';
  if (stack === undefined) throw new ExpectedFailure(`No stack is running on ${stackDir}. ${help}`);
  if (startMarkOf(stack.pids.supervisor) === undefined) {
    throw new ExpectedFailure(`The stack on ${stackDir} was killed and runs no more. ${help}`);
  }
  const known = redisUrl || stack.redisUrl;
  return {
    mongodbUri: mongodbUri || stack.mongodbUri,
    temporalAddress: temporalAddress || stack.temporalAddress,
    ...(known ? { redisUrl: known } : {}),
    baseUrl: stack.baseUrl,
    stack,
  };
}
