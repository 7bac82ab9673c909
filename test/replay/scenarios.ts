// The scenarios that are recorded for each workflow type on the real server: the paths that operators will see. Every
// type has at least one; a missing type is a compile error.
import type { Client } from '@temporalio/client';
import { WithStartWorkflowOperation } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Activities } from '../../activities/index.js';
import { newId } from '../../schemas/shared/ids.js';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';
import {
  type ListProgress,
  passIssuanceName,
  passUpdateName,
  ruleChangedName,
  taskQueues,
  type WorkflowInputs,
  type WorkflowName,
} from '../../schemas/tables/workflows.js';
import { aGate } from '../rig/standins/gate.js';
import type { FakeActivities, WorkflowWorker } from '../rig/start/workflowWorker.js';

type Handle = Awaited<ReturnType<WorkflowWorker['start']>>;

interface Scenario<N extends WorkflowName> {
  activities: FakeActivities;
  input: WorkflowInputs[N];
  /** Acts on the execution after its start. */
  meanwhile?: (handle: Handle) => Promise<unknown>;
  /** The update that starts the execution, as a waiting API does. */
  update?: string;
}

type Scenarios = { [N in WorkflowName]: Record<string, () => Scenario<N>> };

const pushed: PassUpdate = {
  serialNumber: 'b7d9f1f6-9b0e-4f59-8a38-2c5e2f7f1d10',
  lastUpdateTag: '2026-11-21T04:00:00.000Z',
  rebuilt: true,
  apple: { devicesNotified: 1, devicesAttempted: 1, mode: 'real' },
  google: { objectPatched: true, mode: 'real' },
};

const publishEvents: Activities['publishEvents'] = async ({ eventIds }) => ({ published: eventIds.length });
const pushedNothing: Activities['pushPasses'] = async () => ({ passUpdates: {}, newEventIds: [], late: [] });
const batch = { merchantId: 'merchant-1', batchId: 'batch-1' };
const rule = { merchantId: 'merchant-1', ruleId: 'program-1:away' };
const change = { merchantId: 'merchant-1', eventIds: ['event-1'] };
const enrollment = { merchantId: 'merchant-1', memberId: 'member-1', eventId: 'event-1' };
const delivery = {
  deliveryId: 'delivery-1',
  eventId: 'event-1',
  subscriptionId: 'subscription-1',
  merchantId: 'merchant-1',
  notBefore: 0,
  attemptsLeft: 3,
  backoffMs: 50,
};

const mail = { merchantId: 'merchant-1', mailId: 'mail-1' };
const mailDelayed = () =>
  ApplicationFailure.create({ message: 'It was not taken.', type: 'MAIL_DELAYED', nextRetryDelay: 50 });

const unavailable = () => new Error('It is unavailable.');
const final = (message: string) => ApplicationFailure.create({ message, nonRetryable: true });
const refused = (nonRetryable: boolean) =>
  ApplicationFailure.create({ message: 'It answered 500.', type: 'status', nonRetryable, nextRetryDelay: 50 });

/** Fails `times` times, then calls `work`. */
function failing<I, O>(times: number, error: () => Error, work: (input: I) => Promise<O>): (input: I) => Promise<O> {
  let left = times;
  return async (input) => {
    left -= 1;
    if (left >= 0) throw error();
    return work(input);
  };
}

const step = ({ from }: { from: number }) => ({
  next: from + 1,
  over: from >= 2,
  total: 3,
  done: from + 1,
  created: from + 1,
  completedMembers: from + 1,
});

/** Lists targets in two steps. */
function listing(): () => Promise<ListProgress> {
  let steps = 0;
  return async () => {
    steps += 1;
    return { total: 3, ...(steps === 1 && { more: true as const }) };
  };
}

/** A batch over a list, cancelled in the middle. */
function throughList<
  N extends 'sendCampaign' | 'sendPlannedCampaign' | 'mailCards' | 'rebuildPasses' | 'replayDeliveries',
