// The opening of a crash test: the built service as processes, a merchant with receivers, and members, of whom some
// have a phone.
import { expect } from 'vitest';
import { ok } from '../../rig/standins/responders.js';
import { check } from '../checkers.js';
import type { Evidence } from '../evidence.js';
import { type Caller, createCaller } from './caller.js';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.js';
import { collectEvidence } from './collectEvidence.js';
import { drain } from './drain.js';
import { createLoad, type Load } from './load.js';
import { createRandom } from './random.js';
import { aSubscribedReceiver, type SubscribedReceiver } from './receivers.js';
import { type Apple, populate, startApple, type World } from './world.js';

export interface CrashTest {
  apple: Apple;
  /** The first of the receivers. */
  receiver: SubscribedReceiver;
  cluster: Cluster;
  world: World;
  caller: Caller;
  load: Load;
  /** Waits until all processes are up and all work is done, and checks that nothing was lost or doubled. */
  toRest(): Promise<Evidence>;
  stop(): Promise<void>;
}

export interface CrashTestOptions extends Pick<ClusterOptions, 'env' | 'crashPoints' | 'preload'> {
  seed: number;
  /** How many members are enrolled, those with a phone first. */
  members: number;
  phones?: number;
  /** One that accepts everything if omitted. */
  receivers?: [SubscribedReceiver, ...SubscribedReceiver[]];
}

export async function startCrashTest({
  seed,
  members,
  phones = 0,
  receivers: given,
  env,
  ...options
}: CrashTestOptions): Promise<CrashTest> {
  const receivers = given ?? ([await aSubscribedReceiver({ name: 'good', responder: ok(), steady: true })] as const);
  const apple = await startApple();
  // By default, overdue work waits for two minutes, as long as `toRest` does.
  const own = { STACK_BUILT: 'true', REVIVE_AFTER_MS: '10000' };
  const cluster = await startCluster({ ...options, env: { ...apple.env, ...own, ...env } });
  const world = await populate(cluster, { receivers: [...receivers], apple });
  const caller = createCaller(world);
  const load = createLoad({ world, caller, random: createRandom(seed), phones, tricks: false });
  for (let index = 0; index < members; index += 1) await load.enroll('crash-points');
  return {
    apple,
    receiver: receivers[0],
    cluster,
    world,
    caller,
    load,
    async toRest() {
      // A process takes seconds to start on a busy host, and a retry policy may end before.
      for (const { steady, acceptAll } of receivers) if (steady) acceptAll();
      await cluster.allUp();
      expect(await drain(world, { withinMs: 120_000 })).not.toBeNull();
      const evidence = await collectEvidence(world, load.operations);
      expect(check(evidence)).toEqual([]);
      return evidence;
    },
    async stop() {
      await caller.close();
      await cluster.stop();
      await Promise.all(receivers.map((receiver) => receiver.stop()));
      await apple.apns.close();
    },
  };
}
