// Enrolls one person in one program. A program has at most one member for each email, and for each external id, also
// after repeated and concurrent requests. One idempotency key enrolls at most one.
import { Binary } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Person } from '../../schemas/members/members.schema.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { createdEventId } from '../../schemas/shared/ids.js';
import type { IdempotencyKeyRow } from '../../schemas/shared/service.rows.js';
import type { Answer } from './change.schema.js';
import { withoutDue } from './expireDue.writes.js';
import { newMemberCodes, requireFree } from './memberCodes.reads.js';
import { emailKey, memberCreated, type NewMember, newMemberRows, requireShowable } from './newMember.rules.js';

interface Created {
  member: MemberRow;
  eventId: string;
  /** The workflow that will issue the passes, or null when the relay will. */
  leaseOwner: string | null;
}

type Fresh = ({ kind: 'created' } & Created) | { kind: 'deduped'; member: MemberRow };

/** `answered`: an earlier request with the key had this answer. */
export type Enrolled = Fresh | { kind: 'answered'; member: MemberRow; answer: Answer };

export interface EnrollmentKey {
  /** schemas/shared/ids.ts */
  id: string;
  /** A hash of the request. */
  fingerprint: string;
  answer: (enrolled: Pick<Fresh, 'kind' | 'member'>) => Answer;
}

/**
 * Throws PROGRAM_ARCHIVED, and VALIDATION_FAILED when the initial stamps exceed the goal of a stamps program or the card
 * cannot show the external id.
 */
export function requireEnrollable(program: Program, { initialPoints, externalId }: Person = {}): void {
  if (program.archived) throw new ServiceError('PROGRAM_ARCHIVED');
  if (program.style === 'stamps' && (initialPoints ?? 0) > (program.goal ?? 0)) {
    throw new ServiceError('VALIDATION_FAILED', [
      { path: 'initialPoints', message: `must be at most the goal of ${program.goal} on a stamps program` },
    ]);
  }
  requireShowable(program, externalId);
}

export interface Enroll extends NewMember {
  key?: EnrollmentKey;
  /** Returns the workflow that will issue the passes and publish the event, or null to leave both to the relay. */
  chooseLeaseOwner: (memberId: string) => string | null;
}

/**
 * Throws PROGRAM_ARCHIVED, VALIDATION_FAILED, EXTERNAL_ID_TAKEN, IDEMPOTENCY_KEY_REUSED, MEMBER_NOT_FOUND (the member
 * of the key is erased) and UNAVAILABLE; in each case no member was created. An error of the MongoDB driver leaves open
 * whether the member was created.
 */
export function enrollMember(deps: Deps, input: Enroll): Promise<Enrolled> {
  return deps.metrics.memberChange('enroll', () => enroll(deps, input));
}

async function enroll(deps: Deps, input: Enroll): Promise<Enrolled> {
  const { program, person, key } = input;
  const { merchantId } = program;
  let tried: Created | undefined;
  return retryOnConflict(deps, async () => {
    // The previous attempt may have committed although its answer was lost. Then its member is returned instead of a
    // second one.
    if (tried && (await deps.collections.members.findOne({ _id: tried.member._id }, { projection: { _id: 1 } })))
      return { kind: 'created', ...tried };
    const earlier = key && (await earlierAnswer(deps, key, merchantId));
    if (earlier) return earlier;
    requireEnrollable(program, person);
    const [known, [memberCode = '']] = await Promise.all([
      memberByEmail(deps, { program, email: person.email }),
      newMemberCodes(deps, { merchantId, count: 1 }),
    ]);
    const keep = (kind: Fresh['kind'], member: MemberRow) =>
      key ? [insert(deps, 'idempotencyKeys', keyRow(deps, key, { kind, member }))] : [];
    if (known) {
      if (key) await transact(deps, keep('deduped', known), 0);
      return { kind: 'deduped', member: known };
    }
    const { member, email, externalId, searchWordRows, ledger } = newMemberRows(deps, { ...input, memberCode });
    if (externalId) await requireFree(deps, externalId, program._id);
    const leaseOwner = input.chooseLeaseOwner(member._id);
    const event = memberCreated(deps, { member, eventId: createdEventId(member._id), leaseOwner });
    tried = { member, eventId: event._id, leaseOwner };
    await transact(
      deps,
      [
        insert(deps, 'members', member),
        ...keep('created', member),
        ...(email ? [insert(deps, 'emails', email)] : []),
        ...(externalId ? [insert(deps, 'externalIds', externalId)] : []),
        ...searchWordRows.map((row) => insert(deps, 'memberSearchWords', row)),
        ...(ledger ? [insert(deps, 'ledger', ledger)] : []),
        insert(deps, 'events', event),
      ],
      0,
    );
    // The member exists, so the enrollment succeeds even if its totals cannot be raised.
    await deps
      .countMembers({ merchantId, programId: program._id, created: 1 })
      .catch((error: unknown) => deps.log.warn({ err: error }, 'a new member is not counted until the next recount'));
    return { kind: 'created', ...tried };
  });
}

function keyRow(deps: Deps, key: EnrollmentKey, enrolled: Pick<Fresh, 'kind' | 'member'>): IdempotencyKeyRow {
  const { _id: memberId, merchantId } = enrolled.member;
  const { status, body } = key.answer(enrolled);
  const response = { status, body: new Binary(body) };
  return { _id: key.id, merchantId, fingerprint: key.fingerprint, memberId, createdAt: deps.now(), response };
}

async function earlierAnswer(
  deps: Deps,
  { id: _id, fingerprint }: EnrollmentKey,
  merchantId: string,
): Promise<Enrolled | null> {
  const row = await deps.read.idempotencyKey({ _id, merchantId });
  if (!row) return null;
  const member = await deps.read.member({ _id: row.memberId ?? '', merchantId });
  if (!member || !row.response) throw new ServiceError('MEMBER_NOT_FOUND');
  if (row.fingerprint !== fingerprint) throw new ServiceError('IDEMPOTENCY_KEY_REUSED');
  const { status, body } = row.response;
  return { kind: 'answered', member, answer: { status, body: Buffer.from(body.buffer) } };
}

async function memberByEmail(
  deps: Deps,
  { program, email }: { program: Program; email: string | undefined },
): Promise<MemberRow | null> {
  if (email === undefined) return null;
  const { merchantId } = program;
  const taken = await deps.read.email({ _id: emailKey(program._id, email), merchantId });
  const found = taken && (await deps.read.member({ _id: taken.memberId, merchantId }));
  const [member] = found ? await withoutDue(deps, [found]) : [];
  return member ?? null;
}
