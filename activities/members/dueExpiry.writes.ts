// The expiry of what is due of one member: by the schedule (expireLots.activity.ts), or as the first part of a change
// (changeMember.writes.ts), so that nobody spends points that are over.
import type { Deps } from '../../platform/deps.js';
import type { Statement } from '../../platform/mongodb/transaction.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { expire } from '../../schemas/points/balance.rules.js';
import { lotsOf } from '../../schemas/points/expiry.rules.js';
import { type LotsAfter, removeExpired, sumOf } from '../../schemas/points/lots.rules.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { fieldOf, type Program } from '../../schemas/programs/programs.schema.js';
import { derivedId, programIdOf } from '../../schemas/shared/ids.js';
import { balanceDecision, balanceEvent } from './balanceDecision.rules.js';
import type { Decision } from './decision.schema.js';
import { memberWritesOf } from './memberStatements.rules.js';

export interface DueExpiryInput {
  member: MemberRow;
  program: Program;
  /** Expires what is due by this time. */
  now: Date;
}

interface DueExpiry {
  /** The member after the expiry. */
  member: MemberRow;
  entry: LedgerRow | undefined;
  /** One of them updates a row, which must match. */
  statements: Statement[];
}

/** The writes of the expiry; undefined when nothing is due. */
export function dueExpiry(deps: Deps, { member: stored, program, now }: DueExpiryInput): DueExpiry | undefined {
  const after = removeExpired(lotsOf(program, stored), now);
  if (after.changes.length === 0) return undefined;
  // The label of the program may have changed since the member was written.
  const before = { ...stored, field: fieldOf(program) };
  const decision = expiryRule({ member: before, program, now: deps.now() }, after);
  const eventId = expiryId(before, after);
  const writes = memberWritesOf(deps, { before, program, decision, eventId, chooseLeaseOwner: () => null });
  const { member, entry, change, inserts } = writes;
  return { member, entry, statements: [change, ...inserts] };
}

/** Derived from the lots and the version, so that an expiry that is repeated after a restore has the same id. */
const expiryId = ({ _id, version }: MemberRow, { changes }: LotsAfter): string =>
  derivedId('expiry', _id, String(version + 1), ...changes.map(({ id, by, at }) => `${id} ${by} ${at.toISOString()}`));

function expiryRule({ member, program, now }: DueExpiryInput, lots: LotsAfter): Decision {
  const entry = { type: 'expiry' as const, actor: { type: 'program' as const, id: programIdOf(program._id) } };
  const change = expire(program, member, member.balance - sumOf(lots.lots));
  return {
    ...balanceDecision(member, { change, program, entry, now, lots }),
    timeline: { type: 'points_expired', detail: String(-change.delta) },
    event: {
      type: 'points.changed',
      data: { ...balanceEvent(member, change, entry), delta: change.delta, reason: 'expired' },
    },
  };
}
