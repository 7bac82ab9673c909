// The only way a member leaves the service: a pick list, so that nothing stored beside it can leak.

import type { z } from 'zod';
import type { GestureFacts } from '../../activities/changeMember.js';
import { modesOf } from '../../activities/walletModes.js';
import type { MemberRow } from '../../schemas/collections.js';
import type { member, memberBalance, memberDetail, memberWithProgram } from '../../schemas/members.js';
import type { Program } from '../../schemas/programs.js';
import type { ApiDeps } from '../apiDeps.js';
import { presentSnapshot, presentSummary } from './program.js';

type Deps = Pick<ApiDeps, 'config' | 'walletModes'>;

export function presentMember(
  deps: Deps,
  { member: row, program }: { member: MemberRow; program: Program },
): z.input<typeof member> {
  const { firstName, lastName, email, phone, tier } = row;
  const modes = modesOf(deps.walletModes, program);
  return {
    id: row._id,
    memberCode: row.memberCode,
    serialNumber: row.serialNumber,
    programId: row.programId,
    ...(firstName !== undefined && { firstName }),
    ...(lastName !== undefined && { lastName }),
    ...(email !== undefined && { email }),
    ...(phone !== undefined && { phone }),
    fieldValues: { [row.field]: row.balance },
    ...(tier !== undefined && { tier }),
    tags: row.tags,
    status: row.status,
    apple: { passUrl: row.pass.appleIssuedAt ? passUrlOf(deps, row) : '', mode: modes.apple },
    google: { mode: modes.google, ...(row.pass.googleSaveUrl && { saveUrl: row.pass.googleSaveUrl }) },
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

export const passUrlOf = (deps: Pick<ApiDeps, 'config'>, row: Pick<MemberRow, 'pass'>): string =>
  `${deps.config.PUBLIC_URL}/passes/${row.pass.token}`;

export function presentMemberWithProgram(
  deps: Deps,
  pair: { member: MemberRow; program: Program },
): z.input<typeof memberWithProgram> {
  return { ...presentMember(deps, pair), program: presentSummary(pair.program) };
}

export function presentMemberDetail(
  deps: Deps,
  pair: { member: MemberRow; program: Program },
): z.input<typeof memberDetail> {
  const { deviceCount, redeemedCount } = pair.member;
  return { ...presentMember(deps, pair), program: presentSnapshot(pair.program), deviceCount, redeemedCount };
}

/** interface 2.5: what an answer about a balance shows of its member. */
export function presentBalance(
  facts: Pick<GestureFacts, 'memberId' | 'memberCode' | 'field' | 'current'>,
): z.input<typeof memberBalance> {
  return { id: facts.memberId, memberCode: facts.memberCode, fieldValues: { [facts.field]: facts.current } };
}
