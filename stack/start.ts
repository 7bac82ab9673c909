// `npm start`: the whole service with its engines in one command, for a first look, for development and for tests.

import pino from 'pino';
import { openStore } from '../activities/store.js';
import { readConfig } from '../schemas/config.js';
import { migrate } from '../worker/migrate.js';
import { seedDemo } from './demo.js';
import { runStack } from './runStack.js';
import { apiPlan, workerPlan } from './services.js';

async function migrateDatabase(env: NodeJS.ProcessEnv): Promise<string> {
  const store = openStore({ config: readConfig(env), log: pino({ level: 'silent' }), patience: 'tool' });
  try {
    const { indexes } = await migrate(store);
    return `${indexes} indexes are there`;
  } finally {
    await store.close();
  }
}

process.exit(
  await runStack({
    env: process.env,
    out: process.stdout,
    parts: { migrate: migrateDatabase, seedDemo, workerPlan, apiPlan },
  }),
);
