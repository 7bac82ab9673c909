// The rules of changes of a balance: points and redeem. Each is a pure decision; the arithmetic is in
// schemas/points/balance.rules.ts. Earnings are in earnRules.ts, reversals in reversalRules.ts.
import type { z } from 'zod';
import type { Actor, pointsRequest, redeemRequest, SaleFacts } from '../../schemas/members/members.schema.js';
import { adjust, type BalanceChange, redeem } from '../../schemas/points/balance.rules.js';
import { lotsAfter, rowOf } from '../../schemas/points/expiry.rules.js';
import { effectOf } from '../../schemas/points/ledger.schema.js';
import type { LotsAfter } from '../../schemas/points/lots.rules.js';
import { rewardOf, rewardStates } from '../../schemas/points/rewards.rules.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { LedgerRow, MemberRow } from '../../schemas/tables/collections.js';
import type { Decision } from '../members/decision.schema.js';
import { tierNow } from '../wallets/passes.view.js';

/** The caller and the time of the change. */
export interface Asked {
  actor: Actor;
  now: Date;
}

const maxAgeMs = 72 * 3_600_000;
/** The clock of a till is not that of the service. */
const maxAheadMs = 5 * 60_000;

/**
 * When the sale took place, according to the caller; a time slightly ahead is `now`. Throws VALIDATION_FAILED for a
 * time further ahead or too far in the past.
 */
export function saleOf({ reference, location, occurredAt }: SaleFacts, now: Date) {
  const told = occurredAt === undefined ? undefined : new Date(occurredAt);
  const ageMs = told ? now.getTime() - told.getTime() : 0;
  if (ageMs < -maxAheadMs || ageMs > maxAgeMs) {
    const message =
      ageMs < 0
        ? 'must be at most 5 minutes ahead of the clock of the service'
        : 'must be at most 72 hours before the clock of the service';
    throw new ServiceError('VALIDATION_FAILED', [{ path: 'occurredAt', message }]);
  }
  const at = told && ageMs < 0 ? now : told;
  return {
    ...(reference !== undefined && { reference }),
    ...(location !== undefined && { location }),
    ...(at && { occurredAt: at }),
  };
}

const tiersOf = ({ tier, previousTier }: BalanceChange) => ({
  ...(tier !== undefined && { tier }),
  ...(previousTier !== undefined && { previousTier }),
});

type Entry = NonNullable<Decision['ledger']>;

interface Balanced {
  change: BalanceChange;
  program: Program;
  /** The fields of the ledger entry that follow from the request. */
  entry: Pick<Entry, 'type' | 'actor'> & Partial<Entry>;
  redeemedCount?: number;
  now: Date;
  /** Only for a reversal: the row that it reverses. */
  reversed?: LedgerRow;
  /** Only for an expiry, which selects the lots itself. */
  lots?: LotsAfter;
}

/** The writes of a change of a balance. */
export function balanceDecision(
  member: MemberRow,
  { change, program, entry, redeemedCount = member.redeemedCount, now, reversed, lots: given }: Balanced,
): Omit<Decision, 'event'> {
  const { previous, current, delta, lifetimePoints, tier } = change;
  const { changeMessage: message, ...facts } = entry;
  const before = { balance: previous, lifetimePoints: member.lifetimePoints, tier: tierNow({ member, program }) };
  const at = entry.occurredAt ?? now;
  const lots =
    given ??
    lotsAfter(program, member, { current, delta, version: member.version + 1, at, ...(reversed && { reversed }) });
  return {
    set: {
      balance: current,
      lifetimePoints,
      ...(tier !== undefined && { tier }),
      programVersion: versionOf(program),
      ledgerCount: member.ledgerCount + 1,
      ...(redeemedCount !== member.redeemedCount && { redeemedCount }),
      ...(lots && { expiry: rowOf(program, member._id, lots.lots) }),
    },
    unset: [
      ...(tier === undefined && member.tier !== undefined ? (['tier'] as const) : []),
      ...(!lots && member.expiry ? (['expiry'] as const) : []),
    ],
    push: true,
    message: message || undefined,
    ledger: {
      field: member.field,
      previous,
      current,
      delta,
      ...tiersOf(change),
      ...(message && { changeMessage: message }),
      effect: effectOf(program, before, { lifetimePoints, redeemedCount: redeemedCount - member.redeemedCount }),
      rule: { programVersion: versionOf(program) },
      ...(lots && lots.changes.length > 0 && { lots: lots.changes }),
      ...facts,
    },
  };
}

/** Fields of the change's event in addition to `delta` or `goal`. */
export function balanceEvent(
  member: MemberRow,
  change: BalanceChange,
  { changeMessage, amount, currency, reference, location, occurredAt }: Partial<LedgerRow>,
) {
  const { previous, current, tierUpgraded } = change;
  return {
    field: member.field,
    previous,
    current,
    ...tiersOf(change),
    ...(tierUpgraded !== undefined && { tierUpgraded }),
    ...(changeMessage && { changeMessage }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(reference !== undefined && { reference }),
    ...(location !== undefined && { location }),
    ...(occurredAt && { occurredAt: occurredAt.toISOString() }),
  };
}

export const messageOf = ({ changeMessage }: { changeMessage?: string | undefined }) =>
  changeMessage === undefined ? {} : { changeMessage };

/** Throws MEMBER_NOT_ACTIVE, STAMP_DELTA_ONLY, CARD_FULL, VALIDATION_FAILED. */
export function pointsRule(body: z.output<typeof pointsRequest>, { actor, now }: Asked) {
  return (member: MemberRow, program: Program): Decision => {
    const { delta, value } = body;
    const entry = { type: 'adjust' as const, actor, ...saleOf(body, now), ...messageOf(body) };
    const change = adjust(program, member, delta === undefined ? { value: value ?? 0 } : { delta });
    return {
      ...balanceDecision(member, { change, program, entry, now }),
      event: { type: 'points.changed', data: { ...balanceEvent(member, change, entry), delta: change.delta } },
    };
  };
}

/** Throws MEMBER_NOT_ACTIVE, REWARD_NOT_CONFIGURED, REWARD_NOT_FOUND, CARD_NOT_FULL, BALANCE_TOO_LOW, VALIDATION_FAILED. */
export function redeemRule(body: z.output<typeof redeemRequest>, { actor, now }: Asked) {
  return (member: MemberRow, program: Program): Decision => {
    const sale = saleOf(body ?? {}, now);
    const reward = rewardOf(program, body?.rewardId);
    const named = rewardStates(program, member.balance).find(({ id }) => id === body?.rewardId);
    const entry = {
      type: 'redeem' as const,
      actor,
      ...sale,
      ...messageOf(body ?? {}),
      ...(named && { rewardId: named.id }),
    };
    const change = redeem(program, member, reward);
    return {
      ...balanceDecision(member, { change, program, entry, redeemedCount: member.redeemedCount + 1, now }),
      timeline: { type: 'reward_redeemed', ...(named && { detail: named.name }) },
      event: {
        type: 'reward.redeemed',
        data: {
          ...balanceEvent(member, change, entry),
          goal: change.goal,
          ...(named && { rewardId: named.id, rewardName: named.name }),
        },
      },
    };
  };
}
