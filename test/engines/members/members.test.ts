// Reading, finding and changing members (docs/interface.md, sections 4.3, 4.4 and 4.5).
import { parse } from 'csv-parse/sync';
import type { Filter } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addTagsInUse, removeUnusedTags } from '../../../activities/members/tags.writes.js';
import type { TagRow } from '../../../schemas/members/members.rows.js';
import { newId } from '../../../schemas/shared/ids.js';
import { migrate } from '../../../worker/migrate.js';
import { until } from '../../rig/checks/until.js';
import { type Answer, aMerchant, type Call, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['member.updated']);
  ({ service, merchant } = subscribed);
});

afterAll(() => subscribed.stop());

const of = (memberId: string, rest = '', call?: Call, by = merchant): Promise<Answer> =>
  by.call(`/merchants/me/members/${memberId}${rest}`, call);
const patch = (body: unknown): Call => ({ method: 'PATCH', body });
const list = async (by: TestMerchant, query: Record<string, string | number> = {}) => {
  const words = new URLSearchParams(
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
  );
  return (await by.call(`/merchants/me/members?${words}`)).body.data;
};
const idsOf = (data: { items: { id: string }[] }): string[] => data.items.map((item) => item.id);
const updates = (memberId: string, count: number) =>
  until(() => {
    const events = subscribed.envelopes(memberId);
    return events.length >= count && events.sort((a, b) => a.data.memberVersion - b.data.memberVersion);
  });

it('an unknown parameter of the query is named as one, whatever the method, and an unknown field as a field', async () => {
  const { id } = await merchant.enroll({ firstName: 'Ada' });
  const path = `/merchants/me/members/${id}`;
  const changed = await merchant.call(`${path}?dryRum=true`, { method: 'PATCH', body: { lastName: 'Byron' } });
  const listed = await merchant.call('/merchants/me/members?pagesize=3');
  const body = await merchant.call(path, { method: 'PATCH', body: { lastName: 'Byron', firstname: 'Ada' } });
  expect([changed, listed, body].map((answer) => [answer.status, answer.body.error.details])).toEqual([
    [400, [{ path: 'dryRum', message: 'is not a known query parameter' }]],
    [400, [{ path: 'pagesize', message: 'is not a known query parameter; did you mean pageSize?' }]],
    [400, [{ path: 'firstname', message: 'is not a known field; did you mean firstName?' }]],
  ]);
});

describe('one member', () => {
  it('is read with a snapshot of its program, its devices and its redeems', async () => {
    const program = await merchant.program({ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10 });
    const member = await merchant.enroll({ programId: program._id, firstName: 'Ada' });
    const { status, body } = await of(member.id);
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ id: member.id, firstName: 'Ada', deviceCount: 0, redeemedCount: 0 });
    expect(body.data.program).toEqual({
      _id: program._id,
      name: program.name,
      slug: program.slug,
      style: 'stamps',
      fields: { primaryLabel: 'STAMPS' },
      goal: 10,
      archived: false,
      pushMessages: true,
    });
  });

  it('shows no internal fields', async () => {
    const member = await merchant.enroll({ email: 'inside@example.com' });
    const { text } = await of(member.id);
    const row = await service.deps.collections.members.findOne({ _id: member.id });
    for (const hidden of [row?.pass.authenticationToken ?? '?', 'merchantId', 'lifetimePoints', 'version'])
      expect(text).not.toContain(hidden);
  });

  it.each(['no-uuid', '11111111-2222-4333-8444-555555555555', '%00', '..%2f..', '[object Object]', '%E0%A4%A'])(
    'with the id %s is not found',
    async (id) => {
      const { status, body } = await of(id);
      expect([status, body.error.code]).toEqual([404, 'MEMBER_NOT_FOUND']);
    },
  );
});

