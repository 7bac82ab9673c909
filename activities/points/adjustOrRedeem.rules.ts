// Decides what a points change and a redemption do to a member. The arithmetic is in schemas/points/balance.rules.ts;
// earn.rules.ts and reverse.rules.ts decide earnings and reversals.
import type { z } from 'zod';
import type { Actor } from '../../schemas/access/actor.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { adjust, redeem } from '../../schemas/points/balance.rules.js';
import type { pointsRequest, redeemRequest, SaleFacts } from '../../schemas/points/changes.schema.js';
import { rewardOf, rewardStates } from '../../schemas/points/rewards.rules.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { balanceDecision, balanceEvent, messageOf } from '../members/balanceDecision.rules.js';
import type { Decision } from '../members/decision.schema.js';

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
    throw new ServiceError('VALIDATION_FAILED', [{ path: 'occurredAt', message }], undefined, { occurredAt: told });
  }
  const at = told && ageMs < 0 ? now : told;
  return {
    ...(reference !== undefined && { reference }),
    ...(location !== undefined && { location }),
    ...(at && { occurredAt: at }),
  };
}

/** Throws MEMBER_NOT_ACTIVE, STAMP_DELTA_ONLY, CARD_FULL, VALIDATION_FAILED. */
export function pointsRule(body: z.output<typeof pointsRequest>, { actor, now }: Asked) {
  return (member: MemberRow, program: Program): Decision => {
    const { delta, value } = body;
    const change = adjust(program, member, delta === undefined ? { value: value ?? 0 } : { delta });
    const corrects = delta === undefined || delta < 0;
    const entry = {
      type: 'adjust' as const,
      actor,
      ...saleOf(body, now),
      ...messageOf(body),
      ...(corrects && { correction: true as const }),
    };
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
