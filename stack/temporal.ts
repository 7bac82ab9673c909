// `npm run -s temporal -- ...`: Temporal's command line on the server of the stack that runs on STACK_DIR, or on
// TEMPORAL_ADDRESS.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { runningStack } from './connect.js';
import { cacheDirOf } from './engines/cache.js';
import { obtainTemporal } from './engines/temporalSources.js';
import { ExpectedFailure } from './expectedFailure.js';

const usage = `Usage: npm run -s temporal -- COMMAND...

Runs Temporal's command line, with the address and the namespace of the stack that runs on STACK_DIR (.stack), or of
TEMPORAL_ADDRESS. Its own help: npm run -s temporal -- help

Example: npm run -s temporal -- workflow list`;

/** The server that is meant, by the environment variables that Temporal's tools read. Throws ExpectedFailure. */
function serverOf(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  if (env.TEMPORAL_ADDRESS) return {};
  const { temporalAddress, temporalNamespace } = runningStack(env, 'TEMPORAL_ADDRESS');
  return { TEMPORAL_ADDRESS: temporalAddress, TEMPORAL_NAMESPACE: env.TEMPORAL_NAMESPACE || temporalNamespace };
}

async function run(args: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const server = serverOf(env);
  const search = { cacheDir: cacheDirOf(env), env };
  const task = { say: () => undefined };
  const { path } = await obtainTemporal(search, { task, signal: new AbortController().signal });
  const child = spawn(path, args, { env: { ...env, ...server }, stdio: 'inherit' });
  // Ctrl-C reaches the child by itself, and its answer counts.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

const args = process.argv.slice(2);
if (args.length === 0 || (args.length === 1 && /^(--help|-h)$/.test(args[0] ?? ''))) {
  console.log(usage);
  process.exit(args.length === 0 ? 1 : 0);
}
run(args, process.env).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error instanceof ExpectedFailure ? error.message : error);
    process.exit(1);
  },
);
