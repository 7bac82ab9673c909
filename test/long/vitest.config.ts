// The parts of the long suite that are vitest files; test/long/main.ts runs them one by one.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    reporters: ['default', './test/rig/checks/closingLine.js'],
    pool: 'forks',
    setupFiles: ['test/rig/start/setup.ts'],
    fileParallelism: false,
    name: 'long',
    include: ['test/long/*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 180_000,
  },
});
