// The growth of changes and deliveries with the subscriptions of one merchant, each of which gets all of its events.
import { maxSubscriptions } from '../../schemas/webhooks/webhooks.schema.js';
import { type Bench, settled } from './bench.js';
import { type Line, measureGrowth } from './growth.js';
import { inTurn, numbered, type Rounds } from './load.js';
import { addMembers, aMerchant, type BenchMerchant } from './merchant.js';
import { changesOf } from './points.js';
import { startReceiver, subscribe } from './receiver.js';
import { type Row, spreadOf } from './row.js';
import { barePosts, deliverBacklog, sampleBody } from './webhooks.js';

const callers = 64;

export interface GrowthSubscriptionsSize extends Pick<Rounds, 'rounds'> {
  sizes: readonly number[];
  /** Deliveries of each round, at each size. */
  deliveries: number;
  /** Single changes at each size. */
  changes: number;
  postsMs: number;
}

/** A merchant may have `maxSubscriptions`, so others make them and hand them over. */
async function addSubscriptions(bench: Bench, to: BenchMerchant, url: string, count: number): Promise<void> {
  const { subscriptions } = bench.deps.collections;
  for (let made = 0; made < count; made += maxSubscriptions) {
    const maker = await aMerchant(bench);
    for (let index = made; index < Math.min(made + maxSubscriptions, count); index += 1) {
      const _id = await subscribe(maker, url);
      await subscriptions.updateOne({ _id, merchantId: maker.id }, { $set: { merchantId: to.id } });
    }
    await maker.close();
  }
}

/** Runs `work` that often, at most `callers` at a time. Returns the milliseconds until its later work is done, too. */
async function timeOf(bench: Bench, total: number, work: (index: number) => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await numbered({ callers, total }, work);
  await settled(bench);
  return performance.now() - began;
}

export async function benchGrowthSubscriptions(bench: Bench, size: GrowthSubscriptionsSize): Promise<Row[]> {
  const { sizes, rounds, deliveries, changes, postsMs } = size;
  const receiver = await startReceiver(bench);
  const merchant = await aMerchant(bench, { callers });
  const members = await addMembers(bench, { program: merchant.program, count: 400 });
  const [mine, theirs] = [members.slice(0, 200), members.slice(200)];
  const posts = barePosts({ url: receiver.url, body: sampleBody(bench, members) });
  const sides = changesOf(bench, { mine: [], theirs });
  await posts.measure(postsMs);

  /** The fewest milliseconds of a delivery over the rounds, and those of a bare POST in the same rounds. */
  const best = async (one: () => Promise<number>) => {
    const least = { ours: Number.POSITIVE_INFINITY, yardstick: Number.POSITIVE_INFINITY };
    for (let round = 0; round < rounds; round += 1) {
      least.ours = Math.min(least.ours, await one());
      least.yardstick = Math.min(least.yardstick, 1_000 / (await posts.measure(postsMs)).rate);
    }
    return least;
  };
  const linesAt = (subscriptions: number): Line[] => {
    const events = Math.ceil(deliveries / subscriptions);
    const award = (index: number) => merchant.award(inTurn(mine, index)._id);
    const bulk = { merchant, members, receiver, subscriptions };
    const spent = { seconds: Number.POSITIVE_INFINITY };
    return [
      {
        name: 'points, one caller, p50',
        unit: 'ms',
        of: 'one',
        async measure() {
          const times: number[] = [];
          for (let index = 0; index < changes; index += 1) {
            const began = performance.now();
            await award(index);
            times.push(performance.now() - began);
            await settled(bench);
          }
          return { ours: spreadOf(times).p50, yardstick: (await sides.yardstick(1, postsMs)).latency.p50 };
        },
      },
      {
        name: 'whole effect, for each delivery; a bare POST',
        unit: 'ms',
        of: 'one',
        measure: () => best(async () => (await timeOf(bench, events, award)) / (events * subscriptions)),
      },
      {
        name: 'deliveries logged, in bulk, each; a bare POST',
        unit: 'ms',
        of: 'one',
        measure: () =>
          best(async () => {
            const { rate, cpu } = await deliverBacklog(bench, bulk, events);
            const seconds = Object.values(cpu).reduce((sum, one) => sum + one, 0);
            spent.seconds = Math.min(spent.seconds, seconds / (events * subscriptions));
            return 1_000 / rate;
          }),
      },
      {
        name: 'processor time of the same, each',
        unit: 'ms',
        of: 'one',
        measure: async () => ({ ours: spent.seconds * 1_000, yardstick: null }),
      },
    ];
  };

  let subscribed = 0;
  const rows = await measureGrowth(bench, {
    what: 'subscriptions',
    sizes,
    async at(subscriptions) {
      await addSubscriptions(bench, merchant, receiver.url, subscriptions - subscribed);
      subscribed = subscriptions;
      await deliverBacklog(bench, { merchant, members, receiver, subscriptions }, Math.ceil(500 / subscriptions));
      return { lines: linesAt(subscriptions), close: async () => {} };
    },
  });
  await Promise.all([posts.close(), sides.close(), merchant.close()]);
  await receiver.stop();
  return rows;
}
