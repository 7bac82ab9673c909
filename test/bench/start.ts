// The time from the start of API and worker to their first answer while the engines run: a second pair with the same
// environment as the stack's own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { findPort } from '../../stack/ports.js';
import { apiPlan, workerPlan } from '../../stack/services.js';
import type { ProcessPlan } from '../../stack/supervisedProcess.js';
import { until } from '../../stack/until.js';
import type { Bench } from './bench.js';
import { type Row, round } from './row.js';

function environmentOf(pid: number): NodeJS.ProcessEnv {
  const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').filter(Boolean);
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]));
}

export interface StartSize {
  rounds: number;
}

async function startOne(
  { processes }: Bench,
  plan: ProcessPlan,
  isReady: (saidReady: Promise<unknown>) => Promise<unknown>,
) {
  const startedAt = performance.now();
  const running = processes.add(
    spawn(plan.command, plan.args, {
      cwd: plan.cwd,
      env: plan.env,
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      detached: true,
    }),
  );
  const ended = once(running, 'exit');
  const died = ended.then(([code]) => {
    throw new Error(`${plan.title} ended with ${code} before it was ready.`);
  });
  await Promise.race([isReady(once(running, 'message')), died]);
  const ms = performance.now() - startedAt;
  died.catch(() => {});
  return {
    ms,
    async stop() {
      running.kill('SIGTERM');
      await ended;
    },
  };
}

export async function benchStart(bench: Bench, { rounds }: StartSize): Promise<Row[]> {
  const times: { api: number; worker: number }[] = [];
  for (let index = 0; index < rounds; index += 1) {
    const [port, metricsPort, workerMetricsPort] = [await findPort('127.0.0.1'), await findPort('127.0.0.1'), 0];
    const env = {
      ...environmentOf(bench.pids.api ?? 0),
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      WORKER_METRICS_PORT: String(workerMetricsPort),
    };
    const url = `http://127.0.0.1:${port}`;
    const answers = async () => (await fetch(`${url}/readyz`)).ok;
    const [api, worker] = await Promise.all([
      startOne(bench, apiPlan(env, url), () => until(answers, 10, AbortSignal.timeout(60_000))),
      startOne(bench, workerPlan(env), (saidReady) => saidReady),
    ]);
    times.push({ api: api.ms, worker: worker.ms });
    await Promise.all([api.stop(), worker.stop()]);
  }
  const both = times.map(({ api, worker }) => Math.max(api, worker)).sort((a, b) => a - b);
  const [best = 0] = both;
  const shown = times.map(({ api, worker }) => `${round(api, 0)} / ${round(worker, 0)}`).join(', ');
  return [
    {
      scenario: 'start of API and worker together, engines running',
      ours: round(best, 0),
      yardstick: null,
      ratio: null,
      unit: 'ms',
      goal: '< 3,000',
      reached: best < 3_000,
      note: `API / worker of each round: ${shown} ms.`,
    },
  ];
}
