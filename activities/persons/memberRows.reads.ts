// The rows about one member in each collection, found as schemas/persons/personalData.schema.ts declares.
import type { Document } from 'mongodb';
import type { Deps } from '../../platform/deps.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import { personalData } from '../../schemas/persons/personalData.schema.js';
import { phoneSpellings } from '../../schemas/shared/phone.rules.js';
import type { CollectionName } from '../../schemas/tables/collections.js';
import { importedRows, type OfPerson, rowsOf, targetsWith } from './clearBatches.writes.js';

/** Yields single rows in no particular order. */
export async function* memberRows(deps: Deps, name: CollectionName, member: MemberRow): AsyncGenerator<Document> {
  const { _id: memberId, merchantId, programId, memberCode, serialNumber, email, externalId } = member;
  const { ofMember } = personalData[name];
  if (ofMember === 'batches') {
    const values = [email, ...phoneSpellings(member), externalId, memberCode].filter((value) => value !== undefined);
    const person = { memberId, merchantId, programId, values };
    return yield* name === 'importChunks' ? imported(deps, person) : targets(deps, person);
  }
  const emails = email === undefined ? [] : [email];
  const whose = { memberId, merchantId, programId, serialNumber, emails, externalId };
  for (const where of ofMember?.(whose) ?? []) yield* deps.collections[name as 'timeline'].find(where);
}

/** Only the rows of the file about the member, each with its outcome. */
async function* imported(deps: Deps, person: OfPerson) {
  for await (const { batch, chunk } of importedRows(deps, person))
    for (const index of rowsOf(chunk, { batch, person })) {
      const row = chunk.rows[index];
      const outcome = chunk.outcomes?.find((one) => one.row === row?.row);
      yield { batchId: batch._id, header: batch.header, ...row, ...(outcome && { outcome }) };
    }
}

async function* targets(deps: Deps, person: { memberId: string; merchantId: string }) {
  for await (const { _id, batchId } of targetsWith(deps, person)) yield { _id, batchId };
}
