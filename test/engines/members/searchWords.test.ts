// The stored search words of members whom an earlier version of the service has written: they find until the migration
// has added the others, and leave with the member, whichever rule has made them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchWordRows } from '../../../activities/members/newMember.rules.js';
import { eraseMember } from '../../../activities/persons/eraseMember.writes.js';
import { prefixRange } from '../../../schemas/members/searchWords.rules.js';
import { addSearchWords } from '../../../worker/addSearchWords.js';
import { migrate } from '../../../worker/migrate.js';
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
const found = async (q: string): Promise<string[]> =>
  (await merchant.call(`/merchants/me/members?${new URLSearchParams({ q })}`)).body.data.items.map(
    ({ id }: { id: string }) => id,
  );

/** A member with the words of an earlier version: those between blanks, without accents, and the digits of the phone. */
async function oldMember(person: { firstName: string; lastName: string; phone?: string; externalId?: string }) {
  const { id, memberCode } = await merchant.enroll({ programId, ...person });
  const { memberSearchWords, counters } = service.deps.collections;
  const [row] = await rowsOf(id);
  if (!row) throw new Error('The member has no words.');
  const names = `${person.firstName} ${person.lastName}`
    .normalize('NFD')
    .replace(/[\p{M}']/gu, '')
    .toLowerCase();
  const words = [...names.split(' '), ...(person.phone ? [person.phone.replace(/\D/g, '')] : [])];
  for (const { _id } of await rowsOf(id)) await memberSearchWords.deleteOne({ _id });
  await memberSearchWords.insertMany(
    [...words, memberCode.toLowerCase()].map((word) => ({ ...row, _id: `${id}:${word}`, word })),
  );
  await counters.deleteOne({ _id: 'searchWords:2' });
  return id;
}

it('words of an earlier version find, and the migration adds the others once', async () => {
  const id = await oldMember({
    ...{ firstName: 'Jürgen', lastName: 'Garcia-Lorca', phone: '+44 20 7946 0958', externalId: 'K-71-05' },
  });
  const old = await wordsOf(id);
  for (const q of ['jurg', 'Jürgen', 'garcia', 'Garcia-Lorca', '442079', '+44 20 7946 0958', 'Juergen'])
    expect([q, await found(q)]).toEqual([q, [id]]);
  expect(await found('lorca')).toEqual([]);

  const before = await memberAt(id);
  await Promise.all([1, 2, 3].map(() => migrate(service.deps)));
  const words = await wordsOf(id);
  expect(words).toEqual([...new Set([...old, ...searchWordRows(before).map(({ word }) => word)])].sort());
  expect({ ...(await memberAt(id)), wordsAt: undefined }).toEqual({ ...before, wordsAt: undefined });
  for (const q of ['lorca', 'juerg lorca', '0958', '02079460958', '020 7946 0958', 'k7105', 'garcia-lorca'])
    expect([q, await found(q)]).toEqual([q, [id]]);

  await migrate(service.deps);
  expect(await wordsOf(id)).toEqual(words);
});

it('a later migration adds the words of members whom a process of the earlier version has written since', async () => {
  await migrate(service.deps);
  const marker = await service.deps.collections.counters.findOne({ _id: 'searchWords:2' });
  const id = await oldMember({ firstName: 'Zoë', lastName: 'Smith-Late' });
  if (marker) await service.deps.collections.counters.insertOne(marker);
  await migrate(service.deps);
  expect(await found('late')).toEqual([id]);
});

it('a change of the name, and an erasure, remove the words that another rule has made', async () => {
  const renamed = await oldMember({ firstName: 'Before-Change', lastName: 'Stays' });
  await merchant.call(`/merchants/me/members/${renamed}`, patch({ firstName: 'After' }));
  const wanted = searchWordRows(await memberAt(renamed)).map(({ word }) => word);
  expect(await wordsOf(renamed)).toEqual(wanted.sort());

  const erased = await oldMember({ firstName: 'Gone-Away', lastName: 'Soon' });
  await eraseMember(service.deps, { merchantId: merchant.id, memberId: erased });
  expect(await wordsOf(erased)).toEqual([]);
});

it('a migration adds nothing to members who are renamed or erased at the same time', async () => {
  const ids = await Promise.all(
    Array.from({ length: 12 }, (_, index) => oldMember({ firstName: `Ann-${index}`, lastName: 'Busy-Body' })),
  );
  const change = async (id: string, index: number) => {
    await new Promise((resolve) => setTimeout(resolve, index * 10));
    if (index % 2 === 0) await eraseMember(service.deps, { merchantId: merchant.id, memberId: id });
    else await merchant.call(`/merchants/me/members/${id}`, patch({ lastName: `New-Name${index}` }));
  };
  await Promise.all([addSearchWords(service.deps), ...ids.map(change)]);
  for (const [index, id] of ids.entries()) {
    const words = await wordsOf(id);
    if (index % 2 === 0) expect(words).toEqual([]);
    else
      expect(words).toEqual(
        searchWordRows(await memberAt(id))
          .map(({ word }) => word)
          .sort(),
      );
  }
  expect(
    await service.deps.collections.memberSearchWords.countDocuments({
      merchantId: merchant.id,
      word: prefixRange('busy'),
    }),
  ).toBe(0);
}, 60_000);
