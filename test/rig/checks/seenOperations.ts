// Records which test file called which operation, in a folder that lives as long as the run. The last test of the whole
// run reads it.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, inject } from 'vitest';

declare module 'vitest' {
  export interface ProvidedContext {
    /** A folder of this run. */
    seenDir: string;
  }
}

const root = join(import.meta.dirname, '..', '..', '..');
const noted = new Set<string>();

const seenFile = (): string => join(inject('seenDir'), 'operations');

/** Records that the audit contains a change with this action. */
export const auditSeen = (action: string): string => `audit ${action}`;

export function noteSeen(operation: string): void {
  const testFile = relative(root, expect.getState().testPath ?? '');
  const line = `${operation}\t${testFile}\n`;
  if (noted.has(line)) return;
  noted.add(line);
  appendFileSync(seenFile(), line);
}

/** For each operation the files that called it. Undefined when the engines project does not run. */
export function seenOperations(): Map<string, Set<string>> | undefined {
  if (!inject('seenDir') || !existsSync(seenFile())) return undefined;
  const seen = new Map<string, Set<string>>();
  for (const line of readFileSync(seenFile(), 'utf8').split('\n').filter(Boolean)) {
    const [operation = '', testFile = ''] = line.split('\t');
    seen.set(operation, (seen.get(operation) ?? new Set()).add(testFile));
  }
  return seen;
}
