// Watches whether this process polls its task queues. The SDK repeats failed polls for ever, and its workers stay in
// state RUNNING while it does, so Temporal is asked whether it knows this process as a poller of each queue. The
// question goes over the connection of the polls. Temporal forgets a poller five minutes after its last poll. The time
// of that poll says nothing: of a queue with several partitions Temporal tells that of the first one where it knows the
// poller.
import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import proto from '@temporalio/proto';
import type { NativeConnection, Worker } from '@temporalio/worker';
import type { Logger } from 'pino';
import { toError } from '../platform/toError.js';
import { activitySlots, workflowSlots } from './createWorkers.js';
import { refusals } from './schedules.js';

const { DescribeTaskQueueMode, TaskQueueType } = proto.temporal.api.enums.v1;
type TaskQueue = proto.temporal.api.workflowservice.v1.IDescribeTaskQueueResponse;

const times = {
  /** Between two looks while all is well. Each asks once for each queue. */
  lookMs: 15_000,
  /** While it is not. */
  lookAgainMs: 2_000,
  answerMs: 5_000,
  /** For so long Temporal may be away. */
  awayMs: 30_000,
  /** For so long Temporal may not know this process: after its start, and when a queue has free slots again. */
  unpolledMs: 40_000,
};

export interface PollWatch {
  /** Why this process does not do all of its work; empty while it polls all of its queues. */
  problems: () => string[];
  /** How many of its queues it does not poll. */
  unpolled: () => number;
  /** Resolves when it has ended. */
  ended: Promise<void>;
}

export interface WatchPolls {
  connection: NativeConnection;
  namespace: string;
  workers: readonly Worker[];
  log: Logger;
  /** Ends it. */
  signal: AbortSignal;
  times?: Partial<typeof times>;
}

interface Polled {
  worker: Worker;
  queue: string;
  type: proto.temporal.api.enums.v1.TaskQueueType;
  /** When Temporal last knew this process as a poller. */
  knownAt: number | undefined;
}

const { TASK_QUEUE_TYPE_WORKFLOW: ofWorkflows, TASK_QUEUE_TYPE_ACTIVITY: ofActivities } = TaskQueueType;

function polledBy(worker: Worker): Polled[] {
  const { taskQueue: queue, workflowBundle } = worker.options;
  const types = workflowBundle ? [ofWorkflows, ofActivities] : [ofActivities];
  return types.map((type) => ({ worker, queue, type, knownAt: undefined }));
}

/** A worker without a free slot does not poll, because it has enough to do. */
function isBusy({ worker, queue, type }: Polled): boolean {
  const { numInFlightNonLocalActivities: activities, numInFlightWorkflowActivations: tasks } = worker.getStatus();
  return type === ofWorkflows
    ? tasks >= workflowSlots
    : activities >= (activitySlots[queue as keyof typeof activitySlots] ?? Number.POSITIVE_INFINITY);
}

/** What Temporal knows of all partitions of the queue. Undefined from servers before 1.24, which do not say it. */
const knownOf = ({ versionsInfo }: TaskQueue) => versionsInfo?.['']?.typesInfo;

/** Refusals of the question alone. Who is not authenticated cannot poll either. */
const { unauthenticated: _, ...ofTheQuestion } = refusals;

export function watchPolls({ connection, namespace, workers, log, signal, ...given }: WatchPolls): PollWatch {
  const { lookMs, lookAgainMs, answerMs, awayMs, unpolledMs } = { ...times, ...given.times };
  const all = workers.flatMap(polledBy);
  let answeredAt: number | undefined;
  let failure = '';
  /** Why Temporal does not say who polls. Its polls may be well, so this process counts as ready then. */
  let refusal: string | undefined;
  let said: string | undefined;
  const begunAt = performance.now();

  const ask = (name: string) =>
    connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name },
      apiMode: DescribeTaskQueueMode.DESCRIBE_TASK_QUEUE_MODE_ENHANCED,
      taskQueueTypes: all.filter(({ queue }) => queue === name).map(({ type }) => type),
      reportPollers: true,
    });

  async function look(): Promise<void> {
    const answers = new Map<string, ReturnType<typeof knownOf>>();
    for (const { queue } of all) if (!answers.has(queue)) answers.set(queue, knownOf(await ask(queue)));
    answeredAt = performance.now();
    refusal = [...answers.values()].every((known) => known) ? undefined : 'Temporal does not know this question';
    for (const one of all) {
      const pollers = answers.get(one.queue)?.[one.type]?.pollers ?? [];
      const isKnown = pollers.some(({ identity }) => identity === one.worker.options.identity);
      if (isKnown || isBusy(one)) one.knownAt = answeredAt;
    }
  }

  async function tryToLook(): Promise<void> {
    try {
      await connection.withDeadline(Date.now() + answerMs, look);
      failure = '';
    } catch (error) {
      const { message } = toError(error);
      const isRefused = isGrpcServiceError(error) && Object.values<number>(ofTheQuestion).includes(error.code);
      if (isRefused) [answeredAt, refusal, failure] = [performance.now(), `${error.code} ${message}`, ''];
      else failure = `(${message.slice(0, 200)})`;
    }
  }

  const secondsSince = (at: number) => Math.round((performance.now() - at) / 1_000);
  const isUnpolled = ({ knownAt }: Polled) =>
    refusal === undefined && (knownAt === undefined || performance.now() - knownAt > unpolledMs);
  const isAway = () => answeredAt === undefined || performance.now() - answeredAt > awayMs;

  function problems(): string[] {
    const states = workers
      .filter((worker) => worker.getState() !== 'RUNNING')
      .map((worker) => `the worker of the queue ${worker.options.taskQueue} is ${worker.getState()}`);
    if (answeredAt === undefined) return [...states, `Temporal has not answered yet ${failure}`.trimEnd()];
    if (isAway()) return [...states, `Temporal has not answered for ${secondsSince(answeredAt)} s ${failure}`];
    const unpolled = all.filter(isUnpolled).map(({ queue, type, knownAt }) => {
      const what = `${type === ofWorkflows ? 'workflows' : 'activities'} of the queue ${queue}`;
      return knownAt === undefined ? `${what} are not polled yet` : `${what} are polled no more`;
    });
    return [...states, ...unpolled];
  }

  /** Logs what has changed. */
  function say(): void {
    const now = problems();
    // Polls begin one after the other.
    if (said === undefined && now.length > 0 && performance.now() - begunAt < unpolledMs) return;
    // Seconds and reasons change with each look.
    const kind = [...now.map((problem) => problem.replace(/ (?:yet|for \d+ s).*$/s, '')), refusal].join();
    if (kind === said) return;
    said = kind;
    if (now.length > 0) log.warn({ problems: now }, 'this worker does not poll all of its queues');
    else if (refusal) log.warn({ refusal }, 'Temporal does not say who polls its queues: this worker counts as ready');
    else log.info('this worker polls all of its queues');
  }

  async function run(): Promise<void> {
    while (!signal.aborted) {
      await tryToLook();
      if (signal.aborted) return;
      say();
      const isWell = failure === '' && problems().length === 0;
      await sleep(isWell ? lookMs : lookAgainMs, undefined, { signal }).catch(() => {});
    }
  }

  return {
    problems,
    unpolled: () => new Set((isAway() ? all : all.filter(isUnpolled)).map(({ queue }) => queue)).size,
    ended: run(),
  };
}
