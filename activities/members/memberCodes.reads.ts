// The codes of new members. The code of an erased member is never reused, because cards that show it may still exist.
// No scan may lead to two members of a program, so no member code is an external id, and no external id the code or
// serial number of another member.
import type { Deps } from '../../platform/deps.js';
import type { ExternalIdRow } from '../../schemas/members/members.rows.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { isMemberCode, isUuid, newMemberCode, spentCodeId } from '../../schemas/shared/ids.js';
import { codeForm } from '../../schemas/shared/text.js';

interface NewMemberCodes {
  merchantId: string;
  count: number;
  /** External ids that members get at the same time. */
  except?: readonly string[];
  draw?: () => string;
}

export async function newMemberCodes(
  deps: Pick<Deps, 'read' | 'collections'>,
  { merchantId, count, except = [], draw = newMemberCode }: NewMemberCodes,
): Promise<string[]> {
  const codes: string[] = [];
  const given = new Set(except.map(codeForm));
  while (codes.length < count) {
    const drawn = new Set(Array.from({ length: count - codes.length }, draw));
    const [externalIds, ...spent] = await Promise.all([
      deps.collections.externalIds.find({ code: { $in: [...drawn] }, merchantId }).toArray(),
      ...Array.from(drawn, (code) => deps.read.spentCode({ _id: spentCodeId(merchantId, code) })),
    ]);
    const taken = new Set([...given, ...externalIds.map(({ externalId }) => codeForm(externalId))]);
    codes.push(...[...drawn].filter((code, index) => !spent[index] && !taken.has(code)));
  }
  return codes;
}

/** By the external ids that a scan would read as the code or the serial number of a member, the id of this member. */
export async function ownersOfCodes(
  deps: Pick<Deps, 'collections'>,
  { merchantId, programId, externalIds }: { merchantId: string; programId: string; externalIds: readonly string[] },
): Promise<Map<string, string>> {
  const { members } = deps.collections;
  const codes = [...new Set(externalIds.map(codeForm))];
  const memberCodes = codes.filter(isMemberCode);
  const serialNumbers = codes.map((code) => code.toLowerCase()).filter(isUuid);
  const shown = { projection: { merchantId: 1, programId: 1, memberCode: 1, serialNumber: 1 } };
  const found = await Promise.all([
    memberCodes.length > 0 ? members.find({ merchantId, memberCode: { $in: memberCodes } }, shown).toArray() : [],
    serialNumbers.length > 0 ? members.find({ serialNumber: { $in: serialNumbers } }, shown).toArray() : [],
  ]);
  const owners = found.flat().filter((member) => member.merchantId === merchantId && member.programId === programId);
  const byCode = new Map(
    owners.flatMap(({ _id, memberCode, serialNumber }) => [
      [memberCode, _id],
      [serialNumber.toUpperCase(), _id],
    ]),
  );
  return new Map(
    externalIds.flatMap((externalId) => {
      const owner = byCode.get(codeForm(externalId));
      return owner === undefined ? [] : [[externalId, owner]];
    }),
  );
}

/** Throws EXTERNAL_ID_TAKEN when a scan of the external id leads to another member of the program. */
export async function requireFree(
  deps: Pick<Deps, 'collections'>,
  { _id, merchantId, externalId, memberId }: ExternalIdRow,
  programId: string,
): Promise<void> {
  const [taken, owners] = await Promise.all([
    deps.collections.externalIds.findOne({ _id }, { projection: { _id: 1 } }),
    ownersOfCodes(deps, { merchantId, programId, externalIds: [externalId] }),
  ]);
  const owner = owners.get(externalId);
  if (taken || (owner !== undefined && owner !== memberId)) throw new ServiceError('EXTERNAL_ID_TAKEN');
}
