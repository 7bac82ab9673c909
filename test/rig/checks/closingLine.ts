// Prints the counts of passed and failed tests as the last line of a run.
import type { Reporter, SerializedError, TestModule } from 'vitest/node';
import { inWords, noteTally, type Tally } from './tally.js';

export default class ClosingLine implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly SerializedError[]): void {
    // An error outside of any test fails the run, so it counts as one failure.
    const tally: Tally = { passed: 0, failed: errors.length, skipped: 0 };
    for (const module of modules) {
      // A file that could not be loaded contains no tests, but counts as one failure.
      if (module.state() === 'failed' && module.errors().length > 0) tally.failed += 1;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state !== 'pending') tally[state] += 1;
      }
    }
    noteTally(tally);
    process.once('exit', () => process.stdout.write(`\n${inWords(tally)}\n`));
  }
}
