// Ledger entries, and what explains a balance, as callers see them (docs/interface.md#28-ledger-entry).
import type { z } from 'zod';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { lotsOf } from '../../schemas/points/expiry.rules.js';
import { type balanceExplained, entryFacts, type transaction } from '../../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { rewardStates } from '../../schemas/points/rewards.rules.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { nextTierOf, tierNow } from '../../schemas/wallets/passes.view.js';
import { presentExpiring } from '../members/member.view.js';

const factNames = Object.keys(entryFacts.shape) as (keyof typeof entryFacts.shape)[];

export function presentTransaction(row: LedgerRow): z.input<typeof transaction> {
  const known = factNames.filter((name) => row[name] !== undefined).map((name) => [name, row[name]]);
  const facts: z.input<typeof entryFacts> = Object.fromEntries(known);
  const { _id: id, occurredAt, createdAt } = row;
  return {
    id,
    ...facts,
    ...(occurredAt && { occurredAt: occurredAt.toISOString() }),
    createdAt: createdAt.toISOString(),
  };
}

export function presentExplanation(
  pair: { member: MemberRow; program: Program },
  asOf: Date,
): z.input<typeof balanceExplained> {
  const { balance, lifetimePoints, ledgerCount } = pair.member;
  return {
    balance,
    lifetimePoints,
    tier: tierNow(pair) ?? null,
    next: nextTierOf(pair) ?? null,
    rewards: rewardStates(pair.program, balance),
    expiring: presentExpiring(pair),
    lots: lotsOf(pair.program, pair.member).map(({ points, left, at }) => ({ points, left, at: at.toISOString() })),
    entries: ledgerCount,
    asOf: asOf.toISOString(),
  };
}
