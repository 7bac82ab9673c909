// Setup of every test file: when a test fails, the service's log since the start of the test is printed. A fork that
// stands still is ended, and the test is named. The forks use different ports.
import { relative } from 'node:path';
import { beforeEach, expect } from 'vitest';
import { printLogSince } from '../checks/failureLog.js';
import { hungForkWatch } from '../checks/hungFork.js';

// Forks that run at the same time choose their ports from different ranges; so do clones that run tests at the same
// time, with a TEST_FIRST_PORT each.
const firstPort =
  Number(process.env.TEST_FIRST_PORT ?? 20_000) + 2_000 * ((Number(process.env.VITEST_POOL_ID) - 1) % 6);
process.env.STACK_PORTS = `${firstPort}-${firstPort + 2_000}`;

const file = relative(process.cwd(), expect.getState().testPath ?? '');
hungForkWatch().doing(file);

beforeEach(({ onTestFailed, task }) => {
  const since = Date.now();
  hungForkWatch().doing(`${file}: ${task.name}`);
  onTestFailed(() => printLogSince(since, task.name));
});
