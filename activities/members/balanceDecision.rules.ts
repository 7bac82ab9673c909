// What a change of a balance writes: the member, its ledger entry, and the data of its event.

import { balanceChange } from '../../schemas/events/events.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { BalanceChange } from '../../schemas/points/balance.rules.js';
import { lotsAfter, rowOf } from '../../schemas/points/expiry.rules.js';
import { effectOf } from '../../schemas/points/ledgerEffect.rules.js';
import type { LotsAfter } from '../../schemas/points/lots.rules.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { tierNow } from '../../schemas/wallets/passes.view.js';
import type { Decision } from './decision.schema.js';

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
export const balanceEvent = (member: MemberRow, change: BalanceChange, entry: Balanced['entry']) =>
  shown(
    balanceChange,
    { ...entry, field: member.field, ...change },
    { changeMessage: entry.changeMessage || undefined },
  );

export const messageOf = ({ changeMessage }: { changeMessage?: string | undefined }) =>
  changeMessage === undefined ? {} : { changeMessage };
