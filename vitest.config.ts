// What a change must not break: everything but the long suite (test/long). docs/testing.md says what belongs where.
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './test/rig/checks/longestFirst.js';

// Waits end when what they wait for is there. Their limits only end a run that hangs, so that a machine that is slow, or
// stalls for half a minute, as shared ones do, fails no test.
const limits = { testTimeout: 400_000, hookTimeout: 400_000, expect: { poll: { timeout: 120_000 } } } as const;
// Files of one fork share what they import: most of what a short file cost was to load the same modules again.
const shared = { ...limits, isolate: false };
const withEngines = { ...shared, globalSetup: ['test/rig/start/globalSetup.ts'] };

export default defineConfig({
  test: {
    reporters: ['default', './test/rig/checks/timesReporter.js', './test/rig/checks/closingLine.js'],
    pool: 'forks',
    setupFiles: ['test/rig/start/setup.ts'],
    // More than there are cores: most of what a test does is to wait for timers, receivers and processes.
    maxWorkers: Number(process.env.TEST_FORKS ?? 3),
    sequence: { sequencer: LongestFirst },
    projects: [
      { extends: true, test: { ...shared, name: 'unit', include: ['test/unit/**/*.test.ts'] } },
      { extends: true, test: { ...shared, name: 'wire', include: ['test/wire/**/*.test.ts'] } },
      {
        extends: true,
        test: {
          // A Temporal of their own: the workflows that whole services leave behind would come by their faked
          // activities.
          ...withEngines,
          name: 'workflow',
          include: ['test/{workflow,replay}/**/*.test.ts'],
        },
      },
      {
        extends: true,
        test: { ...withEngines, name: 'engines', include: ['test/engines/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          // These bring engines of their own, since they kill them, and run the built service.
          ...limits,
          name: 'crash',
          include: ['test/crash/**/*.test.ts'],
          globalSetup: ['test/rig/start/builtService.ts'],
        },
      },
      {
        extends: true,
        // What is proven of the whole run comes last.
        test: { ...limits, name: 'whole', include: ['test/whole/**/*.test.ts'], sequence: { groupOrder: 1 } },
      },
    ],
  },
});
