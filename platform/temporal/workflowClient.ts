// Starts workflows. Every workflow id comes from a business key, so "already started" is a success. Every call to start
// a workflow or to wait for one has a time limit. A failed start loses no event: the event stays in the outbox and the
// relay processes it.
import {
  type Client,
  type Connection,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import {
  defineSearchAttributeKey,
  type SearchAttributePair,
  SearchAttributeType,
  type Workflow,
} from '@temporalio/common';
import { optionalTsToMs } from '@temporalio/common/lib/time.js';
import proto from '@temporalio/proto';
import type { Logger } from 'pino';
import type { searchAttributeNames } from '../../schemas/shared/searchAttributes.js';
import {
  dutyNames,
  type PassIssuance,
  passIssuanceName,
  taskQueues,
  type WorkflowInputs,
  type WorkflowName,
} from '../../schemas/tables/workflows.js';
import { createFairLimit, Withdrawn } from '../fairLimit.js';

export type SearchAttributes = Partial<Record<(typeof searchAttributeNames)[number], string>>;

export interface StartWorkflow<N extends WorkflowName> {
  name: N;
  workflowId: string;
  input: WorkflowInputs[N];
  /** Shown in Temporal's list of workflows: one line, at most 200 bytes, without personal data. */
  summary: string;
  searchAttributes: SearchAttributes;
  /** 1 is the highest priority, 5 the lowest. */
  priority: 1 | 2 | 3 | 4 | 5;
  fairnessKey: string;
  /** Sent to the workflow, whether it runs already or is started. */
  signal?: string;
  /** Its first task waits so long, which costs no timer. */
  startDelayMs?: number;
}

export interface WorkflowClient {
  /** False while Temporal does not answer, and for 1 s after a failed start. */
  available: () => boolean;
  /**
   * For how many milliseconds the oldest workflow task of a change or an enrollment has waited for a worker, when at
   * least 20 wait. Temporal measures it every 5 s. 0 when fewer wait or the server does not report it.
   */
  backlogMs: () => number;
  /**
   * Starts the workflow unless it runs or has succeeded. Throws when Temporal does not answer within `timeoutMs` (3 s).
   */
  start: <N extends WorkflowName>(workflow: StartWorkflow<N>, timeoutMs?: number) => Promise<void>;
  /**
   * Starts the workflow unless it runs, and waits for the first attempt to issue a new member's passes. Returns null
   * after `waitMs` or an error, which means only that the result is not known yet.
   */
  awaitPassIssuance: (workflow: StartWorkflow<'issuePasses'>, waitMs: number) => Promise<PassIssuance | null>;
  /** Requests the cancellation of a workflow that is of no use any more. It ends without it too, so this never rejects. */
  cancel: (workflowId: string) => Promise<void>;
  close: () => Promise<void>;
}

const startTimeoutMs = 3_000;
/** After a failed start `available` is false for this long. */
const cooldownMs = 1_000;
/** Interval between two checks of Temporal. */
const lookMs = 1_000;

export const workflowTaskTimeout = '3s';

/**
 * Background workflows (deliveries, batches) are started with at most this many concurrent calls, shared among the
 * fairness keys: hundreds of failed deliveries at once would slow the workflows for which callers wait.
 */
const maxConcurrentStarts = 16;
/** No caller waits for workflows of this priority or a lower one (a larger number). */
const backgroundPriority = 4;

function attributePairs(attributes: SearchAttributes): SearchAttributePair[] {
  return Object.entries(attributes).map(([name, value]) => ({
    key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
    value,
  }));
}

/**
 * A workflow that has succeeded is not started again, with these exceptions. Deliveries: after a restore, a repeated
 * event has the id of a delivered one, and the workflow of a delivery that has succeeded ends at once. Erasures: an
 * erased member is searched more than once. Automatic messages: they are switched off and on. Duties
 * (worker/duties.ts): they run whenever something is due.
 */
const repeated: readonly WorkflowName[] = ['deliverWebhook', 'eraseMember', 'sendAutomaticMessages', ...dutyNames];

function optionsOf<N extends WorkflowName>(workflow: StartWorkflow<N>) {
  return {
    workflowId: workflow.workflowId,
    taskQueue: taskQueues.workflows,
    args: [workflow.input] as [WorkflowInputs[N]],
    workflowTaskTimeout,
    workflowIdReusePolicy: repeated.includes(workflow.name)
      ? WorkflowIdReusePolicy.ALLOW_DUPLICATE
      : WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    typedSearchAttributes: attributePairs(workflow.searchAttributes),
    staticSummary: workflow.summary,
    ...(workflow.startDelayMs !== undefined && { startDelay: workflow.startDelayMs }),
    priority: { priorityKey: workflow.priority, fairnessKey: workflow.fairnessKey.slice(0, 64) },
  };
}

/** The priorities of changes and enrollments. Other work may wait without delaying their answers. */
const changePriorities = ['1', '2', '3'];

type TaskQueue = proto.temporal.api.workflowservice.v1.IDescribeTaskQueueResponse;

/** A worker takes fewer tasks than this within a moment. */
const fewTasks = 20;

function backlogOf({ statsByPriorityKey }: TaskQueue): number {
  const stats = changePriorities.flatMap((key) => statsByPriorityKey?.[key] ?? []);
  const waiting = stats.reduce((sum, { approximateBacklogCount }) => sum + Number(approximateBacklogCount ?? 0), 0);
  if (waiting < fewTasks) return 0;
  return Math.max(0, ...stats.map(({ approximateBacklogAge }) => optionalTsToMs(approximateBacklogAge) ?? 0));
}

export interface WorkflowClientOptions {
  client: Client;
  connection: Connection;
  log: Logger;
  /**
   * For processes with callers that wait for an answer: Temporal is checked every second, and a start also ends after
   * its timeout while it waits for its turn.
   */
  watch?: boolean;
}

export function createWorkflowClient({ client, connection, log, watch = true }: WorkflowClientOptions): WorkflowClient {
  const startLimit = createFairLimit({ total: maxConcurrentStarts });
  let cooldownUntil = 0;
  let present = !watch;
  let backlogMs = 0;

  const look = async (): Promise<void> => {
    try {
      const queue = await connection.withDeadline(Date.now() + cooldownMs, () =>
        connection.workflowService.describeTaskQueue({
          namespace: client.options.namespace,
          taskQueue: { name: taskQueues.workflows },
          taskQueueType: proto.temporal.api.enums.v1.TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW,
          reportStats: true,
        }),
      );
      backlogMs = backlogOf(queue);
      present = true;
    } catch (error) {
      if (present) log.warn({ err: error }, 'Temporal is unavailable; changes are saved and their effects wait');
      present = false;
    }
  };
  const looking = watch ? setInterval(() => void look(), lookMs).unref() : undefined;
  if (watch) void look();

  function failed(error: unknown, workflowId: string): void {
    cooldownUntil = performance.now() + cooldownMs;
    log.warn({ err: error, workflowId }, 'Temporal did not start a workflow; its work is taken up later');
  }

  const startNow = <N extends WorkflowName>(workflow: StartWorkflow<N>): Promise<unknown> => {
    const { name, signal } = workflow;
    const options = optionsOf(workflow);
    return signal === undefined
      ? client.workflow.start(name, options)
      : client.workflow.signalWithStart(name, { ...options, signal, signalArgs: [] });
  };

  return {
    available: () => present && performance.now() >= cooldownUntil,
    backlogMs: () => backlogMs,

    async start(workflow, timeoutMs = startTimeoutMs) {
      const deadline = Date.now() + timeoutMs;
      const begin = () => connection.withDeadline(watch ? deadline : Date.now() + timeoutMs, () => startNow(workflow));
      try {
        const { fairnessKey } = workflow;
        const turn = { owner: fairnessKey, key: fairnessKey, ...(watch && { maxWaitMs: timeoutMs }) };
        await (workflow.priority < backgroundPriority ? begin() : startLimit.run(turn, begin));
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return;
        // A start that had no turn says nothing about Temporal.
        if (!(error instanceof Withdrawn)) failed(error, workflow.workflowId);
        throw error;
      }
    },

    async awaitPassIssuance(workflow, waitMs) {
      const startWorkflowOperation = new WithStartWorkflowOperation(workflow.name, optionsOf(workflow));
      // A fixed update id: a second request for the same member gets the result of the first.
      const update = { updateId: passIssuanceName, startWorkflowOperation };
      try {
        return await connection.withDeadline(Date.now() + waitMs, () =>
          client.workflow.executeUpdateWithStart<Workflow, PassIssuance, []>(passIssuanceName, update),
        );
      } catch (error) {
        log.info({ err: error, workflowId: workflow.workflowId }, 'the passes were not issued within the wait');
        return null;
      }
    },

    async cancel(workflowId) {
      try {
        await connection.withDeadline(Date.now() + startTimeoutMs, () =>
          client.workflow.getHandle(workflowId).cancel(),
        );
      } catch (error) {
        log.info({ err: error, workflowId }, 'a workflow could not be cancelled; it ends when it wakes');
      }
    },

    async close() {
      clearInterval(looking);
      await connection.close();
    },
  };
}
