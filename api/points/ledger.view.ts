// Ledger entries, and what explains a balance, as callers see them (docs/interface.md#28-ledger-entry).
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { expiringNext, lotsOf } from '../../schemas/points/expiry.rules.js';
import { balanceExplained, transaction } from '../../schemas/points/ledger.schema.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { rewardStates } from '../../schemas/points/rewards.rules.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { nextTierOf, tierNow } from '../../schemas/wallets/passes.view.js';

export const presentTransaction = (row: LedgerRow) => shown(transaction, row);

export const presentExplanation = (pair: { member: MemberRow; program: Program }, asOf: Date) =>
  shown(balanceExplained, pair.member, {
    tier: tierNow(pair),
    next: nextTierOf(pair),
    rewards: rewardStates(pair.program, pair.member.balance),
    expiring: expiringNext(pair.program, pair.member),
    lots: lotsOf(pair.program, pair.member),
    entries: pair.member.ledgerCount,
    asOf,
  });