>(
  snapshotTargets: FakeActivities,
  work: 'sendMessages' | 'sendPlannedMessages' | 'replayEvents' | 'mailCards',
): Record<string, () => Scenario<N>> {
  const finishBatch: Activities['finishBatch'] = async ({ failure }) => ({
    phase: failure === undefined ? 'completed' : 'failed',
    eventId: 'event-1',
  });
  const input: WorkflowInputs[N] = batch;
  const cancelled = (): Scenario<N> => {
    const { open: begun, opened: beginning } = aGate();
    return {
      activities: {
        ...snapshotTargets,
        finishBatch,
        publishEvents,
        [work]: async (at: { from: number }) => {
          begun();
          await new Promise((resolve) => setTimeout(resolve, 300));
          return { ...step(at), over: false };
        },
      },
      input,
      meanwhile: async (handle) => {
        await beginning;
        await handle.cancel();
      },
    };
  };
  return {
    completed: () => ({
      activities: { ...snapshotTargets, finishBatch, publishEvents, [work]: async (at: { from: number }) => step(at) },
      input,
    }),
    cancelled,
    failed: () => ({
      activities: {
        ...snapshotTargets,
        finishBatch,
        publishEvents,
        [work]: async () => {
          throw final('The list is gone.');
        },
      },
      input,
    }),
  };
}

const imported = (phase: 'completed' | 'failed', unissued = false): FakeActivities => ({
  createImported: async (at) => step(at),
  publishImported: async (at) => step(at),
  finishImport: async () => ({ phase, eventId: 'event-1', unissued }),
  issueImportedLate: async () => undefined,
  publishEvents,
});

