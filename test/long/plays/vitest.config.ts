// The plays of the long suite: the opening of the first suite (vitest.config.ts), and the time that a play takes.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: ['default', './test/rig/checks/closingLine.js'],
    pool: 'forks',
    setupFiles: ['test/rig/start/setup.ts'],
    globalSetup: ['test/rig/start/builtService.ts', 'test/rig/start/globalSetup.ts'],
    maxWorkers: 1,
    name: 'plays',
    include: ['test/long/plays/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 180_000,
  },
});
