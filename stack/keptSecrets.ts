// A secret that the stack made for itself stays the same over its starts: tokens that were handed out go on working and
// what was encrypted stays readable.

import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from './stackFile.js';

export interface KeptSecrets {
  CONSOLE_JWT_SECRET: string;
  SECRETS_KEY: string;
}

export function keptSecrets(stackDir: string): KeptSecrets {
  return {
    CONSOLE_JWT_SECRET: keptSecret(join(stackDir, 'console-jwt-secret'), 'base64url'),
    SECRETS_KEY: keptSecret(join(stackDir, 'secrets-key'), 'base64'),
  };
}

function keptSecret(path: string, encoding: BufferEncoding): string {
  if (!existsSync(path)) replaceFile(path, randomBytes(32).toString(encoding));
  return readFileSync(path, 'utf8').trim();
}
