// The rule of an earning. Its limits are checked against the ledger
// (docs/decisions/ledger-entries-store-their-effect.md); the arithmetic is in schemas/points/earning.rules.ts.
import type { z } from 'zod';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { award } from '../../schemas/points/balance.rules.js';
import type { earnRequest } from '../../schemas/points/changes.schema.js';
import { type Earned, pointsOf, requireCooledDown, requireWithinDay } from '../../schemas/points/earning.rules.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { calendarDay } from '../../schemas/shared/calendar.rules.js';
import { balanceDecision, balanceEvent, messageOf } from '../members/balanceDecision.rules.js';
import type { Decision } from '../members/decision.schema.js';
import { type Asked, saleOf } from './adjustOrRedeem.rules.js';

/** Reads a member's earnings from the ledger. Reversed earnings do not count. */
export interface EarnedReader {
  /** The sum of the earnings from `from` on and before `to`. */
  between: (memberId: string, span: { from: Date; to: Date }) => Promise<Earned[]>;
  /** The latest earning after `after` and before `before`. */
  latest: (memberId: string, span: { after: Date; before: Date }) => Promise<Earned | undefined>;
}

/** A concurrent earning changes the member's version, so that this decision is made again. */
async function requireWithinLimits(
  reader: EarnedReader,
  {
    memberId,
    program,
    soldAt,
    awarded,
    occurredAt,
  }: { memberId: string; program: Program; soldAt: Date; awarded: number; occurredAt: Date | undefined },
): Promise<void> {
  const { cooldownSeconds = 0, dailyLimit } = program.earn ?? {};
  if (cooldownSeconds > 0) {
    const at = (sign: number) => new Date(soldAt.getTime() + sign * cooldownSeconds * 1_000);
    const near = await reader.latest(memberId, { after: at(-1), before: at(1) });
    requireCooledDown(cooldownSeconds, near?.soldAt, { occurredAt });
  }
  if (dailyLimit === undefined) return;
  const day = calendarDay(program.timeZone ?? 'UTC', soldAt);
  const earned = await reader.between(memberId, { from: day.start, to: day.end });
  requireWithinDay(dailyLimit, { awarded, earned, dayEnd: day.end, occurredAt });
}

/**
 * Throws MEMBER_NOT_ACTIVE, EARNING_NOT_CONFIGURED, CURRENCY_MISMATCH, CARD_FULL, EARN_LIMIT_REACHED,
 * VALIDATION_FAILED.
 */
export function earnRule(body: z.output<typeof earnRequest>, { actor, now, reader }: Asked & { reader: EarnedReader }) {
  return async (member: MemberRow, program: Program): Promise<Decision> => {
    const sale = saleOf(body, now);
    const change = award(program, member, pointsOf(program, body));
    const soldAt = sale.occurredAt ?? now;
    await requireWithinLimits(reader, {
      ...{ memberId: member._id, program, soldAt, awarded: change.delta },
      occurredAt: sale.occurredAt,
    });
    const currency = body.currency ?? program.earn?.currency;
    const entry = {
      type: 'earn' as const,
      actor,
      ...sale,
      ...messageOf(body),
      ...(body.amount !== undefined && { amount: body.amount, ...(currency !== undefined && { currency }) }),
      earning: { memberId: member._id, soldAt },
    };
    return {
      ...balanceDecision(member, { change, program, entry, now }),
      event: { type: 'points.changed', data: { ...balanceEvent(member, change, entry), delta: change.delta } },
    };
  };
}
