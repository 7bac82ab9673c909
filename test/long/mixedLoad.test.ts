// All kinds of calls at the same time for ten minutes, by 16 and by 64 callers, on a whole service of separate
// processes with a reader of the feed: no answer of 500 or more, no lost call, and no statement with write conflicts
// for 5 s.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Cluster, startCluster } from '../crash/rig/cluster.js';
import { drain } from '../crash/rig/drain.js';
import { aSubscribedReceiver, type SubscribedReceiver } from '../crash/rig/receivers.js';
import { type Apple, populate, startApple, type World } from '../crash/rig/world.js';
import { ok } from '../rig/standins/responders.js';
import { runMixedLoad, slowestKinds } from '../rig/start/mixedLoad.js';

const minutes = Number(process.env.MIXED_LOAD_MINUTES ?? 10);

let apple: Apple;
let receiver: SubscribedReceiver;
let cluster: Cluster;
let world: World;

beforeAll(async () => {
  [apple, receiver] = await Promise.all([
    startApple(),
    aSubscribedReceiver({ name: 'good', responder: ok(), steady: true }),
  ]);
  cluster = await startCluster({
    watched: true,
    env: apple.env,
    processes: ['mongodb', 'temporal', 'api-1', 'worker-1'],
  });
  world = await populate(cluster, { receivers: [receiver], apple });
});

afterAll(async () => {
  await cluster?.stop();
  await receiver?.stop();
  await apple?.apns.close();
});

const linesOf = (name: string): string[] =>
  readFileSync(join(cluster.folder, 'logs', `${name}.log`), 'utf8').split('\n');

/** The last warnings and errors that a process logged, each shortened. */
const lastWarnings = (name: string): string =>
  [
    `${name}:`,
    ...linesOf(name)
      .filter((line) => /"level":[4-6]0|warn|error|panic/i.test(line))
      .slice(-60)
      .map((line) => line.slice(0, 500)),
  ].join('\n');

it.each([16, 64])(
  'no call of a mixed load of %i callers fails',
  async (callers) => {
    const { members } = cluster.deps.collections;
    const result = await runMixedLoad(
      {
        baseUrl: cluster.apis['api-1'],
        publicUrl: cluster.env.PUBLIC_URL ?? '',
        apiKey: world.apiKey,
        programs: ['crash-points', 'crash-tiers'].map((id) => ({ id, slug: id })),
        subscriptionId: receiver.subscriptionId,
        passTypeId: apple.certificates.passTypeId ?? '',
        async passOf(memberId) {
          const member = await members.findOne({ _id: memberId });
          if (!member) throw new Error('There is no such member.');
          return { serialNumber: member.serialNumber, authenticationToken: member.pass.authenticationToken };
        },
      },
      { callers, ms: minutes * 60_000 },
    );
    console.log(
      `${callers} callers, ${minutes} minutes: ${result.calls} calls, slowest ${slowestKinds(result)}; failed while the machine stood still: ${result.duringStalls.length}`,
    );
    if (result.failures.length > 0)
      for (const name of ['api-1', 'worker-1', 'mongodb']) console.log(lastWarnings(name));
    expect(result.failures).toEqual([]);
    expect(cluster.endings).toEqual([]);
    expect(cluster.stuck).toEqual([]);
    expect(linesOf('mongodb').filter((line) => /retrying on write conflicts for (?!([0-4])\.)/.test(line))).toEqual([]);
  },
  minutes * 60_000 + 120_000,
);

it('all acknowledged changes are published when the load is over', async () => {
  expect(await drain(world, { withinMs: 600_000 })).not.toBeNull();
}, 660_000);
