// The schedules: jobs at fixed hours. Other work begins when it is due (worker/duties.ts). A worker that starts makes
// Temporal's schedules equal to these: it creates, updates and deletes. A running worker only creates what is missing,
// because Temporal may have lost all of its data, and deletes what processes that started before it still create, so
// that in a rolling upgrade the newest version decides. Schedules of operators carry no mark of the service, and are
// left alone.
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import {
  type Client,
  type Connection,
  isGrpcServiceError,
  ScheduleAlreadyRunning,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleOptions,
  ScheduleOverlapPolicy,
  ServiceError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { Logger } from 'pino';
import type { Wallets } from '../activities/wallets/wallets.client.js';
import { deadline } from '../platform/deadline.js';
import { prepareNamespace } from '../platform/temporal/prepareNamespace.js';
import { taskQueues, type WorkflowInputs, type WorkflowName } from '../schemas/tables/workflows.js';

interface ScheduleOf<N extends WorkflowName> {
  id: string;
  name: N;
  input: WorkflowInputs[N];
  /** In milliseconds, as Temporal describes them. */
  interval: { every: number; offset: number };
  summary: string;
}
type Schedule = { [N in WorkflowName]: ScheduleOf<N> }[WorkflowName];

const hourMs = 3_600_000;

const always: Schedule = {
  ...{ id: 'recount', name: 'recount', input: {}, summary: 'put totals and tags right' },
  // At 03:00 UTC.
  interval: { every: 24 * hourMs, offset: 3 * hourMs },
};

const ofGoogle: Schedule = {
  ...{ id: 'reconcile-saves', name: 'reconcileSaves', summary: 'compare saved passes with Google' },
  // Google's callback about a save may arrive up to 10 minutes late.
  input: { callbackGraceMs: 600_000 },
  interval: { every: 6 * hourMs, offset: hourMs },
};

/** Codes of gRPC: trying again would change nothing about them. */
export const refusals = { invalidArgument: 3, permissionDenied: 7, unimplemented: 12, unauthenticated: 16 };

/** Whether Temporal gave no answer, or none in time. Its client wraps some errors in one of its own. */
function isAway(error: unknown): boolean {
  const cause = error instanceof ServiceError ? error.cause : error;
  return isGrpcServiceError(cause) && !Object.values(refusals).includes(cause.code);
}

export interface EnsureSchedules {
  wallets: Pick<Wallets, 'google'>;
  /** When this process started, by the clock of the database. */
  startedAt: Date;
}

const schedulesOf = ({ wallets: { google } }: EnsureSchedules): Schedule[] => [always, ...(google ? [ofGoogle] : [])];

/**
 * Creates the missing schedules, updates those that differ, and deletes those that are not wanted. A schedule that an
 * operator paused stays paused.
 */
export async function ensureSchedules(client: Client, input: EnsureSchedules): Promise<void> {
  const wanted = schedulesOf(input);
  await Promise.all(
    wanted.map(async (schedule) => {
      if (!(await createSchedule(client, schedule, input.startedAt)))
        await updateSchedule(client, schedule, input.startedAt);
    }),
  );
  await deleteUnwanted(client, wanted, input.startedAt);
}

/**
 * The same, tried again while Temporal is away or too busy to answer in time. Rejects when it refuses, for instance
 * without permission.
 */
export async function ensureSchedulesWhenUp(
  client: Client,
  { log, signal, ...input }: EnsureSchedules & Pick<KeepSchedules, 'log' | 'signal'>,
): Promise<void> {
  while (!signal.aborted) {
    try {
      return await ensureSchedules(client, input);
    } catch (error) {
      if (!isAway(error)) throw error;
      log.warn({ err: error }, 'the schedules could not be created; trying again');
      await sleep(retryMs, undefined, { signal }).catch(() => {});
    }
  }
}

/** Deletes schedules of the service that are not wanted, unless a process that started later created them. */
async function deleteUnwanted(client: Client, wanted: Schedule[], startedAt: Date): Promise<string[]> {
  const names = new Set(wanted.map(({ id }) => id));
  const deleted: string[] = [];
  for await (const { scheduleId, state } of client.schedule.list()) {
    if (names.has(scheduleId) || !isOlderOfOurs(state.note, startedAt)) continue;
    const handle = client.schedule.getHandle(scheduleId);
    try {
      const { info } = await handle.describe();
      await handle.delete();
      await endRunning(client, info);
      deleted.push(scheduleId);
    } catch (error) {
      // Another worker deleted it first.
      if (!(error instanceof ScheduleNotFoundError)) throw error;
    }
  }
  return deleted;
}

/** The note of the service's schedules: when the process started that created it. Operators may overwrite it. */
const markOf = (startedAt: Date): string => `loyalty-pass, created by a worker of ${startedAt.toISOString()}`;
const markForm = /^loyalty-pass, created by a worker of (\S+)$/;

/** A relay continues as new for ever, so the one that still runs would keep its name and its input. */
async function endRunning(client: Client, { runningActions }: ScheduleDescription['info']): Promise<void> {
  for (const { workflow } of runningActions) {
    await client.workflow
      .getHandle(workflow.workflowId)
      .terminate('its schedule was changed or deleted')
      .catch((error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      });
  }
}

function isOlderOfOurs(note: string | undefined, startedAt: Date): boolean {
  const createdBy = markForm.exec(note ?? '')?.[1];
  return createdBy !== undefined && new Date(createdBy) <= startedAt;
}

const retryMs = 500;
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
      const wanted = schedulesOf(input);
      for (const id of await deleteUnwanted(client, wanted, input.startedAt))
        log.info({ schedule: id }, 'a schedule of an earlier version was deleted');
      for (const schedule of wanted) {
        if (!(await createSchedule(client, schedule, input.startedAt))) continue;
        log.warn({ schedule: schedule.id }, 'Temporal had lost a schedule; it was created again');
        isLost = true;
      }
    };
    try {
      await input.connection.withAbortSignal(deadline(checkMs, signal), check);
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
    // The client adds a listener for each call and leaves it there.
    setMaxListeners(0, signal);
    await connection.withAbortSignal(signal, () => prepareNamespace(connection, { namespace, create: true, signal }));
  } catch (error) {
    log.warn({ err: error, namespace }, 'the namespace could not be prepared');
  }
}

