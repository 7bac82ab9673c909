// Finds a program that the user installed. It is preferred over all other sources if it runs and is new enough.
import { execFile } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

export function findOnPath(program: string, env: NodeJS.ProcessEnv): string | undefined {
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '');
  return folders.map((folder) => join(folder, program)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * Returns the first group of `pattern` in the output of `<program> --version`. Throws when the program does not run or
 * its output does not match.
 */
export async function versionOf(path: string, pattern: RegExp): Promise<string> {
  const { stdout } = await promisify(execFile)(path, ['--version'], { timeout: 30_000 });
  const version = pattern.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`${path} is another program of that name`);
  return version;
}

/** The program on the PATH, or undefined. Throws when it does not run, or is older than `least`. */
export async function installed(
  program: string,
  { env, version, least }: { env: NodeJS.ProcessEnv; version: RegExp; least: string },
): Promise<{ path: string; version: string } | undefined> {
  const path = findOnPath(program, env);
  if (path === undefined) return undefined;
  const found = await versionOf(path, version);
  if (!isAtLeast(found, least)) throw new Error(`version ${found} is older than ${least}`);
  return { path, version: found };
}

function isAtLeast(version: string, least: string): boolean {
  const [have, need] = [version, least].map((text) => text.split('.').map(Number));
  for (const [index, part] of (need ?? []).entries()) {
    const other = have?.[index] ?? 0;
    if (other !== part) return other > part;
  }
  return true;
}
