// How a bench run ends: each scenario is reported, and no process outlives the run, also when it is stopped or killed.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import pino from 'pino';
import { afterEach, expect, test } from 'vitest';
import { createDeps } from '../../../platform/createDeps.js';
import { readConfig } from '../../../schemas/shared/config.schema.js';
import { startMarkOf } from '../../../stack/processIdentity.js';
import type { BenchStack } from '../../bench/bench.js';
import { createProcessList, succeeded } from '../../bench/processList.js';
import { type Mode, runScenarios, type ScenarioResult } from '../../bench/run.js';
import type { Scenario } from '../../bench/scenario.js';

const started: ChildProcess[] = [];
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

function aProcess(script = 'setInterval(() => {}, 1000)'): ChildProcess {
  const child = spawn(process.execPath, ['-e', `${script}; console.log('up')`], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  started.push(child);
  return child;
}

const isUp = (child: ChildProcess) => (child.stdout ? once(child.stdout, 'data') : undefined);
const hasEnded = ({ exitCode, signalCode }: ChildProcess) => exitCode !== null || signalCode !== null;

/** A stack whose only process stands in for the supervisor; no server listens at its database address. */
async function aStack(env: NodeJS.ProcessEnv = {}): Promise<BenchStack & { supervisor: ChildProcess }> {
  const processes = createProcessList();
  const supervisor = processes.add(aProcess());
  const config = readConfig({
    MONGODB_URI: 'mongodb://127.0.0.1:1/',
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
    CONSOLE_JWT_SECRET: 'x'.repeat(32),
  });
  const deps = createDeps({ config, log: pino({ level: 'silent' }), timeouts: 'tool' });
  return {
    supervisor,
    deps,
    origin: '',
    temporalAddress: '',
    pids: {},
    env,
    async stop() {
      await deps.close();
      await processes.end();
    },
  };
}

type OnStack = Extract<Scenario, { needs: 'shared stack' | 'own stack' }>;

const aScenario = (name: string, over: Partial<OnStack> = {}): OnStack => ({
  name,
  needs: 'shared stack',
  yardstick: null,
  async full({ processes }) {
    await isUp(processes.add(aProcess()));
    return [{ scenario: name, ours: 1, yardstick: null, ratio: null, unit: '', goal: 'none' }];
  },
  ...over,
});

async function run(chosen: Scenario[], mode: Mode = 'full', stop = new AbortController()) {
  const stacks: Awaited<ReturnType<typeof aStack>>[] = [];
  const results: ({ name: string; running: number } & ScenarioResult)[] = [];
  const reported: unknown[] = [];
  const running = () => started.filter((child) => !hasEnded(child)).length;
  const done = runScenarios(
    {
      async openStack({ env }) {
        const stack = await aStack(env);
        stacks.push(stack);
        return stack;
      },
      signal: stop.signal,
      begun: () => {},
      soFar: ({ name }, rows) => reported.push([name, rows]),
      ended: ({ name }, result) => results.push({ name, running: running(), ...result }),
    },
    chosen,
    mode,
  );
  return {
    stacks,
    results,
    reported,
    running,
    error: await done.then(
      () => undefined,
      (error: unknown) => error,
    ),
  };
}

test('each scenario is reported when it ends, without its processes, and a run leaves no process', async () => {
  const { results, stacks, running, error } = await run([aScenario('one'), aScenario('two')]);
  expect(error).toBeUndefined();
  // Processes of the shared stack.
  expect(results.map(({ name, running: still }) => [name, still])).toEqual([
    ['one', 1],
    ['two', 1],
  ]);
  expect(started).toHaveLength(3);
  expect(stacks).toHaveLength(1);
  expect(running()).toBe(0);
});

test('a scenario that fails is one line of the report, and the next one gets another stack', async () => {
  const failing = aScenario('one', {
    async full({ processes }) {
      await isUp(processes.add(aProcess()));
      throw new Error('of 5 webhooks 4 came');
    },
  });
  const { results, stacks, running, error } = await run([failing, aScenario('two')]);
  expect(error).toBeUndefined();
  expect(results.map(({ name, running: still, rows: [row] }) => [name, still, row?.note])).toEqual([
    ['one', 0, 'It failed: of 5 webhooks 4 came'],
    ['two', 1, undefined],
  ]);
  expect(stacks).toHaveLength(2);
  expect(running()).toBe(0);
});

test('a run that is stopped ends the processes of its scenario, and starts nothing more', async () => {
  const stop = new AbortController();
  const late: unknown[] = [];
  const endless = aScenario('one', {
    async full({ processes }) {
      const child = processes.add(aProcess());
      await isUp(child);
      stop.abort(new Error('stopped'));
      await once(child, 'exit');
      try {
        processes.add(aProcess());
      } catch (error) {
        late.push(error);
      }
      return [];
    },
  });
  const { results, running, error } = await run([endless, aScenario('two')], 'full', stop);
  expect(error).toEqual(new Error('stopped'));
  expect(results).toEqual([]);
  expect(late).toEqual([new Error('The bench is ending, so nothing more is started.')]);
  await expect.poll(running).toBe(0);
});

test('with --quick a scenario gets its own stack only when it needs other settings', async () => {
  const quick = async () => [];
  const own = { needs: 'own stack', quick } as const;
  const chosen = [
    aScenario('one', own),
    aScenario('two', own),
    aScenario('three', { ...own, env: async () => ({ APNS_ORIGIN: 'https://127.0.0.1' }) }),
  ];
  expect((await run(chosen, 'quick')).stacks.map(({ env }) => env)).toEqual([{}, { APNS_ORIGIN: 'https://127.0.0.1' }]);
  expect((await run(chosen, 'full')).stacks).toHaveLength(3);
});

test('what a long scenario has measured is reported as it goes, and kept when it fails', async () => {
  const row = { scenario: 'first size', ours: 1, yardstick: null, ratio: null, unit: '', goal: 'none' };
  const failing = aScenario('one', {
    async full({ soFar }) {
      soFar([row]);
      throw new Error('cut off');
    },
  });
  const { results, reported } = await run([failing, aScenario('two')]);
  expect(reported).toEqual([['one', [row]]]);
  expect(results.map(({ rows }) => rows.map(({ scenario }) => scenario))).toEqual([['first size', 'one'], ['two']]);
});

test('a process that ignores SIGTERM is killed, with the processes that it started', async () => {
  const list = createProcessList();
  const stubborn = list.add(
    aProcess(`process.on('SIGTERM', () => {});
      setInterval(() => {}, 1000);
      const below = require('child_process').spawn('sh', ['-c', "trap '' TERM; while :; do sleep 1; done"]);
      console.log(below.pid)`),
  );
  const [said] = await once(stubborn.stdout ?? stubborn, 'data');
  const below = Number.parseInt(String(said), 10);
  expect(startMarkOf(below)).toBeDefined();
  await list.end(200);
  expect(stubborn.signalCode).toBe('SIGKILL');
  await expect.poll(() => startMarkOf(below)).toBeUndefined();
});

test('a list that has ended takes nothing more to clean up', async () => {
  const list = createProcessList();
  const cleaned: string[] = [];
  list.onEnded(() => cleaned.push('early'));
  await list.end();
  expect(() => list.onEnded(() => cleaned.push('late'))).toThrow('is ending');
  expect(cleaned).toEqual(['early']);
});

test('a command of a bench has to succeed, and in time', async () => {
  const list = createProcessList();
  await succeeded(list, aProcess('setTimeout(() => process.exit(0), 10)'), 'one', 30_000);
  await expect(succeeded(list, aProcess('setTimeout(() => process.exit(3), 10)'), 'two', 30_000)).rejects.toThrow(
    'two ended with 3.',
  );
  await expect(succeeded(list, aProcess(), 'three', 50)).rejects.toThrow('aborted');
  await list.end();
});

test('a bench that is killed leaves no process', async () => {
  const script = `
    import { spawn } from 'node:child_process';
    import { createProcessList, succeeded } from './test/bench/processList.js';
    const list = createProcessList();
    const pids = [1, 2].map(() => list.add(spawn('sleep', ['300'], { detached: true })).pid);
    console.log(JSON.stringify(pids));
    setInterval(() => {}, 1000);`;
  const bench = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(bench);
  const [said] = await once(bench.stdout, 'data');
  const pids: number[] = JSON.parse(String(said));
  const running = () => pids.filter((pid) => startMarkOf(pid) !== undefined);
  expect(running()).toHaveLength(2);
  bench.kill('SIGKILL');
  await expect.poll(running).toEqual([]);
});
