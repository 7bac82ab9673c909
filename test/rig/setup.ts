// Setup of every test file: when a test fails, the service's log since the start of the test is printed.
import { beforeEach } from 'vitest';
import { printLogSince } from './failureLog.js';

beforeEach(({ onTestFailed, task }) => {
  const since = Date.now();
  onTestFailed(() => printLogSince(since, task.name));
});
