// Work that becomes due without a caller. Each worker looks in the database for work that is due, and starts the
// workflow that does it; while nothing is due, nothing runs at Temporal, which is paid by the action. A workflow that
// runs already is left alone, so workers need not agree on who looks. All look at multiples of the interval, so that
// the expiries of a midnight begin with it.
import { setMaxListeners } from 'node:events';
import type { Collection, Document, Filter } from 'mongodb';
import { rulesToWake } from '../activities/batches/automaticMessages.activity.js';
import { toRevive } from '../activities/batches/reviveBatches.activity.js';
import { leftInShard } from '../activities/events/takeOverShard.writes.js';
import { isGivingLots } from '../activities/points/giveLots.activity.js';
import { merchantsDue } from '../activities/wallets/google/followObjects.activity.js';
import { servedBy } from '../activities/webhooks/deliverQueued.effect.js';
import { lostQueues } from '../activities/webhooks/reviveDeliveries.activity.js';
import type { WorkerDeps } from '../activities/workerDeps.js';
import type { StartWorkflow } from '../platform/temporal/workflowClient.js';
import { expirySlices } from '../schemas/points/expiry.rules.js';
import { relayId } from '../schemas/shared/ids.js';
import type { Platform } from '../schemas/shared/passUpdate.schema.js';
import type { DutyName, WorkflowInputs } from '../schemas/tables/workflows.js';

interface DutyOf<N extends DutyName> {
  /** The id of its workflow. */
  id: string;
  name: N;
  input: WorkflowInputs[N];
  summary: string;
  /** In milliseconds. */
  every: number;
  isDue: (deps: WorkerDeps) => Promise<boolean>;
}
export type Duty = { [N in DutyName]: DutyOf<N> }[DutyName];

async function hasOne<T extends Document>(collection: Collection<T>, where: Filter<T>): Promise<boolean> {
  return (await collection.findOne(where, { projection: { _id: 1 } })) !== null;
}

async function firstTrue(asked: readonly (() => Promise<boolean>)[]): Promise<boolean> {
  for (const ask of asked) if (await ask()) return true;
  return false;
}

async function yieldsOne(groups: AsyncIterable<string>): Promise<boolean> {
  for await (const _ of groups) return true;
  return false;
}

/** Events and queued deliveries of a shard. What an ended relay has left is rare, and costs a longer read. */
function relay(shard: number): Duty[] {
  const given = { id: relayId(shard), name: 'relay' as const, input: { shard }, summary: `relay of shard ${shard}` };
  return [
    {
      ...{ ...given, every: 1_000 },
      isDue: (deps) => {
        const { events, waitingSubscriptions } = deps.collections;
        return firstTrue([
          () => hasOne(events, { state: 'new', shard, dueAt: { $lte: deps.now() } }),
          () => hasOne(waitingSubscriptions, servedBy(deps, shard)),
        ]);
      },
    },
    {
      ...{ ...given, every: 10_000 },
      isDue: (deps) => firstTrue(leftInShard(deps, shard).map((where) => () => hasOne(deps.collections.events, where))),
    },
  ];
}

