// Enrolls one person in one program. A program has at most one member for each email, and for each external id, also
// after repeated and concurrent requests.
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { insert } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { MemberRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import { createdEventId } from '../../schemas/ids.js';
import type { Program } from '../../schemas/programs.js';
import { newMemberCodes, requireFree } from './memberCodes.js';
import { emailKey, memberCreated, type NewMember, newMemberRows } from './newMember.js';

interface Created {
  member: MemberRow;
  eventId: string;
  /** The workflow that will issue the passes, or null when the relay will. */
  leaseOwner: string | null;
}

export type Enrolled = ({ kind: 'created' } & Created) | { kind: 'deduped'; member: MemberRow };

/** Throws PROGRAM_ARCHIVED, and VALIDATION_FAILED when the initial stamps exceed the goal of a stamps program. */
export function requireEnrollable(program: Program, initialPoints: number | undefined): void {
  if (program.archived) throw new ServiceError('PROGRAM_ARCHIVED');
  if (program.style === 'stamps' && (initialPoints ?? 0) > (program.goal ?? 0)) {
    throw new ServiceError('VALIDATION_FAILED', [
      { path: 'initialPoints', message: `must be at most the goal of ${program.goal} on a stamps program` },
    ]);
  }
}

export interface Enroll extends NewMember {
  /** Returns the workflow that will issue the passes and publish the event, or null to leave both to the relay. */
  chooseLeaseOwner: (memberId: string) => string | null;
}

/**
 * Throws PROGRAM_ARCHIVED, VALIDATION_FAILED, EXTERNAL_ID_TAKEN and UNAVAILABLE; in each case no member was created. An
 * error of the MongoDB driver leaves open whether the member was created.
 */
export function enrollMember(deps: Deps, input: Enroll): Promise<Enrolled> {
  return deps.metrics.memberChange('enroll', () => enroll(deps, input));
}

async function enroll(deps: Deps, input: Enroll): Promise<Enrolled> {
  const { program, person } = input;
  requireEnrollable(program, person.initialPoints);
  let tried: Created | undefined;
  return retryOnConflict(deps, async () => {
    // The previous attempt may have committed although its answer was lost. Then its member is returned instead of a
    // second one.
    if (tried && (await deps.collections.members.findOne({ _id: tried.member._id }, { projection: { _id: 1 } })))
      return { kind: 'created', ...tried };
    const [known, [memberCode = '']] = await Promise.all([
      memberByEmail(deps, { program, email: person.email }),
      newMemberCodes(deps, { merchantId: program.merchantId, count: 1 }),
    ]);
    if (known) return { kind: 'deduped', member: known };
    const { member, email, externalId, searchWordRows, ledger } = newMemberRows(deps, { ...input, memberCode });
    if (externalId) await requireFree(deps, externalId, program._id);
    const leaseOwner = input.chooseLeaseOwner(member._id);
    const event = memberCreated(deps, { member, eventId: createdEventId(member._id), leaseOwner });
    tried = { member, eventId: event._id, leaseOwner };
    await transact(
      deps,
      [
        insert(deps, 'members', member),
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
      .countMembers({ merchantId: program.merchantId, programId: program._id, created: 1 })
      .catch((error: unknown) => deps.log.warn({ err: error }, 'a new member is not counted until the next recount'));
    return { kind: 'created', ...tried };
  });
}

async function memberByEmail(
  deps: Deps,
  { program, email }: { program: Program; email: string | undefined },
): Promise<MemberRow | null> {
  if (email === undefined) return null;
  const { merchantId } = program;
  const taken = await deps.read.email({ _id: emailKey(program._id, email), merchantId });
  return taken && deps.read.member({ _id: taken.memberId, merchantId });
}