const optionsOf = ({ id, name, input, interval, summary }: Schedule) =>
  ({
    spec: { intervals: [interval], calendars: [], skip: [] },
    policies: { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: 12 * hourMs },
    action: {
      type: 'startWorkflow',
      workflowType: name,
      workflowId: id,
      args: [input],
      taskQueue: taskQueues.workflows,
      workflowTaskTimeout: 3_000,
      staticSummary: summary,
    },
  }) satisfies Omit<ScheduleOptions, 'scheduleId'>;

/** False when it already exists. */
async function createSchedule(client: Client, schedule: Schedule, startedAt: Date): Promise<boolean> {
  try {
    const state = { note: markOf(startedAt) };
    await client.schedule.create({ scheduleId: schedule.id, ...optionsOf(schedule), state });
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

/**
 * Gives an existing schedule the wanted options. One that is paused stays paused, with its note. With a payload codec
 * it is always written, so that its input is encrypted with the newest key.
 */
async function updateSchedule(client: Client, schedule: Schedule, startedAt: Date): Promise<void> {
  const wanted = optionsOf(schedule);
  const isEncrypted = client.options.loadedDataConverter.payloadCodecs.length > 0;
  const handle = client.schedule.getHandle(schedule.id);
  const present = await handle.describe();
  const isChanged = !isSame(present, wanted);
  if (!isChanged && !isEncrypted) return;
  await handle.update(({ state: { paused, note } }) => ({
    ...wanted,
    state: { paused, note: paused && note !== undefined ? note : markOf(startedAt) },
  }));
  if (isChanged) await endRunning(client, present.info);
}

type Options = ReturnType<typeof optionsOf>;

/** Whether the wanted options change nothing of the present ones, of which Temporal describes more. */
function isSame({ spec, policies, action }: ScheduleDescription, wanted: Options): boolean {
  const intervals = spec.intervals?.map(({ every, offset = 0 }) => ({ every, offset }));
  const present = [{ ...spec, intervals }, policies, action];
  return [wanted.spec, wanted.policies, wanted.action].every((part, at) =>
    isDeepStrictEqual({ ...present[at], ...part }, { ...present[at] }),
  );
}
