// `npm run migrate`, `backup` and `restore`: on MONGODB_URI, on the stack that runs on STACK_DIR, or on a stopped one,
// whose engine is started for this alone. A stack that runs is not restored, because its API and worker write.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { backup } from './commands/backup.js';
import { runCommand } from './commands/command.js';
import { migrate } from './commands/migrate.js';
import { restore } from './commands/restore.js';
import { runningStack } from './connect.js';
import { startMongodb } from './engines/startEngines.js';
import { ExpectedFailure } from './expectedFailure.js';
import { lockStackDir } from './folderLock.js';
import { findPort } from './ports.js';
import { readSettings } from './settings.js';
import { createSupervisor } from './supervisor.js';
import { createTerminal } from './terminal.js';

const commands = { migrate, backup, restore };

function isRunning(env: NodeJS.ProcessEnv): boolean {
  try {
    runningStack(env, '');
    return true;
  } catch (error) {
    if (error instanceof ExpectedFailure) return false;
    throw error;
  }
}

/** Runs with the engine of the stopped stack; throws ExpectedFailure when another process has its folder. */
async function withStoppedStack(
  env: NodeJS.ProcessEnv,
  run: (env: NodeJS.ProcessEnv) => Promise<number>,
): Promise<number> {
  const settings = readSettings(env);
  const terminal = createTerminal(process.stderr);
  const lock = await lockStackDir(settings.stackDir, terminal);
  const logDir = join(settings.stackDir, 'logs');
  const supervisor = createSupervisor({ logDir, terminal, onChange: (living) => lock.record(living) });
  try {
    const { signal } = new AbortController();
    const port = await findPort('127.0.0.1', settings.ports.mongodb);
    const { mongodbUri, mongodbEmbedded } = await startMongodb({ settings, supervisor, terminal, signal }, port);
    return await run({ ...env, MONGODB_URI: mongodbUri, MONGODB_EMBEDDED: String(mongodbEmbedded) });
  } finally {
    await supervisor.stopAll(['mongodb']);
    lock.release();
  }
}

async function main([name = '', ...argv]: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const command = Object.entries(commands).find(([each]) => each === name)?.[1];
  if (!command) throw new ExpectedFailure(`say one of: ${Object.keys(commands).join(', ')}`);
  const run = (given: NodeJS.ProcessEnv) =>
    runCommand(command, {
      argv,
      env: given,
      out: (text) => process.stdout.write(text),
      err: (text) => process.stderr.write(text),
    });
  const isHelp = argv.some((word) => word === '--help' || word === '-h');
  if (isHelp || env.MONGODB_URI) return await run(env);
  if (isRunning(env)) {
    if (name !== 'restore') return await run(env);
    throw new ExpectedFailure('The stack runs. Stop npm start first, or give MONGODB_URI.');
  }
  const hasData = existsSync(join(readSettings(env).stackDir, 'mongodb'));
  if (hasData || name === 'restore') return await withStoppedStack(env, run);
  return await run(env);
}

main(process.argv.slice(2), process.env).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof ExpectedFailure ? error.message : error);
    process.exit(error instanceof ExpectedFailure ? error.exitCode : 1);
  },
);