const always: Duty[] = [
  {
    ...{ id: 'expire-points', name: 'expirePoints', input: {}, summary: 'expire points whose time is over' },
    // Midnights of all time zones are on full minutes.
    every: 60_000,
    isDue: (deps) => {
      const over = { $lte: deps.now() };
      const slices = Array.from({ length: expirySlices }, (_, slice) => slice);
      return firstTrue([
        () => isGivingLots(deps),
        ...slices.map((slice) => () => hasOne(deps.collections.members, { 'expiry.slice': slice, 'expiry.at': over })),
      ]);
    },
  },
  {
    ...{ id: 'revive-work', name: 'reviveWork', input: {}, summary: 'start lost workflows again' },
    every: 30_000,
    isDue: (deps) => {
      const { events, members, mails, erasures, batches, automaticMessages } = deps.collections;
      const due = { $lte: deps.now() };
      return firstTrue([
        () => yieldsOne(lostQueues(deps)),
        () => hasOne(events, { pushDueAt: due }),
        () => hasOne(members, { 'pass.issueDueAt': due }),
        () => hasOne(mails, { dueAt: due }),
        () => hasOne(erasures, { dueAt: due }),
        () => hasOne(automaticMessages, rulesToWake(deps)),
        ...toRevive(deps).map((where) => () => hasOne(batches, where)),
      ]);
    },
  },
  {
    // An upload counts as broken off after 20 s, and must be removed within a minute.
    ...{ id: 'remove-batch-rows', name: 'removeBatchRows', input: {}, every: 15_000 },
    summary: 'end uploads that broke off, and remove rows that no batch needs',
    isDue: ({ collections: { batches }, now }) =>
      firstTrue([() => hasOne(batches, { phase: 'storing' }), () => hasOne(batches, { rowsUntil: { $lte: now() } })]),
  },
];

const ofApple: Duty = {
  ...{ id: 'repush', name: 'repushPasses', input: {}, summary: 'push stale phones again', every: 30_000 },
  isDue: ({ collections: { devices, members, removals }, now, walletModes }) => {
    const due = { $lte: now() };
    const phones = [() => hasOne(devices, { recheckAt: due }), () => hasOne(members, { 'pass.appleDueAt': due })];
    return firstTrue([...(walletModes.apple === 'stub' ? [] : phones), () => hasOne(removals, { reportAt: due })]);
  },
};

const ofGoogle: Duty[] = [
  {
    ...{ id: 'update-classes', name: 'updateClasses', input: {}, every: 30_000 },
    summary: 'update the classes of changed programs',
    isDue: ({ collections }) => hasOne(collections.classUpdates, {}),
  },
  {
    ...{
      id: 'follow-google',
      name: 'followGoogle',
      input: {},
      summary: "keep Google's objects up to date",
      every: 2_000,
    },
    isDue: async (deps) => {
      if (deps.walletModes.google === 'stub') return false;
      const { googleClears } = deps.collections;
      return firstTrue([
        () => hasOne(googleClears, { dueAt: { $lte: deps.now() } }),
        () => yieldsOne(merchantsDue(deps)),
      ]);
    },
  },
];

export const relays = (shards: number): Duty[] => Array.from({ length: shards }, (_, shard) => relay(shard)).flat();

/** The demo's wallets open while the worker runs (platform/config/takeSettings.ts). */
const whileOpen = (platform: Platform, duty: Duty): Duty => ({
  ...duty,
  isDue: async (deps) => deps.wallets[platform] !== null && (await duty.isDue(deps)),
});

export const dutiesOf = ({ config }: Pick<WorkerDeps, 'config'>): Duty[] => [
  ...relays(config.RELAY_SHARDS),
  ...always,
  whileOpen('apple', ofApple),
  ...ofGoogle.map((duty) => whileOpen('google', duty)),
];

/** Starts what is due, until `signal` is aborted. Never rejects. */
export async function watchDuties(deps: WorkerDeps, { duties, signal }: { duties: Duty[]; signal: AbortSignal }) {
  setMaxListeners(0, signal);
  await Promise.all(duties.map((duty) => watch(deps, duty, signal)));
}

async function watch(deps: WorkerDeps, { id, name, input, summary, every, isDue }: Duty, signal: AbortSignal) {
  while (!signal.aborted) {
    try {
      if (deps.workflowClient.available() && (await isDue(deps))) {
        const start = { name, workflowId: id, input, summary, searchAttributes: {}, priority: 3, fairnessKey: id };
        await deps.workflowClient.start(start as StartWorkflow<DutyName>);
      }
    } catch (error) {
      deps.log.warn({ err: error, workflowId: id }, 'due work could not be started; trying again');
    }
    // What is put into the queue of deliveries wakes its relay.
    await deps.background.sleep(every - (deps.now().getTime() % every), { signal, wakes: name === 'relay' });
  }
}
