// Sends the automatic message of a rule when its day is due. The campaign of a day has an id of its own, so a repeated
// call, a reset or a second workflow starts it once; the rule is moved to its next day after that. A campaign that was
// stored and not started is found by reviveBatches.
import type { Deps } from '../../platform/deps.js';
import { isRetryable } from '../../platform/mongodb/conflicts.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { Transaction } from '../../platform/mongodb/transaction.js';
import { daysDue, nextHour } from '../../schemas/batches/automaticMessages.rules.js';
import type { AutomaticMessageRow } from '../../schemas/batches/batches.rows.js';
import { newBatchRow } from '../../schemas/batches/newBatch.rules.js';
import { automaticCampaignId, campaignId } from '../../schemas/shared/ids.js';
import type { RuleProgress, SendAutomaticMessages } from '../../schemas/tables/workflows.js';
import { suspensions } from '../access/merchants.reads.js';
import { requireActiveMerchant } from '../access/suspended.reads.js';
import { cachedProgram } from '../programs/program.reads.js';
import { hasUntold } from './automaticMessages.reads.js';
import { insertBatch } from './insertBatch.writes.js';
import { type StartBatchDeps, startStored } from './startBatch.effect.js';
import { wakeRule } from './wakeRule.effect.js';

/** How long after its hour the workflow of a rule counts as lost. */
const lateMs = 60_000;
/** When a rule that was woken is looked at again. */
const againMs = 600_000;
const mostOfCall = 200;

/** The rule was changed since it was read; nothing of what it said then may be sent. */
class RuleChanged extends Error {
  override readonly name = 'RuleChanged';
}

const isAgain = (error: unknown): boolean => error instanceof RuleChanged || isRetryable(error);

/** Throws ApplicationFailure MERCHANT_SUSPENDED. */
export async function runAutomaticRule(
  deps: StartBatchDeps,
  { merchantId, ruleId: _id }: SendAutomaticMessages,
): Promise<RuleProgress> {
  const work = async (): Promise<RuleProgress> => {
    const rule = await deps.collections.automaticMessages.findOne({ _id, merchantId });
    if (!rule) return {};
    if (!rule.on || !rule.dueAt) {
      await moveRule(deps, rule, { $unset: { checkAt: '' } });
      return {};
    }
    await requireActiveMerchant(deps, rule);
    const program = await cachedProgram(deps, rule);
    const { timeZone: zone = 'UTC', archived } = program;
    const now = deps.now();
    const { day, skipped } = archived ? {} : daysDue(rule, zone, now);
    const { sent, version }: SentOfDay = day === undefined ? rule : await sendOfDay(deps, rule, day);
    if (skipped !== undefined) deps.log.warn({ ruleId: _id, day: skipped }, 'the day of an automatic message passed');
    const dueAt = now < rule.dueAt ? rule.dueAt : nextHour(zone, rule.hour, now);
    const checkAt = new Date(dueAt.getTime() + lateMs);
    const moved = { dueAt, checkAt, ...(day !== undefined && { lastDay: day }) };
    await moveRule(deps, { ...rule, version }, { $set: moved });
    const news = [
      skipped !== undefined && `${skipped} was skipped: it was over before a worker came to it.`,
      day !== undefined && `${day}: ${sent ?? 'nobody to write to'}.`,
      `Waits until ${dueAt.toISOString()}.`,
    ];
    return { nextAt: dueAt.getTime(), said: news.filter(Boolean).join(' ') };
  };
  return retryOnConflict(deps, work, isAgain);
}

/** Changes the rule as it was read, and no other version of it. */
const changeOf = (deps: Deps, { _id, merchantId, version }: AutomaticMessageRow, change: object = {}): Transaction => ({
  statements: [update(deps, 'automaticMessages', { _id, merchantId, version }, { ...change, $inc: { version: 1 } })],
  expectedMatches: 1,
});

function moveRule(deps: Deps, rule: AutomaticMessageRow, change: object): Promise<void> {
  const { statements, expectedMatches } = changeOf(deps, rule, change);
  return transact(deps, statements, expectedMatches);
}

interface SentOfDay {
  /** The workflow id of the campaign; undefined when it would reach no member. */
  sent?: string;
  /** Of the rule from now on. */
  version: number;
}

/**
 * The campaign is stored only while the rule is as it was read: counting whom it reaches may take a while, and the
 * merchant may switch it off then. Throws RATE_LIMITED and RuleChanged.
 */
async function sendOfDay(deps: StartBatchDeps, rule: AutomaticMessageRow, day: string): Promise<SentOfDay> {
  const { _id: ruleId, merchantId, programId, audience, message = '', updatedBy: startedBy, version } = rule;
  const rules = deps.collections.automaticMessages;
  const _id = automaticCampaignId(ruleId, day);
  const known = await deps.collections.batches.findOne({ _id, merchantId });
  if (!known && !(await hasUntold(deps, { merchantId, programId, audience }))) return { version };
  const row = newBatchRow(deps, {
    ...{ _id, merchantId, kind: 'campaign', programId, startedBy, automatic: true },
    campaign: { message, tags: [], audience },
  });
  const also = async () => {
    const isSame = await rules.countDocuments({ _id: ruleId, merchantId, version }, { limit: 1 });
    if (isSame === 0) throw new RuleChanged();
    return changeOf(deps, rule);
  };
  const batch = known ?? (await insertBatch(deps, row, { also }));
  await startStored(deps, { batch, summary: `automatic message of ${programId}: ${audience}, ${day}` });
  return { sent: campaignId(_id), version: batch === row ? version + 1 : version };
}

export const rulesToWake = ({ now }: Pick<Deps, 'now'>) => ({ checkAt: { $lte: now() } });

/** Wakes rules whose workflow may be lost, or may not know of a change. Those of suspended merchants wait. */
export async function reviveRules(deps: StartBatchDeps): Promise<number> {
  const { automaticMessages } = deps.collections;
  const due = await automaticMessages.find(rulesToWake(deps)).sort({ checkAt: 1 }).limit(mostOfCall).toArray();
  const suspended = await suspensions(deps);
  let woken = 0;
  for (const rule of due) {
    const { _id, merchantId, checkAt } = rule;
    if (!checkAt) continue;
    // When Temporal does not take one, the others are tried at the next look.
    if (!suspended.has(merchantId) && !(await wakeRule(deps, rule))) break;
    const later = new Date(deps.now().getTime() + againMs);
    await automaticMessages.updateOne({ _id, checkAt }, { $set: { checkAt: later } });
    woken += 1;
  }
  return woken;
}