export const scenarios: Scenarios = {
  announceChange: {
    quiet: () => ({ activities: { pushPasses: pushedNothing, publishNow: publishEvents }, input: change }),
    pushed: () => ({
      activities: {
        pushPasses: async () => ({ passUpdates: { 'event-1': pushed }, newEventIds: ['event-2'], late: [] }),
        publishNow: publishEvents,
      },
      input: change,
    }),
    pushedLate: () => ({
      activities: {
        pushPasses: failing(10, unavailable, pushedNothing),
        pushLate: failing(1, unavailable, async () => ({ newEventIds: ['event-2'] })),
        publishNow: publishEvents,
        publishEvents,
      },
      input: change,
    }),
    publishedLate: () => ({
      activities: {
        pushPasses: pushedNothing,
        publishNow: failing(10, unavailable, publishEvents),
        publishEvents: failing(1, unavailable, publishEvents),
      },
      input: change,
    }),
  },
  publishChange: {
    quiet: () => ({
      activities: { pushPasses: pushedNothing, publishEvents },
      input: change,
    }),
    answered: () => ({
      activities: {
        pushPasses: async () => ({ passUpdates: { 'event-1': pushed }, newEventIds: ['event-2'], late: [] }),
        publishEvents: failing(1, unavailable, publishEvents),
      },
      input: change,
      update: passUpdateName,
    }),
    pushedLate: () => ({
      activities: {
        pushPasses: failing(10, unavailable, pushedNothing),
        pushLate: failing(1, unavailable, async () => ({ newEventIds: ['event-2'] })),
        publishEvents,
      },
      input: change,
      update: passUpdateName,
    }),
  },
  issuePasses: {
    issued: () => ({
      activities: {
        issueApplePasses: async () => ({ newEventIds: ['apple-1'] }),
        issueGooglePasses: async () => ({ newEventIds: ['google-1'] }),
        publishEvents,
      },
      input: enrollment,
      update: passIssuanceName,
    }),
    googleLate: () => ({
      activities: {
        issueApplePasses: async () => ({ newEventIds: ['apple-1'] }),
        issueGooglePasses: failing(1, unavailable, async () => ({ newEventIds: ['google-1'] })),
        issueLate: failing(1, unavailable, async () => undefined),
        publishEvents,
      },
      input: enrollment,
    }),
  },
  deliverWebhook: {
    delivered: () => ({ activities: { postWebhook: async () => ({ state: 'succeeded' }) }, input: delivery }),
    waitedAndRetried: () => ({
      activities: {
        postWebhook: failing(
          2,
          () => refused(false),
          async () => ({ state: 'succeeded' as const }),
        ),
      },
      input: { ...delivery, notBefore: Date.now() + 500 },
    }),
    exhausted: () => ({
      activities: {
        postWebhook: async () => {
          throw refused(true);
        },
      },
      input: delivery,
    }),
  },
  relay: {
    continued: () => {
      let rounds = 0;
      return {
        activities: {
          relayEvents: async () => {
            rounds += 1;
            // The second run waits in its first round until it is ended.
            if (rounds > 50) await new Promise((resolve) => setTimeout(resolve, 1_000));
            return { relayed: 2 };
          },
        },
        input: { shard: 1 },
      };
    },
    idle: () => {
      const rounds = [{ relayed: 2 }, { relayed: 1, idle: true as const }];
      return {
        activities: { relayEvents: async () => rounds.shift() ?? { relayed: 0 } },
        input: { shard: 1 },
      };
    },
  },
  retryPasses: {
    pushed: () => ({
      activities: { pushLate: failing(1, unavailable, async () => ({ newEventIds: ['event-2'] })), publishEvents },
      input: { merchantId: 'merchant-1', memberIds: [], eventIds: ['event-1'] },
    }),
    issued: () => ({
      activities: { issueLate: failing(1, unavailable, async () => undefined) },
      input: { merchantId: 'merchant-1', memberIds: ['member-1'], eventIds: [] },
    }),
    both: () => ({
      activities: {
        issueLate: failing(2, unavailable, async () => undefined),
        pushLate: failing(1, unavailable, async () => ({ newEventIds: ['event-2'] })),
        publishEvents,
      },
      input: { merchantId: 'merchant-1', memberIds: ['member-1'], eventIds: ['event-1'] },
    }),
  },
  sendMail: {
    sent: () => ({ activities: { postMail: async () => ({ state: 'sent' }) }, input: mail }),
    sentLater: () => ({
      activities: { postMail: failing(2, mailDelayed, async () => ({ state: 'sent' as const })) },
      input: mail,
    }),
    givenUp: () => ({
      activities: { postMail: async () => ({ state: 'failed', failure: 'RCPT TO 550 5.1.1' }) },
      input: mail,
    }),
  },
  updateClasses: {
    updated: () => {
      const upsertClasses = failing(1, unavailable, async () => ({ updated: 1 }));
      return { activities: { upsertClasses: () => upsertClasses({}) }, input: {} };
    },
  },
  repushPasses: {
    pushed: () => ({ activities: { repushStale: async () => ({ pushed: 2, stale: 1 }) }, input: {} }),
  },
  reviveWork: {
    looked: () => {
      const reviveDeliveries = failing(1, unavailable, async () => ({ revived: 2 }));
      return {
        activities: {
          reviveDeliveries: () => reviveDeliveries({}),
          revivePushes: async () => ({ revived: 1 }),
          reviveIssues: async () => ({ revived: 0 }),
          reviveMails: async () => ({ revived: 0 }),
          reviveErasures: async () => ({ revived: 1 }),
          reviveBatches: async ({ after }) => ({ revived: 1, ...(after === undefined && { next: 'batch-1' }) }),
        },
        input: {},
      };
    },
  },
  removeBatchRows: {
    looked: () => ({ activities: { cleanUpBatches: async () => ({ ended: 1, removed: 2 }) }, input: {} }),
  },
  importMembers: {
    completed: () => ({ activities: imported('completed'), input: batch }),
    issuedLate: () => ({ activities: imported('completed', true), input: batch }),
    failed: () => ({
      activities: {
        ...imported('failed'),
        createImported: async () => {
          throw final('The program is gone.');
        },
      },
      input: batch,
    }),
  },
  sendCampaign: throughList<'sendCampaign'>({ snapshotCampaign: listing() }, 'sendMessages'),
  sendPlannedCampaign: {
    ...throughList<'sendPlannedCampaign'>({ snapshotPlannedCampaign: listing() }, 'sendPlannedMessages'),
    waited: () => {
      const lists: ListProgress[] = [{ total: 0, more: true, notBefore: Date.now() + 500 }, { total: 3 }];
      return {
        activities: {
          snapshotPlannedCampaign: async () => lists.shift() ?? { total: 3 },
          sendPlannedMessages: async (at) => step(at),
          finishBatch: async () => ({ phase: 'completed', eventId: 'event-1' }),
          publishEvents,
        },
        input: batch,
      };
    },
  },
  sendAutomaticMessages: {
    sentAndOff: () => {
      const days = [{ nextAt: Date.now() + 500, said: 'Waits.' }, {}];
      return { activities: { runAutomaticRule: async () => days.shift() ?? {} }, input: rule };
    },
    changed: () => {
      const { open: begun, opened: beginning } = aGate();
      const days = [{ nextAt: Date.now() + 3_600_000, said: 'Waits.' }, {}];
      return {
        activities: {
          runAutomaticRule: async () => {
            begun();
            return days.shift() ?? {};
          },
        },
        input: rule,
        meanwhile: async (handle) => {
          await beginning;
          await handle.signal(ruleChangedName);
        },
      };
    },
    continued: () => {
      let days = 0;
      return {
        activities: {
          runAutomaticRule: async () => {
            days += 1;
            return days > 31 ? {} : { nextAt: Date.now(), said: 'Waits.' };
          },
        },
        input: rule,
      };
    },
  },
  mailCards: {
    ...throughList<'mailCards'>({ snapshotCreated: listing() }, 'mailCards'),
    waited: () => ({
      activities: {
        snapshotCreated: listing(),
        finishBatch: async () => ({ phase: 'completed', eventId: 'event-1' }),
        publishEvents,
        mailCards: async (at) => ({ ...step(at), ...(at.from === 0 && { waitMs: 200 }) }),
      },
      input: batch,
    }),
  },
  rebuildPasses: throughList<'rebuildPasses'>({ snapshotRebuild: listing() }, 'sendMessages'),
  replayDeliveries: throughList<'replayDeliveries'>({ snapshotReplay: listing() }, 'replayEvents'),
  reconcileSaves: {
    corrected: () => {
      let pages = 0;
      return {
        activities: {
          compareSaves: async () => {
            pages += 1;
            return { mismatched: [`member-${pages}`], ...(pages < 3 && { next: { programId: `program-${pages}` } }) };
          },
          correctSaves: async ({ memberIds }) => ({ corrected: memberIds.length }),
        },
        input: { callbackGraceMs: 300 },
      };
    },
    continued: () => {
      let pages = 0;
      return {
        activities: {
          compareSaves: async () => {
            pages += 1;
            return { mismatched: [], ...(pages < 22 && { next: { programId: `program-${pages}` } }) };
          },
        },
        input: { callbackGraceMs: 300 },
      };
    },
  },
  followGoogle: {
    followed: () => ({ activities: { followObjects: async () => ({ followed: 3 }) }, input: {} }),
  },
  eraseMember: {
    erased: () => ({
      activities: { removeTraces: failing(1, unavailable, async () => {}), endErasure: async () => ({ runs: 1 }) },
      input: { merchantId: 'merchant-1', memberId: 'member-1', lastRunMs: 1_000 },
    }),
  },
  expirePoints: {
    completed: () => {
      let steps = 0;
      return {
        activities: {
          giveLots: async () => {
            steps += 1;
            return { given: 200, over: steps > 1 };
          },
          expireLots: async ({ from }) => ({ expired: 10, failed: 0, ...(from < 40 && { next: from + 20 }) }),
        },
        input: {},
      };
    },
    continued: () => ({
      activities: {
        giveLots: async () => ({ given: 0, over: true }),
        expireLots: async () => ({ expired: 10, failed: 0, next: 7 }),
      },
      input: { programId: 'program-1', at: Date.parse('2027-01-01T00:00:00Z') },
    }),
  },
  recount: {
    completed: () => {
      let steps = 0;
      return {
        activities: {
          recountMerchants: async () => {
            steps += 1;
            return { merchants: 20, repaired: 1, ...(steps < 3 && { next: `merchant-${steps}` }) };
          },
        },
        input: {},
      };
    },
    continued: () => {
      let steps = 0;
      return {
        activities: {
          recountMerchants: async () => {
            steps += 1;
            return { merchants: 1, repaired: 0, ...(steps < 22 && { next: `merchant-${steps}` }) };
          },
        },
        input: {},
      };
    },
  },
};

