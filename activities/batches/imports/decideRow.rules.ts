// What an import does with one row, for an import and for a dry run of it.
import type { Deps } from '../../../platform/deps.js';
import { findByIds } from '../../../platform/mongodb/findByIds.js';
import type { ImportRow } from '../../../schemas/batches/batches.rows.js';
import type { RowMistake } from '../../../schemas/batches/importMistakes.rules.js';
import type { EmailRow } from '../../../schemas/members/members.rows.js';
import type { Person } from '../../../schemas/members/members.schema.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { ownersOfCodes } from '../../members/memberCodes.reads.js';
import { emailKey, externalIdKey } from '../../members/newMember.rules.js';

/** The members of the program, and the persons of earlier rows that become members. */
export interface KnownPeople<Owner> {
  ownerOf: (email: string) => Owner | undefined;
  holderOf: (externalId: string) => Owner | undefined;
  isTaken: (externalId: string) => boolean;
}

export type RowDecision<Owner> =
  | { outcome: 'created'; person: Person }
  | { outcome: 'deduped'; owner: Owner }
  | { outcome: 'failed'; reason: string; mistakes: RowMistake[] };

const externalIdTaken = {
  outcome: 'failed' as const,
  reason: 'externalId: another member of the program has it',
  mistakes: [{ field: 'externalId' as const, rule: 'taken' as const }],
};

/**
 * A row with a known email is about an existing member, which stays unchanged; so is one without an email and with a
 * known external id. With another email, the row is about somebody else, who cannot have the external id.
 */
export function decideRow<Owner>(
  { person, reason = '', mistakes = [] }: ImportRow,
  known: KnownPeople<Owner>,
): RowDecision<Owner> {
  if (!person) return { outcome: 'failed', reason, mistakes };
  const { email, externalId } = person;
  const owner = email === undefined ? undefined : known.ownerOf(email);
  if (owner !== undefined) return { outcome: 'deduped', owner };
  if (externalId === undefined) return { outcome: 'created', person };
  const holder = known.holderOf(externalId);
  if (holder !== undefined && email === undefined) return { outcome: 'deduped', owner: holder };
  if (holder !== undefined || known.isTaken(externalId)) return externalIdTaken;
  return { outcome: 'created', person };
}

export type Known = Pick<EmailRow, 'memberId' | 'memberCode'>;

export interface StoredPeople {
  /** By email. */
  owners: Map<string, Known>;
  /** By external id. */
  holders: Map<string, Known>;
  /** The external ids of members, and those that a scan would read as the code of a member. */
  taken: Set<string>;
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
    findByIds(deps, 'externalIds', {
      ids: externalIds.map((externalId) => externalIdKey(programId, externalId)),
      merchantId,
    }),
    ownersOfCodes(deps, { merchantId, programId, externalIds }),
  ]);
  const holders = await findByIds(deps, 'members', {
    ids: externalIdRows.map(({ memberId }) => memberId),
    merchantId,
  });
  const holderOf = new Map(holders.map((member) => [member._id, member]));
  return {
    owners: new Map(emailRows.map((row) => [row._id.slice(programId.length + 1), row])),
    holders: new Map(
      externalIdRows.flatMap(({ externalId, memberId }) => {
        const member = holderOf.get(memberId);
        return member ? [[externalId, { memberId, memberCode: member.memberCode }]] : [];
      }),
    ),
    taken: new Set([...externalIdRows.map(({ externalId }) => externalId), ...ownersOfExternalIds.keys()]),
  };
}
