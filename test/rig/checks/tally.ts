// Counts passed and failed tests over several commands of a run, in the file that TEST_TALLY names.
import { appendFileSync, existsSync, readFileSync } from 'node:fs';

export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

export const inWords = ({ passed, failed, skipped }: Tally): string =>
  `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;

export function noteTally(tally: Tally, file = process.env.TEST_TALLY): void {
  if (file) appendFileSync(file, `${JSON.stringify(tally)}\n`);
}

/** The sum of all counts in the file. */
export function sumOf(file: string): Tally {
  const sum: Tally = { passed: 0, failed: 0, skipped: 0 };
  if (!existsSync(file)) return sum;
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const tally: Tally = JSON.parse(line);
    sum.passed += tally.passed;
    sum.failed += tally.failed;
    sum.skipped += tally.skipped;
  }
  return sum;
}
