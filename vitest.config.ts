// Unit tests run side by side; whatever shares an engine runs file by file, since two cores carry one worker well and
// skipped or shared queues would mix what tests see. What is proven of the whole run comes last.
import { defineConfig } from 'vitest/config';

// Waits end when what they wait for is there. Their limits only end a run that hangs, so that a machine that stalls for
// half a minute, as shared ones do, fails no test.
const forks = {
  pool: 'forks',
  testTimeout: 120_000,
  hookTimeout: 180_000,
  expect: { poll: { timeout: 60_000 } },
} as const;
const engines = { ...forks, fileParallelism: false, globalSetup: ['test/rig/globalSetup.ts'] };

export default defineConfig({
  test: {
    reporters: ['default', './test/rig/closingLine.ts'],
    projects: [
      { test: { ...forks, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      {
        test: {
          // An engine of their own: the workflows that whole services leave behind would come by their faked activities.
          ...engines,
          name: 'workflow',
          include: ['test/{workflow,replay}/**/*.test.ts'],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: { ...engines, name: 'engines', include: ['test/engines/**/*.test.ts'], sequence: { groupOrder: 2 } },
      },
      {
        test: {
          // These bring engines of their own, since they kill them.
          ...forks,
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          fileParallelism: false,
          testTimeout: 240_000,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...forks,
          name: 'whole',
          include: ['test/whole/**/*.test.ts'],
          fileParallelism: false,
          sequence: { groupOrder: 4 },
        },
      },
    ],
  },
});
