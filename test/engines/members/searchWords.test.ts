// The stored search words of a member leave with its name, and with the member, whichever rule has made them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchWordRows } from '../../../activities/members/newMember.rules.js';
import { eraseMember } from '../../../activities/persons/eraseMember.writes.js';
import { aMerchant, type Call, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let programId: string;
beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
  programId = (await merchant.program())._id;
});
afterAll(() => service.stop());

const patch = (body: unknown): Call => ({ method: 'PATCH', body });
const rowsOf = (memberId: string) => service.deps.collections.memberSearchWords.find({ memberId }).toArray();
const wordsOf = async (memberId: string) => (await rowsOf(memberId)).map(({ word }) => word).sort();
const memberAt = async (_id: string) => {
  const member = await service.deps.collections.members.findOne({ _id });
  if (!member) throw new Error('There is no such member.');
  return member;
};
/** A member with the words of another rule: whole names, and the code. */
async function otherwiseWorded(person: { firstName: string; lastName: string }): Promise<string> {
  const { id, memberCode } = await merchant.enroll({ programId, ...person });
  const { memberSearchWords } = service.deps.collections;
  const [row] = await rowsOf(id);
  if (!row) throw new Error('The member has no words.');
  for (const { _id } of await rowsOf(id)) await memberSearchWords.deleteOne({ _id });
  const words = [person.firstName, person.lastName, memberCode].map((text) => text.toLowerCase());
  await memberSearchWords.insertMany(words.map((word) => ({ ...row, _id: `${id}:${word}`, word })));
  return id;
}

it('a change of the name, and an erasure, remove the words that another rule has made', async () => {
  const renamed = await otherwiseWorded({ firstName: 'Before-Change', lastName: 'Stays' });
  await merchant.call(`/merchants/me/members/${renamed}`, patch({ firstName: 'After' }));
  const wanted = searchWordRows(await memberAt(renamed)).map(({ word }) => word);
  expect(await wordsOf(renamed)).toEqual(wanted.sort());

  const erased = await otherwiseWorded({ firstName: 'Gone-Away', lastName: 'Soon' });
  await eraseMember(service.deps, { merchantId: merchant.id, memberId: erased });
  expect(await wordsOf(erased)).toEqual([]);
});