describe('the list', () => {
  it('shows all members once, newest first, page by page, with the total', async () => {
    const own = await aMerchant(service);
    const enrolled: string[] = [];
    for (let index = 0; index < 7; index += 1) enrolled.push((await own.enroll({ firstName: `Member ${index}` })).id);
    const newest = enrolled.toReversed();
    expect(idsOf(await list(own))).toEqual(newest);
    const pages = [
      await list(own, { pageSize: 3 }),
      await list(own, { page: 2, pageSize: 3 }),
      await list(own, { page: 3, pageSize: 3 }),
    ];
    expect(pages.map((page) => [page.page, page.pageSize, page.total, page.items.length])).toEqual([
      [1, 3, 7, 3],
      [2, 3, 7, 3],
      [3, 3, 7, 1],
    ]);
    expect(pages.flatMap(idsOf)).toEqual(newest);
    expect(await list(own, { page: 4, pageSize: 3 })).toMatchObject({ items: [], total: 7 });
    expect((await list(own, { page: '999999999999999', pageSize: 100 })).items).toEqual([]);
  });

  it('shows new members on a page that was read before, and moves the others down', async () => {
    const own = await aMerchant(service);
    const program = await own.program();
    const enroll = async () => (await own.enroll({ programId: program._id })).id;
    const page = async (number: number) =>
      idsOf(await list(own, { page: number, pageSize: 2, programId: program._id }));
    const first = [await enroll(), await enroll(), await enroll(), await enroll()];
    expect([await page(2), await page(1)]).toEqual([
      [first[1], first[0]],
      [first[3], first[2]],
    ]);
    const later = [await enroll(), await enroll(), await enroll()];
    expect([await page(1), await page(2), await page(3)]).toEqual([
      [later[2], later[1]],
      [later[0], first[3]],
      [first[2], first[1]],
    ]);
  });

  it('is filtered by program, and empty for an unknown one', async () => {
    const own = await aMerchant(service);
    const [one, other] = [await own.program(), await own.program({ goal: 7 })];
    const here = await own.enroll({ programId: one._id });
    await own.enroll({ programId: other._id });
    const data = await list(own, { programId: one._id });
    expect(idsOf(data)).toEqual([here.id]);
    expect(data.total).toBe(1);
    expect(data.items[0].program).toEqual({
      _id: one._id,
      name: one.name,
      style: 'points',
      fields: one.fields,
      goal: 100,
    });
    expect(await list(own, { programId: 'no-such-program' })).toMatchObject({ items: [], total: 0 });
    expect((await list(own)).total).toBe(2);
  });

  it.each([
    'page=0',
    'page=-1',
    'page=x',
    'page=1.5',
    'pageSize=0',
    'pageSize=101',
    'page=1&page=2',
    'sort=name',
    'programId[$ne]=x',
    'q=',
    'serial=',
    '__proto__=x',
  ])('refuses ?%s', async (query) => {
    const { status, body } = await merchant.call(`/merchants/me/members?${query}`);
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
  });
});

