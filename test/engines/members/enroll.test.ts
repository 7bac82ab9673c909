// Enrollment over the API (docs/interface.md, sections 2.3 and 4.3): one member for each email in a program, and the
// effects that follow.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { until } from '../../rig/checks/until.js';
import { type Answer, aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;
let program: Program;

beforeAll(async () => {
  subscribed = await startSubscribedService(['*']);
  ({ service, merchant } = subscribed);
  program = await merchant.program();
});

afterAll(() => subscribed.stop());

const enroll = (body: object, merchantOf = merchant): Promise<Answer> =>
  merchantOf.call('/merchants/me/members', { body: { programId: program._id, ...body } });
const count = (filter: object = {}) =>
  service.deps.collections.members.countDocuments({ merchantId: merchant.id, ...filter });
const eventsOf = (memberId: string, type: string) =>
  until(() => {
    const events = subscribed.envelopes(memberId).filter((envelope) => envelope.event === type);
    return events.length > 0 && events;
  });

describe('a new member', () => {
  it('is answered with all of its fields', async () => {
    const { status, body } = await enroll({
      firstName: ' Ada ',
      lastName: 'Lovelace',
      email: ' Ada.L@Example.com ',
      phone: '+48 600 100 200',
      initialPoints: 20,
    });
    expect(status).toBe(201);
    expect(body).toEqual({
      success: true,
      data: {
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        memberCode: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{10}$/),
        serialNumber: expect.stringMatching(/^[0-9a-f-]{36}$/),
        programId: program._id,
        firstName: 'Ada',
        lastName: 'Lovelace',
        email: 'ada.l@example.com',
        phone: '+48 600 100 200',
        fieldValues: { points: 20 },
        balance: 20,
        tags: [],
        status: 'active',
        apple: {
          passUrl: expect.stringMatching(new RegExp(`^${service.publicUrl}/passes/[A-Za-z0-9_-]{22,}$`)),
          mode: 'stub',
        },
        google: { mode: 'stub' },
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    });
  });

  it('needs a program and nothing else', async () => {
    const { status, body } = await enroll({});
    expect(status).toBe(201);
    expect(body.data.fieldValues).toEqual({ points: 0 });
    expect(body.data).not.toHaveProperty('email');
  });

  it('without an email is a different member each time', async () => {
    const before = await count();
    await Promise.all([enroll({ firstName: 'Twin' }), enroll({ firstName: 'Twin' })]);
    expect(await count()).toBe(before + 2);
  });

  it('gets its passes, and the merchant gets events for the member and the passes', async () => {
    let turn = 0;
    const refused: unknown[] = [];
    // On a slow machine a wallet may not take the pass at the first attempt, and then the event says so.
    const { data, created } = await until(async () => {
      turn += 1;
      expect(turn, JSON.stringify(refused)).toBeLessThan(5);
      const person = { firstName: 'Grace', lastName: 'Hopper', email: `grace${turn}@example.com`, initialPoints: 5 };
      const { body } = await enroll(person);
      const [event] = await eventsOf(body.data.id, 'member.created');
      const { apple, google } = event.data.passIssuance;
      refused.push({ apple, google });
      return apple && google && { data: body.data, created: event };
    });
    const { id, memberCode, serialNumber } = data;
    expect(created.data).toEqual({
      memberId: id,
      memberCode,
      programId: program._id,
      merchantId: merchant.id,
      memberVersion: 1,
      email: `grace${turn}@example.com`,
      firstName: 'Grace',
      lastName: 'Hopper',
      source: 'api',
      attribution: {},
      passIssuance: { apple: true, google: true },
    });
    await until(async () => (await eventsOf(id, 'pass.created')).length === 2);
    const passes = await eventsOf(id, 'pass.created');
    expect(passes.map((event: { data: { platform: string } }) => event.data.platform).sort()).toEqual([
      'apple',
      'google',
    ]);
    expect(passes[0].data).toMatchObject({ serialNumber, mode: 'stub', memberCode });

    const read = await merchant.call(`/merchants/me/members/${id}`);
    expect(read.body.data.apple.passUrl).toMatch(new RegExp(`^${service.publicUrl}/passes/[A-Za-z0-9_-]{22,}$`));
    const timeline = await merchant.call(`/merchants/me/members/${id}/events`);
    const built = timeline.body.data.items.filter((item: { type: string }) => item.type === 'pass_built');
    expect(built.map((item: { outcome: string; platform: string }) => [item.platform, item.outcome]).sort()).toEqual([
      ['apple', 'skipped'],
      ['google', 'skipped'],
    ]);
  });

  it('with initial points has them in its ledger, and gets no points.changed', async () => {
    const { body } = await enroll({ initialPoints: 50 });
    const ledger = await merchant.call(`/merchants/me/members/${body.data.id}/transactions`);
    expect(ledger.body.data).toMatchObject({
      total: 1,
      items: [{ type: 'initial', previous: 0, current: 50, delta: 50 }],
    });
    const none = await enroll({});
    const empty = await merchant.call(`/merchants/me/members/${none.body.data.id}/transactions`);
    expect(empty.body.data).toMatchObject({ total: 0, items: [] });
    expect(
      await service.deps.collections.events.countDocuments({ memberId: body.data.id, type: 'points.changed' }),
    ).toBe(0);
  });

  it('starts in the tier that its points reach', async () => {
    const tiered = await merchant.program({
      style: 'tiered',
      tiers: [
        { name: 'Bronze', threshold: 0 },
        { name: 'Silver', threshold: 10 },
      ],
    });
    expect((await enroll({ programId: tiered._id })).body.data.tier).toBe('Bronze');
    expect((await enroll({ programId: tiered._id, initialPoints: 10 })).body.data.tier).toBe('Silver');
  });

  it('of a program without push messages is in stub mode on both wallets', async () => {
    const quiet = await merchant.program({ pushMessages: false });
    expect((await enroll({ programId: quiet._id })).body.data).toMatchObject({
      apple: { mode: 'stub' },
      google: { mode: 'stub' },
    });
  });

  it('enrolled from the console has the source of the console', async () => {
    const token = await merchant.token();
    const { body } = await merchant.call('/merchants/me/members', {
      body: { programId: program._id, initialPoints: 1 },
      credential: { Authorization: `Bearer ${token}` },
    });
    expect((await eventsOf(body.data.id, 'member.created'))[0].data.source).toBe('console');
    const ledger = await merchant.call(`/merchants/me/members/${body.data.id}/transactions`);
    expect(ledger.body.data.items[0].actor).toEqual({ type: 'user', id: 'user-1' });
  });
});

describe('a known email', () => {
  it('returns the member that has it, whatever else was sent, and creates nothing', async () => {
    const first = await enroll({ email: 'known@example.com', firstName: 'First', initialPoints: 5 });
    const again = await enroll({ email: ' KNOWN@example.com', firstName: 'Second', initialPoints: 500 });
    expect(again.status).toBe(200);
    expect(again.body.data).toMatchObject({
      id: first.body.data.id,
      deduped: true,
      firstName: 'First',
      fieldValues: { points: 5 },
    });
    expect(first.body.data).not.toHaveProperty('deduped');
    expect(await count({ email: 'known@example.com' })).toBe(1);
    expect(
      await service.deps.collections.events.countDocuments({ memberId: first.body.data.id, type: 'member.created' }),
    ).toBe(1);
  });

  it('creates another member in another program and with another merchant', async () => {
    const other = await merchant.program();
    const stranger = await aMerchant(service);
    const theirs = await stranger.program();
    const email = 'everywhere@example.com';
    const answers = [
      await enroll({ email }),
      await enroll({ email, programId: other._id }),
      await enroll({ email, programId: theirs._id }, stranger),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([201, 201, 201]);
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(3);
  });

  it('creates one member from twenty concurrent requests', async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => enroll({ email: 'once@example.com', initialPoints: 7 })),
    );
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 200 && answer.body.data.deduped === true)).toHaveLength(19);
    expect(new Set(answers.map((answer) => answer.body.data.id)).size).toBe(1);
    const id = answers[0]?.body.data.id;
    expect(await service.deps.collections.ledger.countDocuments({ memberId: id })).toBe(1);
    expect(await service.deps.collections.events.countDocuments({ memberId: id, type: 'member.created' })).toBe(1);
  });
});

