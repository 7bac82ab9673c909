// Adds the international form of phone numbers to the members that had theirs before their program had its country.
// Until then these numbers are found by the written form.
import { searchWordRows } from '../activities/members/newMember.rules.js';
import type { Deps } from '../platform/deps.js';
import { retryOnConflict } from '../platform/mongodb/retryOnConflict.js';
import { insert, update } from '../platform/mongodb/statements.js';
import { transactAlone } from '../platform/mongodb/transact.js';
import type { MemberRow, MemberSearchWordRow } from '../schemas/members/members.rows.js';
import { idsWith } from '../schemas/persons/personalData.schema.js';
import { type Country, e164 } from '../schemas/shared/phone.rules.js';

const lacking = { phone: { $exists: true }, phoneE164: { $exists: false } };
const perPage = 500;
const perTransaction = 50;

/** Can run while the service is running, and in several processes. */
export async function addPhoneNumbers(deps: Deps): Promise<void> {
  const { programs, members } = deps.collections;
  for await (const { _id: programId, merchantId, country } of programs.find({})) {
    const found = members.find({ merchantId, programId, ...lacking }, { projection: { phone: 1 }, batchSize: perPage });
    const ids: string[] = [];
    const write = async () => {
      const some = ids.splice(0);
      if (some.length > 0) await retryOnConflict(deps, () => addTo(deps, { ids: some, country }));
    };
    for await (const { _id, phone = '' } of found) {
      if (e164(phone, country) !== undefined) ids.push(_id);
      if (ids.length === perTransaction) await write();
    }
    await write();
  }
}

async function addTo(deps: Deps, { ids, country }: { ids: string[]; country: Country | undefined }): Promise<void> {
  const rows = await deps.collections.members.find({ _id: { $in: ids }, ...lacking }).toArray();
  const changed = rows.flatMap((member): MemberRow[] => {
    const phoneE164 = member.phone === undefined ? undefined : e164(member.phone, country);
    return phoneE164 === undefined ? [] : [{ ...member, phoneE164 }];
  });
  if (changed.length === 0) return;
  const words = await Promise.all(changed.map((member) => missingWords(deps, member)));
  await transactAlone(
    deps,
    [
      // Matches nothing when the member has changed since it was read; then nothing is written.
      ...changed.map(({ _id, version, phoneE164 }) =>
        update(deps, 'members', { _id, version, ...lacking }, { $set: { phoneE164 } }),
      ),
      ...words.flat().map((row) => insert(deps, 'memberSearchWords', row)),
    ],
    changed.length,
  );
}

/** The rows of the member's words that are not stored. */
async function missingWords({ collections }: Deps, member: MemberRow): Promise<MemberSearchWordRow[]> {
  const ofMember = idsWith(`${member._id}:`);
  const stored = await collections.memberSearchWords.find(ofMember, { projection: { word: 1 } }).toArray();
  const there = new Set(stored.map(({ word }) => word));
  return searchWordRows(member).filter(({ word }) => !there.has(word));
}
