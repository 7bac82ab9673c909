// Members as callers see them. Only the fields listed here leave the service, so that no other stored field can leak.

import type { z } from 'zod';
import type { ChangeFacts } from '../../activities/members/change.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { member, memberDetail, type memberWithProgram } from '../../schemas/members/members.schema.js';
import { expiringNext } from '../../schemas/points/expiry.rules.js';
import type { memberBalance } from '../../schemas/points/ledger.schema.js';
import { rewardStates } from '../../schemas/points/rewards.rules.js';
import { fieldOf, type Program } from '../../schemas/programs/programs.schema.js';
import { shown } from '../../schemas/shared/answers.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import { passUrlOf, tierNow } from '../../schemas/wallets/passes.view.js';
import { modesOf } from '../../schemas/wallets/walletModes.rules.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { presentSnapshot, presentSummary } from '../programs/program.view.js';

type PresenterDeps = Pick<ApiDeps, 'config' | 'walletModes'>;

interface Pair {
  member: MemberRow;
  program: Program;
}

export function presentMember(deps: PresenterDeps, { member: row, program }: Pair) {
  const modes = modesOf(deps.walletModes, program);
  return shown(member, row, {
    programId: programIdOf(row.programId),
    fieldValues: { [fieldOf(program)]: row.balance },
    tier: tierNow({ member: row, program }),
    apple: { passUrl: passUrlOf(deps, row), mode: modes.apple },
    google: { mode: modes.google, saveUrl: row.pass.googleSaveUrl || undefined },
  });
}

export const presentMemberWithProgram = (deps: PresenterDeps, pair: Pair): z.input<typeof memberWithProgram> => ({
  ...presentMember(deps, pair),
  program: presentSummary(pair.program),
  ...(pair.member.lastVisitAt && { lastVisitAt: pair.member.lastVisitAt.toISOString() }),
});

export const presentMemberDetail = (deps: PresenterDeps, pair: Pair) =>
  shown(memberDetail, pair.member, {
    ...presentMember(deps, pair),
    program: presentSnapshot(pair.program),
    rewards: rewardStates(pair.program, pair.member.balance),
    expiring: expiringNext(pair.program, pair.member),
  });

/** The member in an answer about a balance (docs/interface.md#25-points-and-redeem-result). */
export function presentBalance(
  facts: Pick<ChangeFacts, 'memberId' | 'memberCode' | 'field' | 'current'>,
): z.input<typeof memberBalance> {
  return {
    id: facts.memberId,
    memberCode: facts.memberCode,
    fieldValues: { [facts.field]: facts.current },
    balance: facts.current,
  };
}
