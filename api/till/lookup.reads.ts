// Finds the member whose card a till has read, among those of the programs that the reader may read.

import type { z } from 'zod';
import { withoutDue } from '../../activities/members/expireDue.writes.js';
import { cachedProgram, programKeyIn } from '../../activities/programs/program.reads.js';
import type { Deps } from '../../platform/deps.js';
import { permissionDenied } from '../../schemas/access/permissions.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { rewardStates } from '../../schemas/points/rewards.rules.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { programIdOf } from '../../schemas/shared/ids.js';
import { firstCharacters, readCode } from '../../schemas/shared/text.js';
import { type LookupBy, lookupBy } from '../../schemas/till/readers.schema.js';
import type { candidate, lookupRequest, lookupResult } from '../../schemas/till/till.schema.js';
import { tierNow } from '../../schemas/wallets/passes.view.js';
import type { Caller } from '../http/caller.reads.js';
import { membersByCode } from '../members/members.reads.js';
import { searchMembers } from '../members/searchMembers.reads.js';

type Till = Pick<Caller, 'merchantId' | 'permissions' | 'reader'>;

/** A scanner may leave out the leading 0 of an EAN-13. */
const withLeadingZero = (code: string): string[] => (/^\d{12}$/.test(readCode(code)) ? [`0${readCode(code)}`] : []);

async function byCode(deps: Deps, { merchantId }: Till, code: string): Promise<MemberRow[]> {
  const found = await Promise.all(
    [code, ...withLeadingZero(code)].map((each) => membersByCode(deps, { merchantId, code: each })),
  );
  const members = [...new Map(found.flat().map((member) => [member._id, member])).values()];
  return members.sort((a, b) => a.createdAt.getTime() - b.createdAt.getTime());
}

/** By what a caller may find people without their cards. */
export function lookupByOf({ reader, permissions }: Till): LookupBy[] {
  if (reader) return reader.lookupBy ?? [];
  return permissions.has('merchants.members:view') ? [...lookupBy.options] : [];
}

const shownCandidates = 10;

/** Throws MEMBER_NOT_FOUND, CODE_AMBIGUOUS. */
async function onlyOne(
  deps: Deps,
  found: readonly MemberRow[],
  { till, programId }: { till: Till; programId: string | undefined },
): Promise<MemberRow> {
  const wanted = await programKeyIn(deps, { merchantId: till.merchantId, programId });
  const allowed = found.filter(
    (member) =>
      (till.reader?.programIds?.includes(member.programId) ?? true) &&
      (wanted === undefined || member.programId === wanted),
  );
  const [member, another] = allowed;
  if (!member) throw new ServiceError('MEMBER_NOT_FOUND');
  if (another)
    throw new ServiceError('CODE_AMBIGUOUS', { candidates: allowed.slice(0, shownCandidates).map(presentCandidate) });
  return member;
}

/** A tap that may be a repeat: the ids of the entries that it would write, and the fingerprint of its request. */
export interface Repeatable {
  entryId: (memberId: string) => string;
  fingerprint: string;
}

/** The member whom the same request has changed before, also when its code has come to mean other members. */
async function changedBefore(
  deps: Deps,
  found: readonly MemberRow[],
  { till, tap }: { till: Till; tap: Repeatable | undefined },
): Promise<MemberRow | undefined> {
  const isClear = found.length < 2 && !till.reader?.programIds;
  if (!tap || isClear) return undefined;
  const _id = { $in: found.map((member) => tap.entryId(member._id)) };
  const { merchantId } = till;
  const entry = await deps.collections.ledger.findOne({ _id, merchantId, fingerprint: tap.fingerprint });
  return found.find((member) => member._id === entry?.memberId);
}

/** Throws MEMBER_NOT_FOUND, CODE_AMBIGUOUS. */
export async function memberAtTill(
  deps: Deps,
  till: Till,
  { memberCode, programId, tap }: { memberCode: string; programId?: string | undefined; tap?: Repeatable | undefined },
): Promise<MemberRow> {
  const found = await byCode(deps, till, memberCode);
  return (await changedBefore(deps, found, { till, tap })) ?? (await onlyOne(deps, found, { till, programId }));
}

/** Throws MEMBER_NOT_FOUND, CODE_AMBIGUOUS, PERMISSION_DENIED. */
export async function lookUp(
  deps: Deps,
  till: Till,
  { memberCode, externalId, phone, email, programId }: z.output<typeof lookupRequest>,
): Promise<{ member: MemberRow; code: string | undefined }> {
  const code = memberCode ?? externalId;
  if (code !== undefined) return { member: await memberAtTill(deps, till, { memberCode: code, programId }), code };
  const by = phone === undefined ? 'email' : 'phone';
  if (!lookupByOf(till).includes(by)) throw permissionDenied(['merchants.members:view']);
  const { items } = await searchMembers(deps, {
    merchantId: till.merchantId,
    page: 1,
    pageSize: 100,
    ...(phone !== undefined && { phone }),
    ...(email !== undefined && { email }),
  });
  return { member: await onlyOne(deps, items, { till, programId }), code };
}

const presentPerson = ({ memberCode, firstName, lastName }: MemberRow) => ({
  memberCode,
  firstName: firstName ?? null,
  lastInitial: lastName === undefined ? null : firstCharacters(lastName, 1),
});

const presentCandidate = (member: MemberRow): z.input<typeof candidate> => ({
  ...presentPerson(member),
  programId: programIdOf(member.programId),
});

/** What a cashier may see of a member, after what was due has expired. */
export async function presentAtTill(deps: Deps, found: MemberRow): Promise<z.input<typeof lookupResult>> {
  const [member = found] = await withoutDue(deps, [found]);
  const program = await cachedProgram(deps, member);
  return {
    ...presentPerson(member),
    balance: member.balance,
    tier: tierNow({ member, program }) ?? null,
    rewards: rewardStates(program, member.balance).flatMap(({ id, name, cost, ready }) =>
      ready ? [{ id, name, cost }] : [],
    ),
    status: member.status,
  };
}
