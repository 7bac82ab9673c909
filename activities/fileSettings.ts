// A secret comes by file where it must not stand in an environment that others can list: `NAME_FILE` names a file whose
// content is NAME. It holds for every name that the configuration knows, and for no other.
import { readFileSync } from 'node:fs';
import { configNames } from '../schemas/config.js';

export type Environment = Record<string, string | undefined>;

/** The environment with the files' contents in it; a file that cannot be read is a line in `mistakes`. */
export function readFileSettings(env: Environment): { env: Environment; mistakes: string[] } {
  const read: Environment = { ...env };
  const mistakes: string[] = [];
  for (const name of configNames) {
    const variable = `${name}_FILE`;
    const path = env[variable];
    // Some files are settings themselves: TEMPORAL_CONFIG_FILE is one, and not the file of a TEMPORAL_CONFIG.
    if (path === undefined || configNames.includes(variable)) continue;
    delete read[variable];
    if (path === '') continue;
    if (env[name]) mistakes.push(`${variable}: is given beside ${name}; give one of them`);
    else {
      try {
        read[name] = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
      } catch (error) {
        mistakes.push(`${variable}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }
  return { env: read, mistakes };
}
