// The member rules: what each change does to a member, as pure decisions. The arithmetic is in schemas/balance.ts, and
// changeMember.ts writes the decisions. A decision of null means that nothing changes and no event is written.
import type { z } from 'zod';
import { adjust, type BalanceChange, redeem } from '../../schemas/balance.js';
import type { MemberRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import type { EventData } from '../../schemas/events.js';
import { newToken } from '../../schemas/ids.js';
import {
  type Actor,
  type MemberStatus,
  maxTags,
  type pointsRequest,
  type redeemRequest,
} from '../../schemas/members.js';
import type { Program } from '../../schemas/programs.js';
import type { Decision } from './decision.js';

interface Balanced {
  type: 'adjust' | 'redeem';
  change: BalanceChange;
  changeMessage: string | undefined;
  actor: Actor;
}

const tiersOf = ({ tier, previousTier }: BalanceChange) => ({
  ...(tier !== undefined && { tier }),
  ...(previousTier !== undefined && { previousTier }),
});

function balanceDecision(member: MemberRow, { type, change, changeMessage, actor }: Balanced): Omit<Decision, 'event'> {
  const { previous, current, delta, lifetimePoints, tier } = change;
  const message = changeMessage === '' ? undefined : changeMessage;
  return {
    set: {
      balance: current,
      lifetimePoints,
      ...(tier !== undefined && { tier }),
      ledgerCount: member.ledgerCount + 1,
      ...(type === 'redeem' && { redeemedCount: member.redeemedCount + 1 }),
    },
    ...(tier === undefined && member.tier !== undefined && { unset: ['tier' as const] }),
    wallet: true,
    message,
    ledger: {
      type,
      field: member.field,
      previous,
      current,
      delta,
      ...tiersOf(change),
      ...(message !== undefined && { changeMessage: message }),
      actor,
    },
  };
}

function balanceEvent(member: MemberRow, change: BalanceChange, changeMessage: string | undefined) {
  const { previous, current, tierUpgraded } = change;
  return {
    field: member.field,
    previous,
    current,
    ...tiersOf(change),
    ...(tierUpgraded !== undefined && { tierUpgraded }),
    ...(changeMessage && { changeMessage }),
  };
}

/** Throws MEMBER_NOT_ACTIVE, STAMP_DELTA_ONLY, CARD_FULL. */
export function decidePoints(body: z.output<typeof pointsRequest>, actor: Actor) {
  return (member: MemberRow, program: Program): Decision => {
    const { delta, value, changeMessage } = body;
    const change = adjust(program, member, delta === undefined ? { value: value ?? 0 } : { delta });
    return {
      ...balanceDecision(member, { type: 'adjust', change, changeMessage, actor }),
      event: { type: 'points.changed', data: { ...balanceEvent(member, change, changeMessage), delta: change.delta } },
    };
  };
}

/** Throws MEMBER_NOT_ACTIVE, REWARD_NOT_CONFIGURED, CARD_NOT_FULL. */
export function decideRedeem(body: z.output<typeof redeemRequest>, actor: Actor) {
  return (member: MemberRow, program: Program): Decision => {
    const changeMessage = body?.changeMessage;
    const change = redeem(program, member);
    return {
      ...balanceDecision(member, { type: 'redeem', change, changeMessage, actor }),
      timeline: { type: 'reward_redeemed' },
      event: { type: 'reward.redeemed', data: { ...balanceEvent(member, change, changeMessage), goal: change.goal } },
    };
  };
}

type Changed = 'firstName' | 'lastName' | 'email' | 'phone' | 'tags' | 'status';

/** A decision with a `member.updated` event about the fields in `changed`. */
export function memberUpdated(
  member: MemberRow,
  change: {
    changed: Changed[];
    set: Decision['set'];
    wallet: boolean;
    data?: Pick<EventData<'member.updated'>, 'previousStatus' | 'reason'>;
  },
): Decision {
  const { status, tags } = { ...member, ...change.set };
  return {
    set: change.set,
    wallet: change.wallet,
    event: { type: 'member.updated', data: { changed: change.changed, status, tags, ...change.data } },
  };
}

export function decideStatus(status: MemberStatus, reason: string | undefined) {
  return (member: MemberRow): Decision | null => {
    if (member.status === status) return null;
    return memberUpdated(member, {
      changed: ['status'],
      set: { status },
      wallet: true,
      data: { previousStatus: member.status, ...(reason && { reason }) },
    });
  };
}

/** Throws TAG_LIMIT_EXCEEDED. */
export function decideAddTags(tags: readonly string[]) {
  return (member: MemberRow): Decision | null => {
    const all = [...new Set([...member.tags, ...tags])];
    if (all.length === member.tags.length) return null;
    if (all.length > maxTags) throw new ServiceError('TAG_LIMIT_EXCEEDED');
    return memberUpdated(member, { changed: ['tags'], set: { tags: all }, wallet: false });
  };
}

export function decideRemoveTags(tags: readonly string[]) {
  return (member: MemberRow): Decision | null => {
    const left = member.tags.filter((tag) => !tags.includes(tag));
    if (left.length === member.tags.length) return null;
    return memberUpdated(member, { changed: ['tags'], set: { tags: left }, wallet: false });
  };
}

/** Raises only the version of the pass. The wallets are notified; no subscriber gets the event. */
export function decidePush(message?: string) {
  return (): Decision => ({
    set: {},
    wallet: true,
    message,
    event: { type: 'pass.push', data: { ...(message && { changeMessage: message }) } },
  });
}

/** A pass was scanned at the till. `code` is the text that the reader read. */
export function decideScan(code: string, actor: Actor) {
  return (): Decision => ({
    set: {},
    wallet: false,
    timeline: { type: 'pass_scanned', detail: actor.name ?? actor.id },
    event: { type: 'pass.scanned', data: { code, scannedBy: actor.name ?? actor.id } },
  });
}

/**
 * Gives the member's web card a new address. With `replaceToken` also the pass gets a new token: passes on phones get no
 * update any more until they are added again from the new address.
 */
export function decideCardLink({ replaceToken }: { replaceToken: boolean }) {
  return (): Decision => ({
    set: {},
    wallet: false,
    pass: { token: newToken(), ...(replaceToken && { authenticationToken: newToken() }) },
    timeline: { type: replaceToken ? 'pass_token_replaced' : 'card_link_replaced' },
    event: { type: 'pass.push', data: {} },
  });
}
