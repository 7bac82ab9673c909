// Enrolls one person into one program: one member for each email in a program, whoever asks and however often.
import type { MemberRow } from '../schemas/collections.js';
import { ServiceError } from '../schemas/errors.js';
import { newId } from '../schemas/ids.js';
import type { Program } from '../schemas/programs.js';
import type { Store } from './deps.js';
import { emailKey, memberCreated, type NewMember, newMemberRows } from './newMember.js';
import { decideAgain, insert, transact } from './transact.js';

export type Enrolled = { kind: 'created'; member: MemberRow; eventId: string } | { kind: 'deduped'; member: MemberRow };

/** Throws PROGRAM_ARCHIVED, and VALIDATION_FAILED when a stamp card would begin over its goal. */
export function requireEnrollable(program: Program, initialPoints: number | undefined): void {
  if (program.archived) throw new ServiceError('PROGRAM_ARCHIVED');
  if (program.style === 'stamps' && (initialPoints ?? 0) > (program.goal ?? 0)) {
    throw new ServiceError('VALIDATION_FAILED', [
      { path: 'initialPoints', message: `must be at most the goal of ${program.goal} on a stamps program` },
    ]);
  }
}

interface Enroll extends NewMember {
  /** The workflow that will issue the passes and publish, or null to leave both to the relay. */
  holderOf: (memberId: string) => string | null;
}

/** Throws PROGRAM_ARCHIVED, VALIDATION_FAILED and UNAVAILABLE; in each case nobody was enrolled. */
export function enrollMember(store: Store, input: Enroll): Promise<Enrolled> {
  return store.metrics.gesture('enroll', () => enroll(store, input));
}

async function enroll(store: Store, input: Enroll): Promise<Enrolled> {
  const { program, person } = input;
  requireEnrollable(program, person.initialPoints);
  let tried: { member: MemberRow; eventId: string } | undefined;
  return decideAgain(store, async () => {
    // A commit whose answer was lost stands in its own way: whoever was enrolled by it is not enrolled again.
    if (tried && (await store.rows.members.findOne({ _id: tried.member._id }, { projection: { _id: 1 } })))
      return { kind: 'created', ...tried };
    const known = await memberByEmail(store, { program, email: person.email });
    if (known) return { kind: 'deduped', member: known };
    const { member, email, tokens, ledger } = newMemberRows(store, input);
    const event = memberCreated(store, { member, eventId: newId(), holder: input.holderOf(member._id) });
    tried = { member, eventId: event._id };
    await transact(
      store,
      [
        insert(store, 'members', member),
        ...(email ? [insert(store, 'emails', email)] : []),
        ...tokens.map((token) => insert(store, 'memberTokens', token)),
        ...(ledger ? [insert(store, 'transactions', ledger)] : []),
        insert(store, 'events', event),
      ],
      0,
    );
    // The member is there, so a total that could not be raised is no reason to say otherwise.
    await store
      .countMembers({ merchantId: program.merchantId, programId: program._id, created: 1 })
      .catch((error: unknown) => store.log.warn({ err: error }, 'a new member is not counted until the next recount'));
    return { kind: 'created', ...tried };
  });
}

async function memberByEmail(
  store: Store,
  { program, email }: { program: Program; email: string | undefined },
): Promise<MemberRow | null> {
  if (email === undefined) return null;
  const { merchantId } = program;
  const taken = await store.read.email({ _id: emailKey(program._id, email), merchantId });
  return taken && store.read.member({ _id: taken.memberId, merchantId });
}