describe('a search', () => {
  let own: TestMerchant;
  let people: Record<string, { id: string; memberCode: string; serialNumber: string }>;

  beforeAll(async () => {
    own = await aMerchant(service);
    const program = await own.program();
    const enroll = (fields: object) => own.enroll({ programId: program._id, ...fields });
    people = {
      lucja: await enroll({ firstName: 'Łucja', lastName: 'Ünal', email: 'lucja@example.com' }),
      ada: await enroll({ firstName: 'Ada Maria', lastName: 'Lovelace', phone: '+48 600-100-200' }),
      adam: await enroll({ firstName: 'Adam', lastName: 'Byron', email: 'ada.byron@example.com' }),
    };
  });

  const found = async (query: Record<string, string>) => {
    const ids = idsOf(await list(own, query));
    return Object.keys(people).filter((name) => ids.includes(people[name]?.id ?? ''));
  };

  it.each([
    ['ada', ['ada', 'adam']],
    ['ADA', ['ada', 'adam']],
    ['adam', ['adam']],
    ['lucja unal', ['lucja']],
    ['ŁUCJA ÜNAL', ['lucja']],
    ['unal', ['lucja']],
    ['mar love', ['ada']],
    ['ada byron', ['adam']],
    ['ada lovelace byron', []],
    ['velace', []],
    ['lucja@example', ['lucja']],
    ['48600', ['ada']],
    ['+48600100', ['ada']],
    // No member code begins with U, so only names match.
    ['u', ['lucja']],
    ['a byron', ['adam']],
    ['nobody', []],
  ])('for %s finds %j', async (q, names) => {
    expect(await found({ q })).toEqual(names);
  });

  it('finds by the beginning of the member code, in any case, and by no other part of it', async () => {
    const { memberCode = '' } = people.ada ?? {};
    expect(await found({ q: memberCode.slice(0, 6).toLowerCase() })).toEqual(['ada']);
    expect(await found({ q: memberCode })).toEqual(['ada']);
    expect(await found({ q: memberCode.slice(1) })).toEqual([]);
  });

  it('by serial matches code or legacy serial exactly', async () => {
    const { memberCode = '', serialNumber = '' } = people.ada ?? {};
    expect(await found({ serial: memberCode })).toEqual(['ada']);
    expect(await found({ serial: memberCode.toLowerCase() })).toEqual(['ada']);
    expect(await found({ serial: serialNumber })).toEqual(['ada']);
    expect(await found({ serial: serialNumber.toUpperCase() })).toEqual(['ada']);
    expect(await found({ serial: memberCode.slice(0, 9) })).toEqual([]);
    expect(await found({ serial: memberCode, q: 'lovelace' })).toEqual(['ada']);
    expect(await found({ serial: memberCode, q: 'byron' })).toEqual([]);
    expect(await found({ serial: memberCode, programId: 'other' })).toEqual([]);
  });

  it('finds a phone number in every spelling, with the country of the program', async () => {
    const { deps } = service;
    const british = await own.program({ country: 'GB' });
    const german = await own.program({ country: 'DE' });
    const enroll = (programId: string, phone: string) => own.enroll({ programId, phone });
    const london = await enroll(british._id, '020 7946 0018');
    const abroad = await enroll(german._id, '+44 (0)20 7946 0018');
    const berlin = await enroll(german._id, '0170\u00a01234543');
    const ids = async (query: Record<string, string>) => (await idsOf(await list(own, query))).sort();
    const both = [london.id, abroad.id].sort();
    const found = async () => ({
      international: await Promise.all(
        ['+442079460018', '+44 20 7946-0018', '0044 (0)20 7946 0018'].map((phone) => ids({ phone })),
      ),
      national: await Promise.all(['02079460018', '(020) 7946 0018'].map((phone) => ids({ phone }))),
      german: await Promise.all(['+49 170 1234543', '0170/1234543', '00491701234543'].map((phone) => ids({ phone }))),
      words: await Promise.all(['4917012345', '01701234543', '442079460'].map((q) => ids({ q }))),
      others: await ids({ phone: '0170 123454' }),
    });
    const expected = {
      international: [both, both, both],
      national: [[london.id], [london.id]],
      german: [[berlin.id], [berlin.id], [berlin.id]],
      words: [[berlin.id], [berlin.id], both],
      others: [],
    };
    expect(await found()).toEqual(expected);
    expect([london.phone, abroad.phone, berlin.phone]).toEqual([
      '020 7946 0018',
      '+44 (0)20 7946 0018',
      '0170 1234543',
    ]);

    // As of members that had their numbers before their program had its country.
    const { members, memberSearchWords } = deps.collections;
    for (const _id of [london.id, abroad.id, berlin.id]) {
      const { phone = '' } = (await members.findOneAndUpdate({ _id }, { $unset: { phoneE164: '' } })) ?? {};
      for (const { _id: word } of await memberSearchWords.find({ memberId: _id, word: /^\d+$/ }).toArray())
        if (!word.endsWith(`:${phone.replace(/\D/g, '')}`)) await memberSearchWords.deleteOne({ _id: word });
    }
    const { german: old, national } = await found();
    expect({ german: old, national }).toEqual({ german: expected.german, national: expected.national });
    for (let turn = 0; turn < 2; turn += 1) await migrate(deps);
    expect(await found()).toEqual(expected);
    expect((await members.findOne({ _id: berlin.id }))?.phoneE164).toBe('+491701234543');

    const patch = (phone: string | null) =>
      own.call(`/merchants/me/members/${berlin.id}`, { method: 'PATCH', body: { phone } });
    expect((await patch('(030) 1234567')).body.data.phone).toBe('(030) 1234567');
    expect([await ids({ phone: '+49301234567' }), await ids({ q: '491701234543' })]).toEqual([[berlin.id], []]);
    expect((await patch(null)).body.data).not.toHaveProperty('phone');
    expect(await memberSearchWords.countDocuments({ memberId: berlin.id, word: /^\d{11,}$/ })).toBe(0);
    expect(await members.findOne({ _id: berlin.id })).not.toHaveProperty('phoneE164');
  });

  it('by email, phone or external id finds exactly the members that have it', async () => {
    const program = await own.program();
    const enroll = (fields: object) => own.enroll({ programId: program._id, ...fields });
    const one = await enroll({ email: 'zoe@mail.co', phone: '020 7946 0958', externalId: 'K-77' });
    await enroll({ email: 'zoe@mail.com', phone: '020 7946 09581', externalId: 'K-770' });
    const ids = async (query: Record<string, string>, by = own) => idsOf(await list(by, query));
    const exact = [
      { email: 'zoe@mail.co' },
      { email: 'ZOE@mail.co' },
      { phone: '02079460958' },
      { phone: '020-7946 (0958)' },
      { externalId: 'K-77' },
      { email: 'zoe@mail.co', phone: '02079460958', externalId: 'K-77', q: 'zoe', programId: program._id },
      { serial: one.memberCode, phone: '02079460958' },
    ];
    for (const query of exact) expect([query, await ids(query)]).toEqual([query, [one.id]]);
    const nobody = [
      { email: 'oe@mail.co' },
      { phone: '0207946' },
      { phone: '+' },
      { externalId: 'K-7' },
      { email: 'zoe@mail.co', phone: '020794609581' },
      { email: 'zoe@mail.co', externalId: 'K-770' },
      { phone: '02079460958', q: 'byron' },
      { externalId: 'K-77', programId: 'other' },
    ];
    for (const query of nobody) expect([query, await ids(query)]).toEqual([query, []]);
    const stranger = await aMerchant(service);
    for (const query of exact.slice(0, 5)) expect(await ids(query, stranger)).toEqual([]);
  });

  it('stays within the merchant', async () => {
    const stranger = await aMerchant(service);
    const { memberCode = '', serialNumber = '' } = people.ada ?? {};
    for (const query of [{ q: 'ada' }, { q: memberCode }, { serial: memberCode }, { serial: serialNumber }])
      expect(await list(stranger, query)).toMatchObject({ items: [], total: 0 });
  });

  it('is paged, newest first, with the total of what matches', async () => {
    const older = await own.enroll({ firstName: 'Oliver' });
    const newer = await own.enroll({ firstName: 'Olivia' });
    // No member code begins with O.
    const first = await list(own, { q: 'oli', pageSize: 1 });
    const second = await list(own, { q: 'oli', pageSize: 1, page: 2 });
    expect([first.total, second.total]).toEqual([2, 2]);
    expect([...idsOf(first), ...idsOf(second)]).toEqual([newer.id, older.id]);
  });

  it('accepts five words and refuses a sixth', async () => {
    const six = await own.call('/merchants/me/members?q=one+two+three+four+five+six');
    expect([six.status, six.body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect((await own.call('/merchants/me/members?q=one+two+three+four+five')).status).toBe(200);
  });

  it('finds a renamed member by the new name and no longer by the old one', async () => {
    const member = await own.enroll({ firstName: 'Before', email: 'rename@example.com' });
    await of(member.id, '', patch({ firstName: 'Afterwards' }), own);
    expect(idsOf(await list(own, { q: 'before' }))).toEqual([]);
    expect(idsOf(await list(own, { q: 'afterw' }))).toEqual([member.id]);
    expect(idsOf(await list(own, { q: 'rename' }))).toEqual([member.id]);
  });
});

describe('tags', () => {
  const tags = (memberId: string, method: string, ...names: string[]) =>
    of(memberId, '/tags', { method, body: { tags: names } });

  it('are added once each, normalised, with an event', async () => {
    const member = await merchant.enroll();
    const added = await tags(member.id, 'POST', ' VIP ', 'early   bird', 'vip');
    expect(added.status).toBe(200);
    expect(added.body.data.tags).toEqual(['vip', 'early bird']);
    expect(added.body.data).not.toHaveProperty('unchanged');
    const [event] = await updates(member.id, 1);
    expect(event.data).toMatchObject({
      changed: ['tags'],
      tags: ['vip', 'early bird'],
      status: 'active',
      memberVersion: 2,
    });
    expect(event.data).not.toHaveProperty('passUpdate');
  });

  it('that exist already change nothing, and the answer says so', async () => {
    const member = await merchant.enroll();
    await tags(member.id, 'POST', 'vip');
    const again = await tags(member.id, 'POST', 'VIP');
    expect(again.body.data).toMatchObject({ tags: ['vip'], unchanged: true });
    expect((await service.deps.collections.members.findOne({ _id: member.id }))?.version).toBe(2);
  });

  it('over 25 are refused and nothing is changed', async () => {
    const member = await merchant.enroll();
    const names = Array.from({ length: 24 }, (_, index) => `tag ${index}`);
    await tags(member.id, 'POST', ...names);
    const over = await tags(member.id, 'POST', 'tag 0', 'tag 24', 'tag 25');
    expect([over.status, over.body.error.code]).toEqual([400, 'TAG_LIMIT_EXCEEDED']);
    expect((await of(member.id)).body.data.tags).toEqual(names);
    expect((await tags(member.id, 'POST', 'tag 24', 'tag 1')).body.data.tags).toHaveLength(25);
  });

  it('are removed; unknown ones are ignored', async () => {
    const member = await merchant.enroll();
    await tags(member.id, 'POST', 'one', 'two');
    expect((await tags(member.id, 'DELETE', 'One', 'three')).body.data.tags).toEqual(['two']);
    const none = await tags(member.id, 'DELETE', 'three');
    expect([none.status, none.body.data.tags]).toEqual([200, ['two']]);
    expect((await service.deps.collections.members.findOne({ _id: member.id }))?.version).toBe(3);
  });

  it('in use are listed once each in order, and are removed from the list after their last use', async () => {
    const own = await aMerchant(service);
    const [one, other] = [await own.enroll(), await own.enroll()];
    const all = async () => (await own.call('/merchants/me/members/tags')).body.data;
    const send = (id: string, method: string, names: string[]) =>
      of(id, '/tags', { method, body: { tags: names } }, own);
    expect(await all()).toEqual({ tags: [] });
    await send(one.id, 'POST', ['vip', 'alpha']);
    await send(other.id, 'POST', ['vip', 'ärger']);
    expect(await all()).toEqual({ tags: ['alpha', 'vip', 'ärger'] });
    await send(one.id, 'DELETE', ['vip', 'alpha']);
    expect(await all()).toEqual({ tags: ['vip', 'ärger'] });
  });

  it('are listed also when another member gets one while its last use ends', async () => {
    const own = await aMerchant(service);
    const { id } = await own.enroll();
    const wanted = { merchantId: own.id, tags: ['vip'] };
    await addTagsInUse(service.deps, wanted);
    const { collections } = service.deps;
    const tags: typeof collections.tags = Object.create(collections.tags, {
      deleteOne: {
        async value(filter: Filter<TagRow>) {
          await of(id, '/tags', { body: { tags: ['vip'] } }, own);
          return collections.tags.deleteOne(filter);
        },
      },
    });
    await removeUnusedTags({ ...service.deps, collections: { ...collections, tags } }, wanted);
    expect((await own.call('/merchants/me/members/tags')).body.data).toEqual({ tags: ['vip'] });
  });

  it.each([[[]], [['']], [['x'.repeat(51)]], ['vip'], [[1]], [Array(26).fill('x')]])('refuses %j', async (names) => {
    const member = await merchant.enroll();
    for (const method of ['POST', 'DELETE']) {
      const answer = await of(member.id, '/tags', { method, body: { tags: names } });
      expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    }
  });
});

describe("a change of a member's data", () => {
  it('is answered, published, and keeps fields that were not sent', async () => {
    const member = await merchant.enroll({ firstName: 'Ada', lastName: 'Byron', email: 'change@example.com' });
    const { status, body } = await of(
      member.id,
      '',
      patch({ lastName: 'Lovelace', email: ' New@Example.com', phone: '+48 600 100' }),
    );
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      firstName: 'Ada',
      lastName: 'Lovelace',
      email: 'new@example.com',
      phone: '+48 600 100',
    });
    const [event] = await updates(member.id, 1);
    expect(event.data).toMatchObject({ changed: ['lastName', 'email', 'phone'], status: 'active', memberVersion: 2 });
    expect(JSON.stringify(event)).not.toContain('new@example.com');
  });

  it('with null removes a field and frees its email', async () => {
    const member = await merchant.enroll({ firstName: 'Ada', email: 'free@example.com' });
    const { body } = await of(member.id, '', patch({ firstName: null, email: null }));
    expect(body.data).not.toHaveProperty('firstName');
    expect(body.data).not.toHaveProperty('email');
    expect(idsOf(await list(merchant, { q: 'free@example.com' }))).toEqual([]);
    const next = await merchant.enroll({ email: 'free@example.com' });
    expect(next.id).not.toBe(member.id);
  });

  it('that changes nothing creates no version and no event', async () => {
    const member = await merchant.enroll({ firstName: 'Ada' });
    const { status, body } = await of(member.id, '', patch({ firstName: 'Ada', phone: null }));
    expect([status, body.data.firstName]).toEqual([200, 'Ada']);
    expect((await service.deps.collections.members.findOne({ _id: member.id }))?.version).toBe(1);
  });

  it('to an email that is taken is refused and changes nothing', async () => {
    await merchant.enroll({ email: 'taken@example.com' });
    const member = await merchant.enroll({ email: 'mine@example.com' });
    const { status, body } = await of(member.id, '', patch({ email: 'TAKEN@example.com', firstName: 'X' }));
    expect([status, body.error.code]).toEqual([409, 'EMAIL_TAKEN']);
    expect((await of(member.id)).body.data).toMatchObject({ email: 'mine@example.com' });
    expect((await of(member.id, '', patch({ email: 'mine@example.com' }))).status).toBe(200);
  });

  it('of two members to one email at the same time succeeds for one of them', async () => {
    const [one, other] = [await merchant.enroll(), await merchant.enroll()];
    const answers = await Promise.all(
      [one, other].map((member) => of(member.id, '', patch({ email: 'both@example.com' }))),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409]);
    expect(answers.find((answer) => answer.status === 409)?.body.error.code).toBe('EMAIL_TAKEN');
  });

  it.each([[{}], [{ balance: 5 }], [{ firstName: '' }], [{ email: 'x' }], [{ phone: 'call me' }], [{ tags: [] }]])(
    'refuses %j',
    async (body) => {
      const member = await merchant.enroll();
      const answer = await of(member.id, '', patch(body));
      expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    },
  );
});

