// Kills, stops or wedges an engine under `npm start`. The supervisor kills the stuck engine and starts it again within
// 15 s, the service recovers without help, and no acknowledged change is missing.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { watchLimits } from '../../stack/watch.js';
import { slownessMs, watchStalls } from '../rig/checks/stalls.js';
import { until } from '../rig/checks/until.js';
import { wedge } from '../rig/standins/wedge.js';
import { newStackDir, type RunningStack, startStack } from '../rig/start/runningStack.js';

const folder = newStackDir();
let stack: RunningStack;
let keys = 0;

beforeAll(async () => {
  stack = await startStack(folder.stackDir, { STACK_BUILT: 'true' });
});
afterAll(async () => {
  await stack?.stop();
  folder.remove();
});

/** Only the embedded engine can be wedged. */
const isEmbedded = () => existsSync(join(folder.stackDir, 'mongodb', 'secantusd'));

interface Answer {
  status: number;
  tookMs: number;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is whatever came, and the test says what it must be
  body: any;
}

async function ask(path: string, body?: unknown, key?: string): Promise<Answer> {
  const { baseUrl, demo } = stack.file();
  const startedAt = performance.now();
  const response = await fetch(`${baseUrl}/merchants/me${path}`, {
    method: key === undefined ? (body === undefined && 'GET') || 'POST' : 'PATCH',
    headers: {
      'X-API-Key': demo.apiKey,
      'Content-Type': 'application/json',
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: await response.json(), tookMs: performance.now() - startedAt };
}

async function enroll(): Promise<string> {
  const { body } = await ask('/members', { programId: stack.file().demo.programs.points });
  return body.data.id;
}

async function readyz(): Promise<{ status: number; body: { unwritable: string[] } }> {
  const response = await fetch(`${stack.file().publicUrl}/readyz`);
  return { status: response.status, body: (await response.json()) as { unwritable: string[] } };
}

const newKey = (): string => {
  keys += 1;
  return `stuck-engine-${keys}`;
};

/** The slowest change before the engine was broken: more on a machine where the processes wait for the processor. */
let slowestMs = 0;

/**
 * Breaks the engine while a client adds single points. Returns the time until a change was acknowledged again. Each
 * acknowledged change must exist once.
 */
async function comesBack(breakIt: () => Promise<unknown> | unknown): Promise<number> {
  const stalls = watchStalls();
  const memberId = await enroll();
  let acknowledged = 0;
  const add = async (key: string): Promise<boolean> => {
    const answer = await ask(`/members/${memberId}/points`, { delta: 1 }, key).catch(() => undefined);
    if (answer?.status !== 200) return false;
    acknowledged += 1;
    return true;
  };
  slowestMs = 0;
  for (let count = 0; count < 5; count += 1) {
    const addedAt = performance.now();
    await add(newKey());
    slowestMs = Math.max(slowestMs, performance.now() - addedAt);
  }
  const pid = stack.file().pids.mongodb;
  const brokenAt = performance.now();
  await breakIt();
  const key = newKey();
  await until(async () => stack.file().pids.mongodb !== pid && (await add(key)), {
    everyMs: 200,
    seen: () => stack.printed(),
  });
  const tookMs = performance.now() - brokenAt - stalls.stalledMs();
  stalls.stop();
  const { body } = await ask(`/members/${memberId}`);
  const { body: ledger } = await ask(`/members/${memberId}/transactions?pageSize=100`);
  expect([body.data.fieldValues.points, ledger.data.total]).toEqual([acknowledged, acknowledged]);
  await until(async () => (await readyz()).status === 200, {
    everyMs: 100,
    throwingIsNo: true,
    seen: () => stack.printed(),
  });
  return tookMs;
}

const withinMs = () => 15_000 + slownessMs(slowestMs);
/** How long this machine needs from a kill of the engine to the next change; on a slow one more than this. */
let killedMs = 2_000;
/** What is stuck is killed after a fixed time, and comes back as what was killed does: in 15 s on a quick machine. */
const stuckWithinMs = () => watchLimits.stuckMs + watchLimits.everyMs + killedMs + 4_000 + slownessMs(slowestMs);

describe('MongoDB', () => {
  it('that was killed is started again', async () => {
    const tookMs = await comesBack(() => process.kill(stack.file().pids.mongodb ?? 0, 'SIGKILL'));
    expect(tookMs).toBeLessThan(withinMs());
    killedMs = Math.max(killedMs, tookMs);
  });

  it('that hangs is killed and started again', async () => {
    const tookMs = await comesBack(() => process.kill(stack.file().pids.mongodb ?? 0, 'SIGSTOP'));
    console.log(
      `  came back ${Math.round(tookMs)} ms after it hung; one that was killed needs ${Math.round(killedMs)} ms`,
    );
    expect(tookMs).toBeLessThan(stuckWithinMs());
    expect(stack.printed()).toContain('MongoDB lives and does not work');
  });

  it('that accepts no writes to one collection causes a 503 within 3 s, is killed and started again', async ({
    skip,
  }) => {
    skip(!isEmbedded(), 'a real MongoDB cannot be wedged');
    const memberId = await enroll();
    const asked = () =>
      Promise.all([
        ...[1, 2, 3].map(() => ask(`/members/${memberId}/points`, { delta: 1 }, newKey())),
        ask('/members', { programId: stack.file().demo.programs.points }),
      ]);
    const quietMs = Math.max(...(await asked()).map(({ tookMs }) => tookMs));
    const refusals: Answer[] = [];
    const tookMs = await comesBack(async () => {
      await wedge(stack.file().mongodbUri, { database: 'loyalty', collection: 'events' });
      const stalls = watchStalls();
      const [ready, answers] = await Promise.all([readyz(), asked()]);
      for (const answer of answers) refusals.push({ ...answer, tookMs: answer.tookMs - stalls.stalledMs() });
      stalls.stop();
      expect([ready.status, ready.body.unwritable]).toEqual([503, ['events']]);
    });
    expect(refusals.map(({ status, body }) => [status, body.error?.code])).toEqual(
      refusals.map(() => [503, 'UNAVAILABLE']),
    );
    for (const refusal of refusals) expect(refusal.tookMs).toBeLessThan(3_000 + slownessMs(quietMs));
    expect(tookMs).toBeLessThan(stuckWithinMs());
  });
});

it('Temporal that hangs is killed and started again', async () => {
  const pid = stack.file().pids.temporal ?? 0;
  const stalls = watchStalls();
  const hungAt = performance.now();
  process.kill(pid, 'SIGSTOP');
  await until(async () => stack.file().pids.temporal !== pid, {
    everyMs: 100,
    throwingIsNo: true,
    seen: () => stack.printed(),
  });
  await until(
    async () =>
      ((await (await fetch(`${stack.file().publicUrl}/readyz`)).json()) as { status: string }).status === 'ok',
    { everyMs: 100, throwingIsNo: true, seen: () => stack.printed() },
  );
  expect(performance.now() - hungAt - stalls.stalledMs()).toBeLessThan(stuckWithinMs());
  stalls.stop();
});

it('a stack with a wedged engine and a hanging API ends every process that it started', async () => {
  const { pids, mongodbUri } = stack.file();
  process.kill(pids.api ?? 0, 'SIGSTOP');
  await wedge(mongodbUri, { database: 'loyalty', collection: 'members' });
  const code = await stack.stop();
  expect(code).toBe(0);
  await sleep(100);
  const alive = Object.entries(pids).filter(([, pid]) => {
    try {
      return process.kill(Number(pid), 0);
    } catch {
      return false;
    }
  });
  expect(alive).toEqual([]);
});
