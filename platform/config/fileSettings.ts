// Reads settings from files: the variable `NAME_FILE` names a file whose content becomes the value of NAME. Use it for
// secrets that must not be in an environment that other users can list. It works only for the names of settings.
import { isUtf8 } from 'node:buffer';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { configNames } from '../../schemas/shared/config.schema.js';
import { toError } from '../toError.js';

export type Environment = Record<string, string | undefined>;

/** Returns the environment with the contents of the files. Each file that cannot be read adds a line to `mistakes`. */
export function readFileSettings(env: Environment): { env: Environment; mistakes: string[] } {
  const read: Environment = { ...env };
  const mistakes: string[] = [];
  for (const name of configNames) {
    const variable = `${name}_FILE`;
    const path = env[variable];
    // A setting may itself end in _FILE: TEMPORAL_CONFIG_FILE is a setting and does not name a file for
    // TEMPORAL_CONFIG.
    if (path === undefined || configNames.includes(variable)) continue;
    delete read[variable];
    if (path === '') continue;
    if (env[name]) mistakes.push(`${variable}: is set together with ${name}; set one of them`);
    else {
      try {
        read[name] = textOf(readFileSync(path)).replace(/\r?\n$/, '');
      } catch (error) {
        mistakes.push(`${variable}: ${toError(error).message}`);
      }
    }
  }
  return { env: read, mistakes };
}

/** Without the mark of an editor. Apple provides certificates in DER: they become PEM. */
function textOf(content: Buffer): string {
  if (isUtf8(content)) return new TextDecoder().decode(content);
  try {
    return new X509Certificate(content).toString();
  } catch {
    throw new Error('is neither UTF-8 text nor a certificate');
  }
}