describe('the status', () => {
  it('can change between any two of the three values, each with an event that names the old one', async () => {
    const member = await merchant.enroll();
    const steps = ['voided', 'expired', 'voided', 'active', 'expired', 'active'];
    for (const status of steps) {
      const answer = await of(member.id, '/status', patch({ status, reason: `to ${status}` }));
      expect(answer.status).toBe(200);
      expect(answer.body.data).toMatchObject({
        member: { id: member.id, status },
        passUpdate: { serialNumber: member.serialNumber },
      });
      expect(answer.body.data).not.toHaveProperty('unchanged');
    }
    const events = await updates(member.id, steps.length);
    expect(events.map((event) => [event.data.previousStatus, event.data.status, event.data.reason])).toEqual(
      steps.map((status, index) => [steps[index - 1] ?? 'active', status, `to ${status}`]),
    );
    expect(events[0].data).toMatchObject({ changed: ['status'], passUpdate: { apple: { mode: 'stub' } } });
  });

  it('set to its present value changes nothing, and the answer says so', async () => {
    const member = await merchant.enroll();
    const { status, body } = await of(member.id, '/status', patch({ status: 'active' }));
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ unchanged: true, passUpdate: null, member: { status: 'active' } });
    expect((await service.deps.collections.members.findOne({ _id: member.id }))?.version).toBe(1);
  });

  it.each([
    [{}],
    [{ status: 'deleted' }],
    [{ status: 'Active' }],
    [{ status: null }],
    [{ status: 'voided', reason: 'x'.repeat(501) }],
    [{ status: 'voided', by: 'me' }],
  ])('refuses %j', async (body) => {
    const member = await merchant.enroll();
    const answer = await of(member.id, '/status', patch(body));
    expect([answer.status, answer.body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
  });
});

