// Builds the rows of one new member, for a single enrollment and for imports: member, email, search words, first ledger
// row, and the `member.created` event, which is published after the passes were issued.
import type { Deps } from '../../platform/deps.js';
import type { Actor } from '../../schemas/access/actor.schema.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { EmailRow, ExternalIdRow, MemberRow, MemberSearchWordRow } from '../../schemas/members/members.rows.js';
import type { Person } from '../../schemas/members/members.schema.js';
import { searchLevel, searchWords } from '../../schemas/members/searchWords.rules.js';
import { adjust, tierOf } from '../../schemas/points/balance.rules.js';
import { lotsAfter, rowOf } from '../../schemas/points/expiry.rules.js';
import type { LotsAfter } from '../../schemas/points/lots.rules.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { externalIdProblem } from '../../schemas/programs/barcodes.rules.js';
import { fieldOf, type Program, versionOf } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { enrollId, newId, newMemberCode, newToken } from '../../schemas/shared/ids.js';
import { nextModified } from '../../schemas/shared/passUpdate.schema.js';
import { e164 } from '../../schemas/shared/phone.rules.js';
import { codeForm } from '../../schemas/shared/text.js';
import { newMemberEvent } from '../events/newEvent.rules.js';

export interface NewMember {
  program: Program;
  person: Person;
  source: MemberRow['source'];
  attribution: Record<string, string>;
  /** Of the browser in which the person joined. */
  formDigest?: string;
  consent?: NonNullable<MemberRow['consent']>;
  marketing?: NonNullable<MemberRow['marketing']>;
  actor: Actor;
  /** Without `member.created`, and its passes without `pass.created`. */
  quiet?: boolean | undefined;
  /** From `newMemberCodes`; by default a random one. */
  memberCode?: string;
}

export interface NewMemberRows {
  member: MemberRow;
  /**
   * Keeps emails unique in a program: the id consists of program and email, so a second insert of the same email fails.
   */
  email: EmailRow | null;
  /** The same for external ids. */
  externalId: ExternalIdRow | null;
  searchWordRows: MemberSearchWordRow[];
  ledger: LedgerRow | null;
}

export const emailKey = (programId: string, email: string): string => `${programId}:${email}`;

export function emailRow({ _id: memberId, merchantId, programId, memberCode, email }: MemberRow): EmailRow | null {
  return email === undefined ? null : { _id: emailKey(programId, email), merchantId, memberId, memberCode };
}

/** Throws VALIDATION_FAILED when the cards of the program cannot show the external id. */
export function requireShowable({ passTemplate }: Program, externalId: string | undefined): void {
  const message = externalId === undefined ? undefined : externalIdProblem(passTemplate, externalId);
  if (message !== undefined) throw new ServiceError('VALIDATION_FAILED', [{ path: 'externalId', message }]);
}

export const externalIdKey = (programId: string, externalId: string): string => `${programId}:${externalId}`;

export function externalIdRow({ _id: memberId, merchantId, programId, externalId }: MemberRow): ExternalIdRow | null {
  if (externalId === undefined) return null;
  return { _id: externalIdKey(programId, externalId), merchantId, externalId, code: codeForm(externalId), memberId };
}

export function searchWordRows(member: MemberRow): MemberSearchWordRow[] {
  const { _id: memberId, merchantId, programId, createdAt } = member;
  return searchWords(member).map((word) => ({
    _id: `${memberId}:${word}`,
    merchantId,
    word,
    level: searchLevel(memberId),
    memberId,
    programId,
    createdAt,
  }));
}

export function newMemberRows(
  deps: Pick<Deps, 'now'>,
  { memberCode = newMemberCode(), ...given }: NewMember,
): NewMemberRows {
  const { program, person, source, attribution, consent, marketing, formDigest, actor, quiet } = given;
  const now = deps.now();
  const _id = newId();
  const { initialPoints: balance = 0, ...names } = person;
  const phoneE164 = names.phone === undefined ? undefined : e164(names.phone, program.country);
  const field = fieldOf(program);
  const tier = tierOf(program, balance, balance);
  const nothing = { _id, balance: 0 };
  const lots = lotsAfter(program, nothing, { current: balance, delta: balance, version: 1, at: now });
  const member: MemberRow = {
    _id,
    merchantId: program.merchantId,
    programId: program._id,
    memberCode,
    serialNumber: newId(),
    ...names,
    ...(phoneE164 !== undefined && { phoneE164 }),
    field,
    balance,
    lifetimePoints: balance,
    ...(tier !== undefined && { tier }),
    programVersion: versionOf(program),
    tags: [],
    status: 'active',
    version: 1,
    pass: {
      token: newToken(),
      authenticationToken: newToken(),
      tag: now,
      modifiedAt: nextModified(undefined, now),
      messageSequence: 0,
      ...(quiet && { quiet }),
    },
    deviceCount: 0,
    redeemedCount: 0,
    ledgerCount: balance > 0 ? 1 : 0,
    ...(lots && { expiry: rowOf(program, _id, lots.lots) }),
    source,
    attribution,
    ...(formDigest !== undefined && { formDigest }),
    ...(consent && { consent }),
    ...(marketing && { marketing }),
    seenAt: now,
    ...(source !== 'import' && { joinedAt: now }),
    createdAt: now,
    updatedAt: now,
  };
  return {
    member,
    email: emailRow(member),
    externalId: externalIdRow(member),
    searchWordRows: searchWordRows(member),
    ledger: balance > 0 ? initialEntry(member, { program, actor, lots }) : null,
  };
}

/**
 * `member` as it was created. `leaseOwner` is the workflow that issues the passes and publishes the event, or null for
 * the relay.
 */
export function memberCreated(
  deps: Deps,
  { member, eventId, leaseOwner }: { member: MemberRow; eventId: string; leaseOwner: string | null },
): EventRow {
  const { email, firstName, lastName, source, attribution } = member;
  return newMemberEvent(deps, {
    eventId,
    event: {
      type: 'member.created',
      data: {
        ...(email && { email }),
        ...(firstName && { firstName }),
        ...(lastName && { lastName }),
        source,
        attribution,
      },
    },
    member,
    leaseOwner,
    passAction: 'issue',
    initialPoints: member.balance,
  });
}

function initialEntry(
  member: MemberRow,
  { program, actor, lots }: { program: Program; actor: Actor; lots: LotsAfter | undefined },
): LedgerRow {
  const nobody = { status: 'active', balance: 0, lifetimePoints: 0 } as const;
  const { tier, previousTier } = adjust({ ...program, style: 'points' }, nobody, { value: member.balance });
  return {
    _id: enrollId(member._id),
    merchantId: member.merchantId,
    memberId: member._id,
    programId: member.programId,
    type: 'initial',
    field: member.field,
    previous: 0,
    current: member.balance,
    delta: member.balance,
    ...(tier !== undefined && { tier }),
    ...(previousTier !== undefined && { previousTier }),
    effect: { lifetimePoints: member.lifetimePoints, redeemedCount: 0 },
    ...(lots && lots.changes.length > 0 && { lots: lots.changes }),
    rule: { programVersion: versionOf(program) },
    actor,
    memberVersion: 1,
    createdAt: member.createdAt,
  };
}