/** Runs the execution to its end, or to the end of its first run, and returns that run's history. */
export async function play<N extends WorkflowName>(
  worker: WorkflowWorker,
  { name, scenario }: { name: N; scenario: Scenario<N> },
) {
  for (const key of Object.keys(worker.fakes) as (keyof FakeActivities)[]) delete worker.fakes[key];
  Object.assign(worker.fakes, scenario.activities);
  const workflowId = `${name}:${newId()}`;
  if (scenario.update) await ask(worker.client, { name, workflowId, input: scenario.input, update: scenario.update });
  const handle = scenario.update ? null : await worker.start(name, scenario.input, workflowId);
  if (handle) await scenario.meanwhile?.(handle);
  const first = worker.client.workflow.getHandle(workflowId, handle?.firstExecutionRunId, { followRuns: false });
  // A run that failed, was cancelled or continued as new is recorded like any other.
  await first.result().catch(() => {});
  const history = await first.fetchHistory();
  const latest = worker.client.workflow.getHandle(workflowId);
  if ((await latest.describe()).status.name === 'RUNNING') await latest.terminate('recorded');
  return history;
}

async function ask<N extends WorkflowName>(
  client: Client,
  { name, workflowId, input, update }: { name: N; workflowId: string; input: WorkflowInputs[N]; update: string },
): Promise<void> {
  const startWorkflowOperation = new WithStartWorkflowOperation(name, {
    workflowId,
    taskQueue: taskQueues.workflows,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  await client.workflow.executeUpdateWithStart(update, { updateId: update, startWorkflowOperation });
}
