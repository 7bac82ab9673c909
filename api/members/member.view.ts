// Members as callers see them. Only the fields listed here leave the service, so that no other stored field can leak.

import type { z } from 'zod';
import type { ChangeFacts } from '../../activities/members/change.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { member, memberDetail, memberWithProgram } from '../../schemas/members/members.schema.js';
import { expiringNext } from '../../schemas/points/expiry.rules.js';
import type { memberBalance } from '../../schemas/points/ledger.schema.js';
import { rewardStates } from '../../schemas/points/rewards.rules.js';
import { fieldOf, type Program } from '../../schemas/programs/programs.schema.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import { passUrlOf, tierNow } from '../../schemas/wallets/passes.view.js';
import { modesOf } from '../../schemas/wallets/walletModes.rules.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { presentSnapshot, presentSummary } from '../programs/program.view.js';

type PresenterDeps = Pick<ApiDeps, 'config' | 'walletModes'>;

export function presentMember(
  deps: PresenterDeps,
  { member: row, program }: { member: MemberRow; program: Program },
): z.input<typeof member> {
  const { firstName, lastName, email, phone, externalId } = row;
  const tier = tierNow({ member: row, program });
  const modes = modesOf(deps.walletModes, program);
  return {
    id: row._id,
    memberCode: row.memberCode,
    serialNumber: row.serialNumber,
    programId: programIdOf(row.programId),
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    ...(externalId !== undefined && { externalId }),
    fieldValues: { [fieldOf(program)]: row.balance },
    balance: row.balance,
    ...(tier !== undefined && { tier }),
    tags: row.tags,
    status: row.status,
    apple: { passUrl: passUrlOf(deps, row), mode: modes.apple },
    google: { mode: modes.google, ...(row.pass.googleSaveUrl && { saveUrl: row.pass.googleSaveUrl }) },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export function presentMemberWithProgram(
  deps: PresenterDeps,
  pair: { member: MemberRow; program: Program },
): z.input<typeof memberWithProgram> {
  return { ...presentMember(deps, pair), program: presentSummary(pair.program) };
}

export function presentMemberDetail(
  deps: PresenterDeps,
  pair: { member: MemberRow; program: Program },
): z.input<typeof memberDetail> {
  const { deviceCount, redeemedCount, balance, consent } = pair.member;
  return {
    ...presentMember(deps, pair),
    program: presentSnapshot(pair.program),
    deviceCount,
    redeemedCount,
    rewards: rewardStates(pair.program, balance),
    expiring: presentExpiring(pair),
    ...(consent && { consent: { ...consent, at: consent.at.toISOString() } }),
  };
}

export const presentExpiring = ({ member, program }: { member: MemberRow; program: Program }) =>
  expiringNext(program, member).map(({ points, at }) => ({ points, at: at.toISOString() }));

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
