// The checkers check: with each guarantee switched off in turn, the same run that finds nothing otherwise must find what was
// broken. The switches are modules loaded into the services before their own code, so that the product has none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../activities/deps.js';
import { until } from '../../stack/until.js';
import { ok } from '../rig/tempers.js';
import { check, type Finding } from './checkers.js';
import { aListener } from './rig/audience.js';
import { createCaller } from './rig/caller.js';
import { type ClusterOptions, type Role, startCluster } from './rig/cluster.js';
import { drain } from './rig/drain.js';
import { gather } from './rig/gather.js';
import { createLoad } from './rig/load.js';
import { createRandom } from './rig/random.js';
import { type Apple, populate, startApple } from './rig/world.js';

const breaking = (name: string): string => new URL(`rig/breaks/${name}.ts`, import.meta.url).href;

interface Run {
  preload: NonNullable<ClusterOptions['preload']>;
  /** Where somebody dies, if anybody does. */
  at?: { role: Role; point: CrashPoint };
  /** The API dies as soon as it has answered. */
  afterAnswer?: true;
  env?: Record<string, string>;
  /** Enough for what is whole; what is broken does not come to rest. */
  restMs: number;
}

let apple: Apple;
beforeAll(async () => {
  apple = await startApple();
});
afterAll(() => apple.apns.close());

/** One API, one worker, some gestures and one death: what the checkers find afterwards. */
async function run({ preload, at, afterAnswer, env, restMs }: Run): Promise<Finding[]> {
  const listener = await aListener({ name: 'good', temper: ok(), steady: true });
  const cluster = await startCluster({
    preload,
    env: { ...apple.env, ...env },
    processes: ['mongodb', 'temporal', 'api-1', 'worker-1'],
    crashPoints: { api: [], worker: [], ...(at && { [at.role]: [at.point] }) },
  });
  try {
    const world = await populate(cluster, { listeners: [listener], apple });
    const caller = createCaller(world);
    const load = createLoad({ world, caller, random: createRandom(4), tricks: false });
    await load.enroll('crash-points');
    // A broken service answers before the member is there.
    await until(async () => (await cluster.store.rows.members.findOne()) !== null, 50, AbortSignal.timeout(60_000));
    const [member] = load.known;
    if (!member) throw new Error('Nobody was enrolled.');
    await load.gesture('delta', member);
    const died = at ? cluster.arm(at.role, at.point) : () => true;
    await load.gesture('delta', member);
    if (afterAnswer) cluster.signal('api-1', 'SIGKILL');
    await until(async () => died(), 50, AbortSignal.timeout(60_000));
    await cluster.allUp();
    await drain(world, { withinMs: restMs });
    await caller.close();
    return check(await gather(world, load.operations));
  } finally {
    await cluster.stop();
    await listener.stop();
  }
}

const kindsAndRules = (findings: Finding[]): string[] => findings.map(({ kind, rule }) => `${kind}: ${rule}`);

describe('with a guarantee switched off', () => {
  it('an answer before its commit is found lost', async () => {
    const findings = await run({
      preload: { api: breaking('answerBeforeCommit') },
      afterAnswer: true,
      restMs: 15_000,
    });
    expect(kindsAndRules(findings)).toContain('lost: an acknowledged gesture is in the ledger exactly once');
  });

  it('events that no relay takes are found in the outbox', async () => {
    const findings = await run({
      preload: { worker: breaking('noRelay') },
      env: { GESTURE_WORKFLOWS_PER_SECOND: '0' },
      restMs: 15_000,
    });
    expect(kindsAndRules(findings)).toContain('lost: each event reaches each receiver at least once');
  });

  it('a key that is not claimed is found applied twice', async () => {
    const findings = await run({
      preload: { api: breaking('noClaim') },
      at: { role: 'api', point: 'after-commit' },
      restMs: 15_000,
    });
    expect(kindsAndRules(findings)).toContain('doubled: an acknowledged gesture is in the ledger exactly once');
  });

  it('an effect without an operation id is found twice', async () => {
    const findings = await run({
      preload: { worker: breaking('noOperationId') },
      at: { role: 'worker', point: 'after-log-before-mark' },
      restMs: 25_000,
    });
    expect(kindsAndRules(findings)).toContain('doubled: each event reaches each receiver at least once');
  });
});

it('finds nothing in the same run with every guarantee in place', async () => {
  const findings = await run({ preload: {}, at: { role: 'api', point: 'after-commit' }, restMs: 60_000 });
  expect(findings).toEqual([]);
});
