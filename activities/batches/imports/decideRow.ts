// What an import does with one row, for an import and for a dry run of it.
import type { Deps } from '../../../platform/deps.js';
import type { EmailRow, ImportRow } from '../../../schemas/collections.js';
import type { Person } from '../../../schemas/members.js';
import type { Program } from '../../../schemas/programs.js';
import { ownersOfCodes } from '../../members/memberCodes.js';
import { emailKey, externalIdKey } from '../../members/newMember.js';

/** The members of the program, and the persons of earlier rows that become members. */
export interface KnownPeople<Owner> {
  ownerOf: (email: string) => Owner | undefined;
  isTaken: (externalId: string) => boolean;
}

export type RowDecision<Owner> =
  | { outcome: 'created'; person: Person }
  | { outcome: 'deduped'; owner: Owner }
  | { outcome: 'failed'; reason: string };

const externalIdTaken = 'externalId: another member of the program has it';

/**
 * A known email is checked before a taken externalId: such a row is about an existing member, which stays unchanged.
 */
export function decideRow<Owner>({ person, reason = '' }: ImportRow, known: KnownPeople<Owner>): RowDecision<Owner> {
  if (!person) return { outcome: 'failed', reason };
  const { email, externalId } = person;
  const owner = email === undefined ? undefined : known.ownerOf(email);
  if (owner !== undefined) return { outcome: 'deduped', owner };
  if (externalId !== undefined && known.isTaken(externalId)) return { outcome: 'failed', reason: externalIdTaken };
  return { outcome: 'created', person };
}

export interface StoredPeople {
  /** By email. */
  owners: Map<string, EmailRow>;
  /** Of members, and those that a scan would read as the code of a member. */
  externalIds: Set<string>;
}

/** The emails and external ids of the rows that members of the program already have. */
export async function storedPeople(
  deps: Deps,
  { program: { _id: programId, merchantId }, rows }: { program: Program; rows: readonly ImportRow[] },
): Promise<StoredPeople> {
  const emails = rows.flatMap(({ person }) => person?.email ?? []);
  const externalIds = rows.flatMap(({ person }) => person?.externalId ?? []);
  const [emailRows, externalIdRows, ownersOfExternalIds] = await Promise.all([
    emails.length === 0
      ? []
      : deps.collections.emails
          .find({ _id: { $in: emails.map((email) => emailKey(programId, email)) }, merchantId })
          .toArray(),
    externalIds.length === 0
      ? []
      : deps.collections.externalIds
          .find({ _id: { $in: externalIds.map((externalId) => externalIdKey(programId, externalId)) } })
          .toArray(),
    ownersOfCodes(deps, { merchantId, programId, externalIds }),
  ]);
  return {
    owners: new Map(emailRows.map((row) => [row._id.slice(programId.length + 1), row])),
    externalIds: new Set([...externalIdRows.map(({ externalId }) => externalId), ...ownersOfExternalIds.keys()]),
  };
}
