// Drafts of programs (docs/interface.md#42-programs): created and edited in console sessions, invisible to other
// callers, and protected against concurrent edits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { noisePng } from '../../rig/standins/noisePng.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import { aMerchant, manyMembers, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let designer: Designer;

beforeAll(async () => {
  service = await startService({ worker: false, env: { PROGRAM_MAX_BYTES: '400000', MERCHANT_MAX_PROGRAMS: '60' } });
  merchant = await aMerchant(service);
  designer = await aDesigner(merchant);
});
afterAll(() => service.stop());

const programs = '/merchants/me/programs';
const stored = async (_id: string) => ({
  live: await service.deps.collections.programs.findOne({ _id }),
  draft: await service.deps.collections.programDrafts.findOne({ _id }),
});

/** A refused request has this code and changes nothing. */
async function refuses(id: string, request: () => ReturnType<Designer['edit']>, expected: [number, string]) {
  const before = await stored(id);
  const answer = await request();
  expect(outcome(answer)).toEqual(expected);
  expect(await stored(id)).toEqual(before);
  return answer.body.error;
}

describe('the draft of a new program', () => {
  it('has an id, version 1 and all defaults', async () => {
    const { status, body } = await designer.create({ name: 'Corner Café' });
    expect(status).toBe(201);
    expect(body.data).toMatchObject({
      name: 'Corner Café',
      version: 1,
      liveVersion: null,
      archived: false,
      pushMessages: true,
      enrollment: { open: true, fields: ['firstName', 'lastName'] },
      passTemplate: { colors: { background: '#14532d' }, images: {} },
    });
    expect((await designer.call(`/${body.data._id}/draft`)).body.data).toEqual(body.data);
  });

  it('is visible only to editors', async () => {
    const { _id, slug } = (await designer.create()).body.data;
    const viewer = await aDesigner(merchant, ['viewer']);
    expect((await designer.call(`/${_id}`)).body.data).toMatchObject({ _id, version: 1 });
    expect((await designer.call()).body.data.map((program: { _id: string }) => program._id)).toContain(_id);
    for (const read of [(path: string) => merchant.call(`${programs}${path}`), viewer.call]) {
      expect(outcome(await read(`/${_id}`))).toEqual([404, 'PROGRAM_NOT_FOUND']);
      expect((await read('')).text).not.toContain(_id);
    }
    const enrolled = await merchant.call('/merchants/me/members', { body: { programId: _id } });
    expect(outcome(enrolled)).toEqual([404, 'PROGRAM_NOT_FOUND']);
    const joined = await merchant.call(`/enroll/${slug}/submit`, { body: { email: 'a@b.example' }, credential: null });
    expect(outcome(joined)).toEqual([404, 'PROGRAM_NOT_FOUND']);
    expect((await fetch(`${service.publicUrl}/enroll/${slug}`)).status).toBe(404);
  });

  it('may have a chosen id, unless a program of the merchant has it', async () => {
    const _id = `own-${newId()}`;
    expect((await designer.create({ _id })).body.data._id).toBe(_id);
    for (const id of [_id, (await merchant.program())._id])
      await refuses(id, () => designer.create({ _id: id }), [409, 'PROGRAM_EXISTS']);
  });

  it('is refused with every mistake, and nothing is stored', async () => {
    const { programDrafts } = service.deps.collections;
    const before = await programDrafts.countDocuments({ merchantId: merchant.id });
    const answer = await designer.create({ style: 'stamps', goal: undefined, colour: 'red' });
    expect(outcome(answer)).toEqual([400, 'VALIDATION_FAILED']);
    expect(answer.body.error.details).toContainEqual({
      path: 'colour',
      message: 'is not a known field; did you mean passTemplate.colors?',
    });
    const rule = await designer.create({ style: 'stamps', goal: undefined });
    expect(rule.body.error.details).toEqual([{ path: 'goal', message: 'is required for a stamps program' }]);
    const icon = await designer.create({ passTemplate: { images: { icon: 'AAAA' } } });
    expect(icon.body.error.details[0].path).toBe('passTemplate.images.icon');
    expect(await programDrafts.countDocuments({ merchantId: merchant.id })).toBe(before);
  });

  it('may be larger than other bodies, up to PROGRAM_MAX_BYTES', async () => {
    const logo = (bytes: number) => noisePng(800, 800, bytes).toString('base64');
    expect((await designer.create({ passTemplate: { images: { logo: logo(200_000) } } })).status).toBe(201);
    const tooLarge = await designer.create({ passTemplate: { images: { logo: logo(400_000) } } });
    expect(outcome(tooLarge)).toEqual([413, 'BODY_TOO_LARGE']);
  });

  it('counts against the limit of programs of a merchant, also for concurrent requests', async () => {
    const other = await aMerchant(service);
    await service.deps.collections.merchants.insertOne({
      _id: other.id,
      name: 'Few',
      createdAt: new Date(),
      limits: { programs: 3 },
    });
    await other.program();
    const its = await aDesigner(other);
    const answers = await Promise.all(Array.from({ length: 6 }, () => its.create()));
    expect(answers.map(outcome).toSorted()).toEqual([
      ...Array.from({ length: 2 }, () => [201, 'ok']),
      ...Array.from({ length: 4 }, () => [400, 'PROGRAM_LIMIT_REACHED']),
    ]);
  });
});

