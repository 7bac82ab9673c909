// The rows of one new member, the same for one enrollment and for a thousand rows of an import: member, email, search words
// and first ledger row; and `member.created`, which waits for the passes.

import { adjust, tierOf } from '../schemas/balance.js';
import type { EmailRow, EventRow, MemberRow, MemberTokenRow, TransactionRow } from '../schemas/collections.js';
import { enrollId, newId, newMemberCode, newToken } from '../schemas/ids.js';
import type { Actor, Person } from '../schemas/members.js';
import { nextModified } from '../schemas/passUpdate.js';
import { fieldOf, type Program } from '../schemas/programs.js';
import { searchWords } from '../schemas/searchWords.js';
import type { Store } from './deps.js';
import { newEvent } from './newEvent.js';

export interface NewMember {
  program: Program;
  person: Person;
  source: MemberRow['source'];
  attribution: Record<string, string>;
  actor: Actor;
}

export interface NewMemberRows {
  member: MemberRow;
  /** One member for each email in a program: a second row with the same email is not written. */
  email: EmailRow | null;
  tokens: MemberTokenRow[];
  ledger: TransactionRow | null;
}

export const emailKey = (programId: string, email: string): string => `${programId}:${email}`;

export function emailRow({ _id: memberId, merchantId, programId, memberCode, email }: MemberRow): EmailRow | null {
  return email === undefined ? null : { _id: emailKey(programId, email), merchantId, memberId, memberCode };
}

export function tokenRows(member: MemberRow): MemberTokenRow[] {
  const { _id: memberId, merchantId, programId, createdAt } = member;
  return searchWords(member).map((token) => ({
    _id: `${memberId}:${token}`,
    merchantId,
    token,
    memberId,
    programId,
    createdAt,
  }));
}

export function newMemberRows(store: Store, { program, person, source, attribution, actor }: NewMember): NewMemberRows {
  const now = store.now();
  const _id = newId();
  const { initialPoints: balance = 0, ...names } = person;
  const field = fieldOf(program);
  const tier = tierOf(program, balance, balance);
  const member: MemberRow = {
    _id,
    merchantId: program.merchantId,
    programId: program._id,
    memberCode: newMemberCode(),
    serialNumber: newId(),
    ...names,
    field,
    balance,
    lifetimePoints: balance,
    ...(tier !== undefined && { tier }),
    tags: [],
    status: 'active',
    version: 1,
    pass: {
      token: newToken(),
      authenticationToken: newToken(),
      tag: now,
      modifiedAt: nextModified(undefined, now),
      messageSequence: 0,
    },
    deviceCount: 0,
    redeemedCount: 0,
    transactionCount: balance > 0 ? 1 : 0,
    source,
    attribution,
    createdAt: now,
    updatedAt: now,
  };
  return {
    member,
    email: emailRow(member),
    tokens: tokenRows(member),
    ledger: balance > 0 ? initialEntry(member, program, actor) : null,
  };
}

/** `member` as it was created; `holder` is the workflow that issues the passes and publishes, or null for the relay. */
export function memberCreated(
  store: Store,
  { member, eventId, holder }: { member: MemberRow; eventId: string; holder: string | null },
): EventRow {
  const { email, firstName, lastName, source, attribution } = member;
  return newEvent(store, {
    eventId,
    type: 'member.created',
    member,
    data: {
      ...(email && { email }),
      ...(firstName && { firstName }),
      ...(lastName && { lastName }),
      source,
      attribution,
    },
    holder,
    wallet: 'issue',
  });
}

function initialEntry(member: MemberRow, program: Program, actor: Actor): TransactionRow {
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
    actor,
    memberVersion: 1,
    createdAt: member.createdAt,
  };
}
