// Creates the schedules when the worker starts: one for the relay of each shard, and those of the periodic jobs. A
// relay that an operator terminated or that Temporal lost runs again within its interval of 20 s. A running worker also
// creates missing schedules again, because Temporal may have lost all of its data.
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Client,
  type Connection,
  type IntervalSpec,
  ScheduleAlreadyRunning,
  ScheduleOverlapPolicy,
} from '@temporalio/client';
import type { Logger } from 'pino';
import type { Wallets } from '../activities/wallets/wallets.js';
import { prepareNamespace } from '../platform/temporal/prepareNamespace.js';
import { relayId } from '../schemas/ids.js';
import { taskQueues, type WorkflowInputs, type WorkflowName } from '../schemas/workflows.js';

interface ScheduleOf<N extends WorkflowName> {
  id: string;
  name: N;
  input: WorkflowInputs[N];
  interval: IntervalSpec;
  /** Also runs when a worker starts. */
  triggerOnStart: boolean;
  summary: string;
}
type Schedule = { [N in WorkflowName]: ScheduleOf<N> }[WorkflowName];

const relay = (shard: number): Schedule => ({
  id: relayId(shard),
  name: 'relay',
  input: { shard },
  interval: { every: '20s' },
  triggerOnStart: true,
  summary: `relay of shard ${shard}`,
});

const recount: Schedule = {
  id: 'recount',
  name: 'recount',
  input: {},
  // At 03:00 UTC.
  interval: { every: '24h', offset: '3h' },
  triggerOnStart: false,
  summary: 'put totals and tags right',
};

const expiry: Schedule = {
  id: 'expire-points',
  name: 'expirePoints',
  input: {},
  // Midnights of all time zones are on full minutes.
  interval: { every: '1m' },
  triggerOnStart: true,
  summary: 'expire points whose time is over',
};

const revival: Schedule = {
  id: 'revive-work',
  name: 'reviveWork',
  input: {},
  interval: { every: '30s' },
  triggerOnStart: true,
  summary: 'start lost workflows again',
};

const cleaning: Schedule = {
  id: 'remove-batch-rows',
  name: 'removeBatchRows',
  input: {},
  // An upload counts as broken off after 20 s, and must be removed within a minute.
  interval: { every: '15s' },
  triggerOnStart: true,
  summary: 'end uploads that broke off, and remove rows that no batch needs',
};

const repush: Schedule = {
  id: 'repush',
  name: 'repushPasses',
  input: {},
  interval: { every: '30s' },
  triggerOnStart: true,
  summary: 'push stale phones again',
};

const classUpdates: Schedule = {
  id: 'update-classes',
  name: 'updateClasses',
  input: {},
  interval: { every: '30s' },
  triggerOnStart: true,
  summary: 'update the classes of changed programs',
};

const reconciliation: Schedule = {
  id: 'reconcile-saves',
  name: 'reconcileSaves',
  // Google's callback about a save may arrive up to 10 minutes late.
  input: { callbackGraceMs: 600_000 },
  interval: { every: '6h', offset: '1h' },
  triggerOnStart: false,
  summary: 'compare saved passes with Google',
};

const follow: Schedule = {
  id: 'follow-google',
  name: 'followGoogle',
  input: {},
  interval: { every: '20s' },
  triggerOnStart: true,
  summary: "keep Google's objects up to date",
};

export interface EnsureSchedules {
  relayShards: number;
  wallets: Pick<Wallets, 'apple' | 'google'>;
}

const relaysOf = (shards: number): Schedule[] => Array.from({ length: shards }, (_, shard) => relay(shard));

function schedulesOf({ relayShards, wallets: { apple, google } }: EnsureSchedules): Schedule[] {
  const ofGoogle = google ? [reconciliation, classUpdates, follow] : [];
  return [...relaysOf(relayShards), recount, expiry, revival, cleaning, ...(apple ? [repush] : []), ...ofGoogle];
}

/** Creates the missing schedules, and runs those with `triggerOnStart` at once. */
export async function ensureSchedules(client: Client, input: EnsureSchedules): Promise<void> {
  await Promise.all(schedulesOf(input).map((schedule) => ensureSchedule(client, schedule)));
}

const checkMs = 10_000;
const prepareMs = 30_000;

export interface KeepSchedules extends EnsureSchedules {
  connection: Connection;
  namespace: string;
  log: Logger;
  /** Stops it. */
  signal: AbortSignal;
}

/** Creates lost schedules again until `signal` is aborted. Never rejects. */
export async function keepSchedules(client: Client, { log, signal, ...input }: KeepSchedules): Promise<void> {
  while (!signal.aborted) {
    await sleep(checkMs, undefined, { signal }).catch(() => {});
    if (signal.aborted) return;
    let isLost = false;
    const check = async () => {
      for (const schedule of schedulesOf(input)) {
        if (!(await createSchedule(client, schedule))) continue;
        log.warn({ schedule: schedule.id }, 'Temporal had lost a schedule; it was created again');
        isLost = true;
        if (schedule.triggerOnStart) await trigger(client, schedule);
      }
    };
    try {
      await input.connection.withAbortSignal(AbortSignal.any([signal, AbortSignal.timeout(checkMs)]), check);
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'the schedules could not be checked; trying again');
      isLost = true;
    }
    if (isLost && !signal.aborted) await prepare(input, log);
  }
}

/** Prepares the namespace as far as the credentials allow; otherwise an operator has prepared it. */
export async function prepare(
  { connection, namespace }: Pick<KeepSchedules, 'connection' | 'namespace'>,
  log: Logger,
): Promise<void> {
  try {
    const signal = AbortSignal.timeout(prepareMs);
    await connection.withAbortSignal(signal, () => prepareNamespace(connection, { namespace, create: true, signal }));
  } catch (error) {
    log.warn({ err: error, namespace }, 'the namespace could not be prepared');
  }
}

export async function ensureRelays(client: Client, shards: number): Promise<void> {
  await Promise.all(relaysOf(shards).map((schedule) => ensureSchedule(client, schedule)));
}

async function ensureSchedule(client: Client, schedule: Schedule): Promise<void> {
  await createSchedule(client, schedule);
  if (schedule.triggerOnStart) await trigger(client, schedule);
}

/**
 * Separate from `create`: Temporal does not count a run that `create` triggers as running, so the next interval would
 * start the workflow a second time.
 */
async function trigger(client: Client, { id }: Schedule): Promise<void> {
  await client.schedule.getHandle(id).trigger(ScheduleOverlapPolicy.SKIP);
}

/** False when it already exists. */
async function createSchedule(client: Client, schedule: Schedule): Promise<boolean> {
  const { id: scheduleId, name: workflowType, input, interval, triggerOnStart, summary } = schedule;
  try {
    await client.schedule.create({
      scheduleId,
      spec: { intervals: [interval] },
      policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: triggerOnStart ? '1m' : '12h' },
      action: {
        type: 'startWorkflow',
        workflowType,
        workflowId: scheduleId,
        args: [input],
        taskQueue: taskQueues.workflows,
        workflowTaskTimeout: '3s',
        staticSummary: summary,
      },
    });
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}