describe('an edit', () => {
  it('is merged into the newest edit and increments its version; the live program does not change', async () => {
    const { _id } = await merchant.program();
    const before = (await merchant.call(`${programs}/${_id}`)).body.data;
    const first = await designer.edit(_id, { version: 1, goal: 50, passTemplate: { colors: { label: '#FFFFFF' } } });
    expect(first.status).toBe(200);
    expect(first.body.data).toMatchObject({ goal: 50, version: 2, liveVersion: 1, name: 'Test program' });
    expect(first.body.data.passTemplate.colors).toMatchObject({ label: '#ffffff', background: '#14532d' });
    const second = await designer.edit(_id, { version: 2, goal: null, name: 'Renamed' });
    expect(second.body.data).toMatchObject({ name: 'Renamed', version: 3 });
    expect(second.body.data).not.toHaveProperty('goal');
    expect((await merchant.call(`${programs}/${_id}`)).body.data).toEqual(before);
    expect((await designer.call(`/${_id}`)).body.data).toEqual({ ...before, version: 3 });
    expect((await designer.call()).body.data).toContainEqual({ ...before, version: 3 });
  });

  it('replaces the expiry rule whole, and merges the earning rule, of which null removes a field', async () => {
    const earn = { per: 100, points: 1, currency: 'EUR', dailyLimit: 50, cooldownSeconds: 60 };
    const { _id } = await merchant.program({ expiry: { afterDays: 365 }, earn });
    const other = await designer.edit(_id, { expiry: { inactiveDays: 30 }, earn: { dailyLimit: null, points: 2 } });
    expect(outcome(other)).toEqual([200, 'ok']);
    const withoutLimit = { per: 100, points: 2, currency: 'EUR', cooldownSeconds: 60 };
    expect(other.body.data.expiry).toEqual({ inactiveDays: 30 });
    expect(other.body.data.earn).toEqual(withoutLimit);
    for (const kept of [{ goal: 7 }, { expiry: { inactiveDays: 30 } }])
      expect((await designer.edit(_id, kept)).body.data.expiry).toEqual({ inactiveDays: 30 });
    const both = { expiry: { afterDays: 5, inactiveDays: 30 } };
    await refuses(_id, () => designer.edit(_id, both), [400, 'VALIDATION_FAILED']);
    expect((await designer.edit(_id, { expiry: null, earn: null })).body.data).not.toHaveProperty('expiry');
  });

  it('that changes nothing keeps the version', async () => {
    const { _id } = await merchant.program();
    expect((await designer.edit(_id, { version: 1, goal: 100 })).body.data.version).toBe(1);
    expect((await stored(_id)).draft).toBeNull();
  });

  it('takes the draft as it was read, and changes nothing', async () => {
    const tiers = [{ name: 'Bronze', threshold: 0 }];
    const rewards = [{ id: 'tea', name: 'A tea', cost: 10 }];
    const { _id } = await merchant.program({ style: 'tiered', tiers, rewards, expiry: { afterDays: 30 } });
    const unpublished = (await designer.create({ language: 'de', earn: { per: 100, points: 1, currency: 'EUR' } })).body
      .data;
    await designer.call(`/${_id}/archive`, { method: 'POST' });
    for (const id of [_id, unpublished._id]) {
      const draft = (await designer.call(`/${id}/draft`)).body.data;
      const file = { $schema: '../program.schema.json', merchantId: merchant.id };
      for (const body of [draft, { ...draft, ...file }]) {
        const answer = await designer.edit(id, body);
        expect([answer.status, answer.body.data]).toEqual([200, draft]);
      }
    }
    expect((await stored(_id)).draft).toBeNull();
    const { _id: other, version, liveVersion, ...fields } = unpublished;
    const copy = { $schema: 'x', ...fields, slug: `${fields.slug}-copy`, merchantId: merchant.id, archived: false };
    expect(outcome(await designer.create(copy))).toEqual([201, 'ok']);
  });

  it('of another version than the newest is refused', async () => {
    const { _id } = await merchant.program();
    expect((await designer.edit(_id, { version: 1, goal: 50 })).status).toBe(200);
    for (const version of [1, 3]) {
      const error = await refuses(_id, () => designer.edit(_id, { version, goal: 60 }), [409, 'VERSION_CONFLICT']);
      expect(error.details).toEqual({ version: 2 });
    }
  });

  it.each(['live', 'draft'])(
    'succeeds for one of many callers that read the same version of a %s program',
    async (kind) => {
      const { _id } = kind === 'live' ? await merchant.program() : (await designer.create()).body.data;
      for (const version of [1, 2]) {
        const goals = Array.from({ length: 8 }, (_, index) => version * 1_000 + index);
        const answers = await Promise.all(goals.map((goal) => designer.edit(_id, { version, goal })));
        const won = answers.filter(({ status }) => status === 200);
        expect(answers.filter(({ status }) => status !== 200).map(outcome)).toEqual(
          Array.from({ length: 7 }, () => [409, 'VERSION_CONFLICT']),
        );
        expect((await stored(_id)).draft).toMatchObject({
          version: version + 1,
          content: { goal: won[0]?.body.data.goal },
        });
      }
    },
  );

  it('without a version is never lost', async () => {
    const { _id } = await merchant.program();
    const names = ['name', 'goal', 'pushMessages', 'slug'] as const;
    const values = {
      name: 'Together',
      goal: 77,
      pushMessages: false,
      slug: `${_id.toLowerCase()}x`.replaceAll(/[^a-z0-9]/g, ''),
    };
    const answers = await Promise.all(names.map((name) => designer.edit(_id, { [name]: values[name] })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect((await stored(_id)).draft).toMatchObject({ version: 5, content: values });
  });

  it('of the style is refused once a member exists', async () => {
    const program = await merchant.program();
    const tiered = { style: 'tiered', tiers: [{ name: 'A', threshold: 0 }] };
    expect((await designer.edit(program._id, tiered)).status).toBe(200);
    expect((await designer.edit(program._id, { style: 'points', tiers: null })).status).toBe(200);
    await manyMembers(service.deps, { program, count: 1 });
    for (const patch of [tiered, { style: 'tiered' }, { style: 'stamps', goal: 1_000 }])
      await refuses(program._id, () => designer.edit(program._id, patch), [400, 'PROGRAM_IN_USE']);
    expect((await designer.edit(program._id, { goal: 7 })).status).toBe(200);
  });

  it('refuses the slug of another program, of any merchant', async () => {
    const theirs = await (await aMerchant(service)).program();
    const { _id } = await merchant.program();
    await refuses(_id, () => designer.edit(_id, { slug: theirs.slug }), [409, 'SLUG_TAKEN']);
    expect(outcome(await designer.create({ slug: theirs.slug }))).toEqual([409, 'SLUG_TAKEN']);
  });

  it.each([
    ['goal', { goal: 0 }],
    ['name', { name: null }],
    ['golas', { golas: 3 }],
    ['archived', { archived: true }],
    ['_id', { _id: 'another' }],
    ['merchantId', { merchantId: 'another' }],
    ['$schema', { $schema: 1 }],
    ['tiers', { tiers: [{ name: 'A', threshold: 1 }] }],
    ['passTemplate.colors.label', { passTemplate: { colors: { label: 'red' } } }],
    ['version', { version: 'two' }],
  ])('with a mistake in %s is refused', async (path, patch) => {
    const { _id } = await merchant.program();
    const error = await refuses(_id, () => designer.edit(_id, patch), [400, 'VALIDATION_FAILED']);
    expect(error.details.map((detail: { path: string }) => detail.path)).toEqual([path]);
  });

  it('is refused when the images of all programs of the merchant would be too large', async () => {
    const other = await aMerchant(service);
    const logo = noisePng(160, 50, 10_000).toString('base64');
    const imageBytes = Buffer.byteLength(logo, 'base64') * 2;
    const { merchants } = service.deps.collections;
    await merchants.insertOne({ _id: other.id, name: 'Small', createdAt: new Date(), limits: { imageBytes } });
    const its = await aDesigner(other);
    const images = { passTemplate: { images: { logo } } };
    await other.program(images);
    expect((await its.create(images)).status).toBe(201);
    const { _id } = await other.program();
    const error = await refuses(_id, () => its.edit(_id, images), [400, 'VALIDATION_FAILED']);
    expect(error.details).toMatchObject([{ path: 'passTemplate.images' }]);
  });
});

describe('archiving', () => {
  it('closes a program for new members at once, and restoring opens it', async () => {
    const { _id: programId } = await merchant.program();
    const enroll = () => merchant.call('/merchants/me/members', { body: { programId } });
    const archive = (verb: string) => designer.call(`/${programId}/${verb}`, { method: 'POST' });
    for (let round = 0; round < 2; round += 1) {
      expect((await archive('archive')).body.data).toMatchObject({ _id: programId, archived: true, version: 1 });
      expect(outcome(await enroll())).toEqual([400, 'PROGRAM_ARCHIVED']);
    }
    expect((await archive('restore')).body.data.archived).toBe(false);
    expect((await enroll()).status).toBe(201);
  });

  it('a draft keeps it archived when it is published', async () => {
    const { _id } = (await designer.create()).body.data;
    expect((await designer.call(`/${_id}/archive`, { method: 'POST' })).body.data).toMatchObject({ archived: true });
    expect((await designer.publish(_id)).body.data.program).toMatchObject({ _id, archived: true });
  });

  it.each(['archive', 'restore', 'publish'])('%s of a program that does not exist is 404', async (verb) => {
    const foreign = await (await aMerchant(service)).program();
    for (const id of ['nobody', foreign._id])
      expect(outcome(await designer.call(`/${id}/${verb}`, { method: 'POST' }))).toEqual([404, 'PROGRAM_NOT_FOUND']);
    expect((await stored(foreign._id)).live?.archived).toBe(false);
  });
});