describe('a request that is refused', () => {
  it('for an archived program is 400, also for a known email', async () => {
    const archived = await merchant.program();
    await enroll({ programId: archived._id, email: 'early@example.com' });
    await service.deps.collections.programs.updateOne({ _id: archived._id }, { $set: { archived: true } });
    for (const email of ['early@example.com', 'late@example.com']) {
      const { status, body } = await enroll({ programId: archived._id, email });
      expect([status, body.error.code]).toEqual([400, 'PROGRAM_ARCHIVED']);
    }
  });

  it('for a program that does not exist or is of another merchant gets the same 404', async () => {
    const stranger = await aMerchant(service);
    const theirs = await stranger.program();
    const unknown = await enroll({ programId: 'no-such-program' });
    const foreign = await enroll({ programId: theirs._id });
    for (const answer of [unknown, foreign])
      expect([answer.status, answer.body.error.code]).toEqual([404, 'PROGRAM_NOT_FOUND']);
    expect(foreign.body).toEqual(unknown.body);
  });

  it('for a stamp card with more initial stamps than its goal names the field', async () => {
    const stamps = await merchant.program({ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10 });
    expect((await enroll({ programId: stamps._id, initialPoints: 10 })).status).toBe(201);
    const { status, body } = await enroll({ programId: stamps._id, initialPoints: 11 });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body.error.details).toEqual([{ path: 'initialPoints', message: expect.any(String) }]);
  });

  it.each([
    ['no program', { programId: undefined }, 'programId'],
    ['an address that is none', { email: 'ada@' }, 'email'],
    ['negative points', { initialPoints: -1 }, 'initialPoints'],
    ['points in quotes', { initialPoints: '5' }, 'initialPoints'],
    ['a name of 101 characters', { firstName: 'x'.repeat(101) }, 'firstName'],
    ['a name with a new line', { lastName: 'Love\nlace' }, 'lastName'],
    ['an unknown field', { balance: 500 }, 'balance'],
    ['an operator for an email', { email: { $gt: '' } }, 'email'],
  ])('for %s names it and enrolls nobody', async (_what, fields, path) => {
    const before = await count();
    const { status, body } = await enroll(fields);
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
    expect(body.error.details.map((detail: { path: string }) => detail.path)).toContain(path);
    expect(await count()).toBe(before);
  });

  it('with long names that differ only beyond what the search can see is accepted', async () => {
    const { status } = await enroll({ firstName: `${'a'.repeat(63)}😀`, lastName: `${'a'.repeat(63)}🜀` });
    expect(status).toBe(201);
  });
});