describe('a push', () => {
  it('creates a new version of the pass and changes nothing else', async () => {
    const member = await merchant.enroll({ initialPoints: 5 });
    const [first, second] = [
      await of(member.id, '/push', { method: 'POST' }),
      await of(member.id, '/push', { method: 'POST' }),
    ];
    expect(first.status).toBe(200);
    expect(first.body.data).toMatchObject({
      member: { id: member.id, memberCode: member.memberCode, fieldValues: { points: 5 } },
      passUpdate: { serialNumber: member.serialNumber, apple: { mode: 'stub' } },
    });
    const tag = (answer: Answer) => Date.parse(answer.body.data.passUpdate.lastUpdateTag);
    expect(tag(second)).toBeGreaterThan(tag(first));
    expect((await of(member.id, '/transactions')).body.data.total).toBe(1);
  });
});

describe('the timeline', () => {
  it('of each change in stub mode has both skipped pushes, newest first, up to the limit', async () => {
    const member = await merchant.enroll();
    for (let index = 0; index < 3; index += 1) await of(member.id, '/points', patch({ delta: 1 }));
    const items = async (query = '') => (await of(member.id, `/events${query}`)).body.data.items;
    await until(async () => (await items()).length === 8);
    const all = await items();
    const types = all.map((item: { type: string; outcome: string }) => `${item.type} ${item.outcome}`);
    expect(types.filter((type: string) => type === 'push_sent skipped')).toHaveLength(3);
    expect(types.filter((type: string) => type === 'google_object_patched skipped')).toHaveLength(3);
    const times = all.map((item: { occurredAt: string }) => item.occurredAt);
    expect(times).toEqual(times.toSorted().toReversed());
    expect(await items('?limit=2')).toEqual(all.slice(0, 2));
  });

  it.each(['0', '201', 'x', '-1', ''])('refuses a limit of %s', async (limit) => {
    const member = await merchant.enroll();
    const { status, body } = await of(member.id, `/events?limit=${limit}`);
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
  });

  it('is exported as CSV that an independent parser reads, newest first, with formulas escaped', async () => {
    const member = await merchant.enroll();
    await until(async () => (await of(member.id, '/events')).body.data.items.length === 2);
    const odd = { merchantId: merchant.id, memberId: member.id, type: 'push_sent', outcome: 'failure' as const };
    await service.deps.collections.timeline.insertMany([
      {
        _id: newId(),
        ...odd,
        platform: 'apple',
        detail: '=HYPERLINK("http://x","y")',
        occurredAt: new Date('2030-01-02'),
      },
      { _id: newId(), ...odd, detail: 'a "quoted", cell', occurredAt: new Date('2030-01-01') },
    ]);
    const { status, headers, text } = await of(member.id, '/events.csv');
    expect(status).toBe(200);
    expect(headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(headers.get('content-disposition')).toContain(`events-${member.memberCode}.csv`);
    const [columns, ...rows] = parse(text, { bom: true }) as string[][];
    expect(columns).toEqual(['id', 'type', 'outcome', 'platform', 'occurredAt', 'detail']);
    expect(rows).toHaveLength(4);
    expect(rows[0]?.slice(1)).toEqual([
      'push_sent',
      'failure',
      'apple',
      '2030-01-02T00:00:00.000Z',
      `'=HYPERLINK("http://x","y")`,
    ]);
    expect(rows[1]?.[5]).toBe('a "quoted", cell');
    const bytes = await fetch(`${service.baseUrl}/merchants/me/members/${member.id}/events.csv`, {
      headers: { 'X-API-Key': merchant.apiKey },
    }).then((response) => response.arrayBuffer());
    expect(Buffer.from(bytes).subarray(0, 3).toString('hex')).toBe('efbbbf');
    expect(text.endsWith('\r\n')).toBe(true);
  });
});

describe('the ledger', () => {
  it('is the chain of all changes, newest first, page by page', async () => {
    const member = await merchant.enroll({ initialPoints: 100 });
    await of(member.id, '/points', patch({ delta: 30, changeMessage: 'thirty' }));
    await of(member.id, '/redeem', { method: 'POST' });
    await of(member.id, '/status', patch({ status: 'voided' }));
    const { body } = await of(member.id, '/transactions');
    expect(body.data).toMatchObject({ page: 1, pageSize: 25, total: 3 });
    expect(
      body.data.items.map((item: { type: string; previous: number; current: number }) => [
        item.type,
        item.previous,
        item.current,
      ]),
    ).toEqual([
      ['redeem', 130, 30],
      ['adjust', 100, 130],
      ['initial', 0, 100],
    ]);
    expect(body.data.items[1]).toEqual({
      id: expect.stringMatching(`^points:${member.id}:`),
      type: 'adjust',
      field: 'points',
      previous: 100,
      current: 130,
      delta: 30,
      changeMessage: 'thirty',
      rule: { programVersion: 1 },
      actor: { type: 'api-key', id: expect.any(String), name: 'test key' },
      createdAt: expect.any(String),
    });
    const second = await of(member.id, '/transactions?page=2&pageSize=2');
    expect(second.body.data).toMatchObject({ page: 2, pageSize: 2, total: 3, items: [{ type: 'initial' }] });
  });

  it('names the console user who made the change', async () => {
    const member = await merchant.enroll();
    const credential = { Authorization: `Bearer ${await merchant.token()}` };
    await of(member.id, '/points', { ...patch({ delta: 1 }), credential });
    const { body } = await of(member.id, '/transactions');
    expect(body.data.items[0].actor).toEqual({ type: 'user', id: 'user-1' });
  });
});

it('the version of a member grows by one with each change, and each change has one event', async () => {
  const member = await merchant.enroll({ firstName: 'Ada', initialPoints: 100 });
  await of(member.id, '/points', patch({ delta: 1 }));
  await of(member.id, '/tags', { body: { tags: ['vip'] } });
  await of(member.id, '', patch({ firstName: 'Augusta' }));
  await of(member.id, '/redeem', { method: 'POST' });
  await of(member.id, '/status', patch({ status: 'expired' }));
  const rows = await service.deps.collections.events
    .find({ memberId: member.id, type: { $ne: 'pass.created' } })
    .toArray();
  expect(rows.map((event) => [event.data.memberVersion, event.type]).sort()).toEqual([
    [1, 'member.created'],
    [2, 'points.changed'],
    [3, 'member.updated'],
    [4, 'member.updated'],
    [5, 'reward.redeemed'],
    [6, 'member.updated'],
  ]);
});
