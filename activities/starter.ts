// Starting workflows: every id comes from a business key, so "already started" is success, and no call waits longer than it
// was told to. Losing a start loses nothing: the event waits in its collection and the relay takes it.

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
import pLimit from 'p-limit';
import type { Logger } from 'pino';
import type { PassUpdate } from '../schemas/passUpdate.js';
import type { searchAttributeNames } from '../schemas/searchAttributes.js';
import {
  type PassIssuance,
  passIssuanceUpdate,
  passUpdateUpdate,
  taskQueues,
  type WorkflowInputs,
  type WorkflowName,
} from '../schemas/workflows.js';

export type SearchAttributes = Partial<Record<(typeof searchAttributeNames)[number], string>>;

export interface StartWorkflow<N extends WorkflowName> {
  name: N;
  workflowId: string;
  input: WorkflowInputs[N];
  /** One line for the operators' list, at most 200 bytes, without personal data. */
  summary: string;
  searchAttributes: SearchAttributes;
  /** 1 is taken first, 5 last. */
  priority: 1 | 2 | 3 | 4 | 5;
  fairnessKey: string;
}

export interface Starter {
  /** False while Temporal is known to be away. */
  available: () => boolean;
  /** Starts it, or finds it started. Throws when Temporal does not answer within `timeoutMs`. */
  start: <N extends WorkflowName>(workflow: StartWorkflow<N>, timeoutMs?: number) => Promise<void>;
  /** Starts it, or finds it started, and waits for what the wallets were told; null when `waitMs` is over. */
  passUpdate: (workflow: StartWorkflow<'publishChange'>, waitMs: number) => Promise<PassUpdate | null>;
  /** The same for the first try of a new member's passes; null says only that it is not known yet. */
  passIssuance: (workflow: StartWorkflow<'issuePasses'>, waitMs: number) => Promise<PassIssuance | null>;
  cancel: (workflowId: string) => Promise<void>;
  /** Throws when Temporal does not answer in time. */
  signal: (workflowId: string, name: string) => Promise<void>;
  close: () => Promise<void>;
}

const startTimeoutMs = 3_000;
/** After a failed call nobody waits for Temporal again for this long. */
const pauseMs = 1_000;
/** How often Temporal is asked whether it is there. */
const pingMs = 1_000;

const workflowTaskTimeout = '3s';

/**
 * Deliveries and batches are started this many at a time: hundreds of failed deliveries at once would keep Temporal from what
 * somebody waits for.
 */
const startsAtOnce = 16;
/** From this priority on nobody waits for the start. */
const patientFrom = 4;

function attributePairs(attributes: SearchAttributes): SearchAttributePair[] {
  return Object.entries(attributes).map(([name, value]) => ({
    key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD),
    value,
  }));
}

function optionsOf<N extends WorkflowName>(workflow: StartWorkflow<N>) {
  return {
    workflowId: workflow.workflowId,
    taskQueue: taskQueues.gestures,
    args: [workflow.input] as [WorkflowInputs[N]],
    workflowTaskTimeout,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE_FAILED_ONLY,
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
    typedSearchAttributes: attributePairs(workflow.searchAttributes),
    staticSummary: workflow.summary,
    priority: { priorityKey: workflow.priority, fairnessKey: workflow.fairnessKey.slice(0, 64) },
  };
}

export interface StarterOptions {
  client: Client;
  connection: Connection;
  log: Logger;
  /** Whether to ask all the time if Temporal is there, for whoever has to answer quickly when it is not. */
  watch?: boolean;
}

export function createStarter({ client, connection, log, watch = true }: StarterOptions): Starter {
  const inTurn = pLimit(startsAtOnce);
  let pausedUntil = 0;
  let present = !watch;

  const ping = async (): Promise<void> => {
    try {
      await connection.withDeadline(Date.now() + pauseMs, () => connection.workflowService.getSystemInfo({}));
      present = true;
    } catch (error) {
      if (present) log.warn({ err: error }, 'Temporal is away; changes go on and their effects wait');
      present = false;
    }
  };
  const pinging = watch ? setInterval(() => void ping(), pingMs).unref() : undefined;
  if (watch) void ping();

  function failed(error: unknown, workflowId: string): void {
    pausedUntil = performance.now() + pauseMs;
    log.warn({ err: error, workflowId }, 'Temporal did not take a workflow; the relay will');
  }

  async function answerOf<N extends WorkflowName, R>(
    update: string,
    { workflow, waitMs }: { workflow: StartWorkflow<N>; waitMs: number },
  ): Promise<R | null> {
    const startWorkflowOperation = new WithStartWorkflowOperation(workflow.name, optionsOf(workflow));
    try {
      return await connection.withDeadline(Date.now() + waitMs, () =>
        // The id is fixed, so that a second request with the same idempotency key gets what the first one got.
        client.workflow.executeUpdateWithStart<Workflow, R, []>(update, { updateId: update, startWorkflowOperation }),
      );
    } catch (error) {
      log.info({ err: error, workflowId: workflow.workflowId, update }, 'a workflow did not answer within the wait');
      return null;
    }
  }

  return {
    available: () => present && performance.now() >= pausedUntil,

    async start(workflow, timeoutMs = startTimeoutMs) {
      const begin = () =>
        connection.withDeadline(Date.now() + timeoutMs, () =>
          client.workflow.start(workflow.name, optionsOf(workflow)),
        );
      try {
        await (workflow.priority < patientFrom ? begin() : inTurn(begin));
      } catch (error) {
        if (error instanceof WorkflowExecutionAlreadyStartedError) return;
        failed(error, workflow.workflowId);
        throw error;
      }
    },

    passUpdate: (workflow, waitMs) =>
      answerOf<'publishChange', PassUpdate | null>(passUpdateUpdate, { workflow, waitMs }),
    passIssuance: (workflow, waitMs) => answerOf<'issuePasses', PassIssuance>(passIssuanceUpdate, { workflow, waitMs }),

    async cancel(workflowId) {
      await client.workflow.getHandle(workflowId).cancel();
    },

    async signal(workflowId, name) {
      await connection.withDeadline(Date.now() + startTimeoutMs, () =>
        client.workflow.getHandle(workflowId).signal(name),
      );
    },

    async close() {
      clearInterval(pinging);
      await connection.close();
    },
  };
}
