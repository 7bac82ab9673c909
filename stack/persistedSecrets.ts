// Creates the stack's secrets once and stores them in its folder, so that tokens stay valid and encrypted values stay
// readable after a restart.
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFile } from './stackFile.js';

export function persistedSecrets(stackDir: string): { CONSOLE_JWT_SECRET: string; SECRETS_KEY: string } {
  return {
    CONSOLE_JWT_SECRET: persistedSecret(join(stackDir, 'console-jwt-secret'), 'base64url'),
    SECRETS_KEY: persistedSecret(join(stackDir, 'secrets-key'), 'base64'),
  };
}

function persistedSecret(path: string, encoding: BufferEncoding): string {
  if (!existsSync(path)) replaceFile(path, randomBytes(32).toString(encoding));
  return readFileSync(path, 'utf8').trim();
}
