// Proves that the checkers detect errors: one mechanism at a time is switched off, and the checkers must report the
// failure in a run that otherwise has no findings. The switches are modules that are loaded before the services' code
// (crash/rig/breaks), so the product contains none.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CrashPoint } from '../../platform/crashPoint.js';
import { check, type Finding } from '../crash/checkers.js';
import type { BalanceKind } from '../crash/evidence.js';
import { createCaller } from '../crash/rig/caller.js';
import { type ClusterOptions, type Role, startCluster } from '../crash/rig/cluster.js';
import { collectEvidence } from '../crash/rig/collectEvidence.js';
import { drain } from '../crash/rig/drain.js';
import { enrollSomebody, eraseAsOwner, tracesOfErased } from '../crash/rig/erasures.js';
import { createLoad } from '../crash/rig/load.js';
import { createRandom } from '../crash/rig/random.js';
import { aSubscribedReceiver } from '../crash/rig/receivers.js';
import { type Apple, populate, startApple } from '../crash/rig/world.js';
import { until } from '../rig/checks/until.js';
import { ok } from '../rig/standins/responders.js';

const breaking = (name: string): string => new URL(`../crash/rig/breaks/${name}.ts`, import.meta.url).href;

interface Run {
  preload: NonNullable<ClusterOptions['preload']>;
  /** The process that dies and its crash point, if any. */
  at?: { role: Role; point: CrashPoint };
  /** The API process dies right after it has answered. */
  afterAnswer?: true;
  env?: Record<string, string>;
  /** Further changes, after the death. */
  afterwards?: readonly BalanceKind[];
  /** A member has points that are due to expire. */
  oldSale?: true;
  /** Long enough for an intact service to finish its work; a broken one never does. */
  restMs: number;
}

let apple: Apple;
beforeAll(async () => {
  apple = await startApple();
});
afterAll(() => apple.apns.close());

/** Runs one API, one worker, some changes and one death. Returns the findings of the checkers. */
async function run({ preload, at, afterAnswer, env, afterwards = [], oldSale, restMs }: Run): Promise<Finding[]> {
  const receiver = await aSubscribedReceiver({ name: 'good', responder: ok(), steady: true });
  const cluster = await startCluster({
    preload,
    env: { ...apple.env, ...env },
    processes: ['mongodb', 'temporal', 'api-1', 'worker-1'],
    crashPoints: { api: [], worker: [], ...(at && { [at.role]: [at.point] }) },
  });
  try {
    const world = await populate(cluster, { receivers: [receiver], apple });
    const caller = createCaller(world);
    const load = createLoad({ world, caller, random: createRandom(4), tricks: false });
    await load.enroll('crash-points');
    // A broken service answers before the member exists.
    await until(async () => (await cluster.deps.collections.members.findOne()) !== null, {
      everyMs: 50,
      throwingIsNo: true,
    });
    const [member] = load.known;
    if (!member) throw new Error('Nobody was enrolled.');
    await load.keyedChange('delta', member);
    const died = at ? cluster.arm(at.role, at.point) : () => true;
    await load.keyedChange('delta', member);
    if (afterAnswer) cluster.signal('api-1', 'SIGKILL');
    await until(async () => died(), { everyMs: 50, throwingIsNo: true });
    await cluster.allUp();
    for (const kind of afterwards) await load.keyedChange(kind, member);
    if (oldSale) {
      await load.enroll('crash-tiers');
      const last = load.known.at(-1);
      if (last) await load.oldSale(last);
    }
    await drain(world, { withinMs: restMs });
    await caller.close();
    return check(await collectEvidence(world, load.operations));
  } finally {
    await cluster.stop();
    await receiver.stop();
  }
}

const kindsAndRules = (findings: Finding[]): string[] => findings.map(({ kind, rule }) => `${kind}: ${rule}`);

describe('with a guarantee switched off', () => {
  it('a change that was answered before its commit is reported as lost', async () => {
    const findings = await run({
      preload: { api: breaking('answerBeforeCommit') },
      afterAnswer: true,
      restMs: 15_000,
    });
    expect(kindsAndRules(findings)).toContain('lost: an acknowledged change is in the ledger exactly once');
  });

  it('events without a relay are reported in the outbox', async () => {
    const findings = await run({
      preload: { worker: breaking('noRelay') },
      env: { CHANGE_WORKFLOWS_PER_SECOND: '0' },
      restMs: 15_000,
    });
    expect(kindsAndRules(findings)).toContain('lost: each event reaches each receiver at least once');
  });

  it('a change without the row of its key is reported as applied twice', async () => {
    const findings = await run({
      preload: { api: breaking('noClaim') },
      at: { role: 'api', point: 'after-commit' },
      restMs: 15_000,
    });
    expect(kindsAndRules(findings)).toContain('doubled: an acknowledged change is in the ledger exactly once');
  });

  it('a ledger entry that does not store its reversal is reported as reversed twice', async () => {
    const findings = await run({
      preload: { api: breaking('reverseTwice') },
      // Three reversals of two changes include at least two of the same change.
      afterwards: ['reverse', 'reverse', 'reverse'],
      restMs: 15_000,
    });
    expect(kindsAndRules(findings)).toContain('doubled: a ledger entry is reversed at most once, and exactly');
  });

  it('points that never expire are reported', async () => {
    const findings = await run({
      preload: { api: breaking('noExpiry'), worker: breaking('noExpiry') },
      oldSale: true,
      restMs: 90_000,
    });
    expect(kindsAndRules(findings)).toEqual(['lost: points expire once, when their time is over']);
  });

  it('a delivery with a random id is reported as doubled', async () => {
    const findings = await run({
      preload: { worker: breaking('randomDeliveryId') },
      at: { role: 'worker', point: 'after-log-before-mark' },
      restMs: 25_000,
    });
    expect(kindsAndRules(findings)).toContain('doubled: each event reaches each receiver at least once');
  });
});

it('data that an erasure deliberately left is found', async () => {
  const receiver = await aSubscribedReceiver({ name: 'good', responder: ok(), steady: true });
  const cluster = await startCluster({
    preload: { worker: breaking('keepEvents') },
    processes: ['mongodb', 'temporal', 'api-1', 'worker-1'],
  });
  try {
    const world = await populate(cluster, { receivers: [receiver] });
    const caller = createCaller(world);
    const somebody = await enrollSomebody(world, { caller, phone: false });
    await eraseAsOwner(world, somebody.id);
    const traces = await tracesOfErased(world, somebody, new Date(0));
    await caller.close();
    expect(new Set(traces.map(({ value }) => value))).toEqual(new Set(somebody.values));
    expect(traces.map(({ place }) => place.split(' ')[0])).toEqual(traces.map(() => 'events'));
  } finally {
    await cluster.stop();
    await receiver.stop();
  }
});

it('the same run with every guarantee in place has no findings', async () => {
  const findings = await run({
    preload: {},
    at: { role: 'api', point: 'after-commit' },
    afterwards: ['earn', 'redeem', 'reverse', 'reverse', 'reverse'],
    oldSale: true,
    restMs: 150_000,
  });
  expect(findings).toEqual([]);
});
