// `npm start`: runs the whole service and its engines with one command, for a first look, for development and for
// tests.
import pino from 'pino';
import { createDeps } from '../platform/createDeps.js';
import { readConfig } from '../schemas/shared/config.schema.js';
import { migrate } from '../worker/migrate.js';
import { workflowBundle } from '../worker/workflowBundle.js';
import type { Bundle } from './bringUp.js';
import { buildConsole } from './buildConsole.js';
import { buildDocs } from './buildDocs.js';
import { seedDemo } from './demo.js';
import { readOptions } from './readOptions.js';
import { runStack } from './runStack.js';
import { apiPlan, cafePlan, deskPlan, workerPlan } from './services.js';

const usage = `Usage: npm start [-- --empty]

Runs the service with its own MongoDB and Temporal until Ctrl-C. docs/settings.md lists the settings (environment
variables), such as STACK_DIR, the folder of its data (.stack), and PORT. The first start makes a café
with members and 60 days of history; with --empty it makes none.`;

const { values } = readOptions(usage, { options: { empty: { type: 'boolean', default: false } } });

async function migrateDatabase(env: NodeJS.ProcessEnv): Promise<string> {
  const deps = createDeps({ config: readConfig(env), log: pino({ level: 'silent' }), timeouts: 'tool' });
  try {
    const { indexes } = await migrate(deps);
    return `${indexes} indexes are there`;
  } finally {
    await deps.close();
  }
}

const bundles: Bundle[] = [
  { title: 'console', bundle: async () => ((await buildConsole()) ? 'bundled' : 'its bundle is there') },
  { title: 'documents', bundle: async () => ((await buildDocs()) ? 'built' : 'they are there') },
  {
    title: 'workflows',
    async bundle({ STACK_BUILT, TEMPORAL_CODEC_KEY }) {
      // The built worker has its own.
      if (STACK_BUILT !== 'true') await workflowBundle(TEMPORAL_CODEC_KEY ? 'encrypted' : 'plain');
      return 'their bundle is there';
    },
  },
];

process.exit(
  await runStack({
    env: process.env,
    out: process.stdout,
    isEmpty: values.empty,
    parts: { migrate: migrateDatabase, bundles, seedDemo, workerPlan, apiPlan, deskPlan, cafePlan },
  }),
);
