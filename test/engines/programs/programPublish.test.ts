// Publishing a program (docs/interface.md#42-programs): everything that follows from the new version is written at once
// or not at all, and the passes in use are rebuilt, whichever process dies.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { reviveBatches } from '../../../activities/batches/reviveBatches.activity.js';
import { expireSome } from '../../../activities/members/expireDue.writes.js';
import { readSome } from '../../../activities/programs/programMembers.reads.js';
import { publishProgram } from '../../../activities/programs/publishPrograms.writes.js';
import { until } from '../../rig/checks/until.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import { aMerchant, manyMembers, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let service: TestService;
let worker: TestWorker;
let merchant: TestMerchant;
let designer: Designer;

beforeAll(async () => {
  service = await startService({ env: { PROGRAM_KEPT_VERSIONS: '3', PROGRAM_PREVIEW_MAX_MEMBERS: '100' } });
  worker = await startTestWorker(service);
  merchant = await aMerchant(service);
  designer = await aDesigner(merchant);
});
afterAll(async () => {
  await worker.close();
  await service.stop();
});

const programs = '/merchants/me/programs';
const liveOf = async (_id: string) => (await merchant.call(`${programs}/${_id}`)).body.data;
const actor = { type: 'user', id: 'tester' } as const;
const batchOf = (programId: string) => service.deps.collections.batches.findOne({ programId, kind: 'passes.rebuild' });

/** Rows of one program in every collection that a publication writes to. */
async function written(programId: string, slugs: string[]) {
  const {
    programs: live,
    programDrafts,
    programVersions,
    slugs: owners,
    batches,
    classUpdates,
  } = service.deps.collections;
  return Promise.all([
    live.findOne({ _id: programId }),
    programDrafts.findOne({ _id: programId }),
    programVersions.find({ programId }).toArray(),
    owners.find({ _id: { $in: slugs } }).toArray(),
    batches.countDocuments({ programId }),
    classUpdates.findOne({ _id: programId }),
  ]);
}

describe('the first publication', () => {
  it('makes a draft visible to all callers, without a rebuild', async () => {
    const { _id, slug } = (await designer.create()).body.data;
    const { status, body } = await designer.publish(_id, { version: 1 });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ program: { _id, version: 1 }, rebuild: null });
    expect(await liveOf(_id)).toEqual(body.data.program);
    const member = await merchant.call('/merchants/me/members', { body: { programId: _id } });
    expect(member.status).toBe(201);
    const joined = await merchant.call(`/enroll/${slug}/submit`, { body: { email: 'a@b.example' }, credential: null });
    expect(joined.status).toBe(201);
    expect(await service.deps.collections.classUpdates.findOne({ _id })).toMatchObject({ merchantId: merchant.id });
  });

  it('of two drafts with the same slug succeeds for one of them', async () => {
    const slug = `both-${merchant.id.toLowerCase().replaceAll(/[^a-z0-9]/g, '')}`;
    const drafts = await Promise.all([designer.create({ slug }), designer.create({ slug })]);
    const answers = await Promise.all(drafts.map(({ body }) => designer.publish(body.data._id)));
    expect(answers.map(outcome).toSorted()).toEqual([
      [200, 'ok'],
      [409, 'SLUG_TAKEN'],
    ]);
    expect(await service.deps.collections.programs.countDocuments({ slug })).toBe(1);
  });
});

describe('a publication', () => {
  it('makes the newest edit live, names the rebuild, and happens once', async () => {
    const program = await merchant.program();
    await manyMembers(service.deps, { program, count: 2 });
    await designer.edit(program._id, { version: 1, goal: 40 });
    const { body } = await designer.publish(program._id, { version: 2 });
    expect(body.data.program).toMatchObject({ goal: 40, version: 2 });
    const { batchId } = body.data.rebuild;
    const batch = await until(async () => {
      const { body: now } = await merchant.call(`/merchants/me/batches/${batchId}`);
      return now.data.phase === 'completed' && now.data;
    });
    expect(batch).toMatchObject({ kind: 'passes.rebuild', programId: program._id, startedBy: { type: 'user' } });
    const again = await designer.publish(program._id, { version: 2 });
    expect(again.body.data).toEqual({ program: body.data.program, rebuild: null });
    expect(await service.deps.collections.batches.countDocuments({ programId: program._id })).toBe(1);
  });

  it('keeps texts with any characters', async () => {
    const program = await merchant.program();
    const locales = { de: { '$5 off': '5 $ weniger', 'No. 1': 'Nr. 1', 'a.$b': 'c', $id: 'd', $db: 'e' } };
    await designer.edit(program._id, { passTemplate: { locales } });
    expect((await designer.publish(program._id)).status).toBe(200);
    await designer.edit(program._id, { goal: 9 });
    expect((await designer.publish(program._id)).status).toBe(200);
    const { passTemplate } = (await designer.call(`/${program._id}/versions/2`)).body.data.program;
    expect(passTemplate.locales).toEqual(locales);
    expect((await designer.call(`/${program._id}/draft`)).body.data.passTemplate.locales).toEqual(locales);
  });

  it('removes the fields that the edit has removed', async () => {
    const program = await merchant.program();
    await designer.edit(program._id, { goal: null });
    await designer.publish(program._id);
    expect(await service.deps.collections.programs.findOne({ _id: program._id })).not.toHaveProperty('goal');
  });

  it('that changes no pass rebuilds none', async () => {
    const program = await merchant.program();
    await manyMembers(service.deps, { program, count: 1 });
    await designer.edit(program._id, { enrollment: { open: false } });
    expect((await designer.publish(program._id)).body.data.rebuild).toBeNull();
  });

  it('succeeds for one of many concurrent requests, and no concurrent edit is lost', async () => {
    const program = await merchant.program();
    await manyMembers(service.deps, { program, count: 1 });
    await designer.edit(program._id, { version: 1, goal: 41 });
    const [edited, ...published] = await Promise.all([
      designer.edit(program._id, { version: 2, name: 'Later' }),
      ...Array.from({ length: 5 }, () => designer.publish(program._id)),
    ]);
    expect(edited.status).toBe(200);
    expect(new Set(published.map(({ status }) => status))).toEqual(new Set([200]));
    await designer.publish(program._id);
    expect(await liveOf(program._id)).toMatchObject({ goal: 41, name: 'Later', version: 3 });
    const rebuilds = await service.deps.collections.batches.countDocuments({ programId: program._id });
    const versions = await service.deps.collections.programVersions.countDocuments({
      programId: program._id,
      version: { $gt: 1 },
    });
    expect(rebuilds).toBe(versions);
  });

  it('of another version than the newest is refused and changes nothing', async () => {
    const program = await merchant.program();
    await designer.edit(program._id, { version: 1, goal: 40 });
    const before = await written(program._id, [program.slug]);
    for (const version of [1, 3])
      expect(outcome(await designer.publish(program._id, { version }))).toEqual([409, 'VERSION_CONFLICT']);
    expect(outcome(await designer.publish(program._id, { version: 0 }))).toEqual([400, 'VALIDATION_FAILED']);
    expect(await written(program._id, [program.slug])).toEqual(before);
  });

  it('of a new style is refused when a member has enrolled since the edit', async () => {
    const program = await merchant.program();
    await designer.edit(program._id, { style: 'stamps', goal: 10 });
    await manyMembers(service.deps, { program, count: 1 });
    const before = await written(program._id, [program.slug]);
    expect(outcome(await designer.publish(program._id))).toEqual([400, 'PROGRAM_IN_USE']);
    expect(await written(program._id, [program.slug])).toEqual(before);
  });

  it('is refused at the limit of batches of the merchant', async () => {
    const other = await aMerchant(service);
    const { merchants, batches } = service.deps.collections;
    await merchants.insertOne({ _id: other.id, name: 'Busy', createdAt: new Date(), limits: { runningBatches: 0 } });
    const its = await aDesigner(other);
    const program = await other.program();
    await manyMembers(service.deps, { program, count: 1 });
    await its.edit(program._id, { goal: 40 });
    const refused = await its.publish(program._id);
    expect(outcome(refused)).toEqual([429, 'RATE_LIMITED']);
    expect(refused.body.error.details).toMatchObject({ limit: 'MERCHANT_MAX_RUNNING_BATCHES', max: 0 });
    expect(await batches.countDocuments({ merchantId: other.id })).toBe(0);
    expect((await service.deps.collections.programs.findOne({ _id: program._id }))?.goal).toBe(100);
  });
});

describe('a slug', () => {
  it('that was given up leads to the present one, from page and endpoint, through every change', async () => {
    const program = await merchant.program({ name: 'Moving' });
    const slugs = [program.slug, `${program.slug}-2`, `${program.slug}-3`];
    for (const slug of slugs.slice(1)) {
      await designer.edit(program._id, { slug });
      expect((await designer.publish(program._id)).status).toBe(200);
    }
    for (const slug of slugs.slice(0, 2)) {
      const old = `${service.publicUrl}/enroll/${slug}?utm_source=poster`;
      const led = await fetch(old, { redirect: 'manual' });
      expect([led.status, led.headers.get('location')]).toEqual([302, `/enroll/${slugs[2]}?utm_source=poster`]);
      expect(await (await fetch(old)).text()).toContain('Join Moving');
      const email = `${slug}@example.com`;
      const joined = await merchant.call(`/enroll/${slug}/submit`, { body: { email }, credential: null });
      expect(joined.status).toBe(201);
      const body = new URLSearchParams({ email: `form-${email}` });
      const sent = await fetch(old, { method: 'POST', body, redirect: 'manual' });
      expect(sent.headers.get('location')).toContain('/passes/');
    }
    expect(await service.deps.collections.members.countDocuments({ programId: program._id })).toBe(4);
    await designer.edit(program._id, { slug: slugs[0] });
    expect((await designer.publish(program._id)).status).toBe(200);
    expect((await fetch(`${service.publicUrl}/enroll/${slugs[0]}`, { redirect: 'manual' })).status).toBe(200);
    expect((await fetch(`${service.publicUrl}/enroll/${slugs[2]}`)).url).toContain(`/enroll/${slugs[0]}`);
  });

  it('that was given up goes to one of two programs that want it, and counts as free in a draft', async () => {
    const [first, ...others] = [await merchant.program(), await merchant.program(), await merchant.program()];
    await designer.edit(first._id, { slug: `${first.slug}-2` });
    expect((await designer.publish(first._id)).status).toBe(200);
    for (const { _id } of others) expect((await designer.edit(_id, { slug: first.slug })).status).toBe(200);
    const answers = await Promise.all(others.map(({ _id }) => designer.publish(_id)));
    expect(answers.map(outcome).toSorted()).toEqual([
      [200, 'ok'],
      [409, 'SLUG_TAKEN'],
    ]);
  });

  it('that was released can be taken again, and its page is that of the new program', async () => {
    const [first, second] = [await merchant.program({ name: 'First' }), await merchant.program({ name: 'Second' })];
    const page = async () => (await fetch(`${service.publicUrl}/enroll/${first.slug}`)).text();
    expect(await page()).toContain('Join First');
    expect(outcome(await designer.edit(second._id, { slug: first.slug }))).toEqual([409, 'SLUG_TAKEN']);
    await designer.edit(first._id, { slug: `${first.slug}-2` });
    expect((await designer.publish(first._id)).status).toBe(200);
    expect(await page()).toContain('Join First');
    expect((await designer.edit(second._id, { slug: first.slug })).status).toBe(200);
    expect((await designer.publish(second._id)).status).toBe(200);
    expect(await page()).toContain('Join Second');
    // Switches back.
    await designer.edit(second._id, { slug: second.slug });
    expect((await designer.publish(second._id)).status).toBe(200);
    await designer.edit(first._id, { slug: first.slug });
    expect((await designer.publish(first._id)).status).toBe(200);
    expect(await page()).toContain('Join First');
  });
});

describe('a new label', () => {
  it('is at once the key in fieldValues of every member, in answers, new ledger entries and events', async () => {
    const program = await merchant.program();
    const member = await merchant.enroll({ programId: program._id, initialPoints: 5 });
    const one = `/merchants/me/members/${member.id}`;
    expect((await merchant.call(one)).body.data.fieldValues).toEqual({ points: 5 });
    await designer.edit(program._id, { fields: { primaryLabel: 'STARS' } });
    expect((await merchant.call(one)).body.data.fieldValues).toEqual({ points: 5 });
    await designer.publish(program._id);
    expect((await merchant.call(one)).body.data.fieldValues).toEqual({ stars: 5 });
    const listed = await merchant.call(`/merchants/me/members?programId=${program._id}`);
    expect(listed.body.data.items[0].fieldValues).toEqual({ stars: 5 });
    const changed = await merchant.call(`${one}/points`, { method: 'PATCH', body: { delta: 2 } });
    expect(changed.body.data.member.fieldValues).toEqual({ stars: 7 });
    const { items } = (await merchant.call(`${one}/transactions`)).body.data;
    expect(items.map(({ field }: { field: string }) => field)).toEqual(['stars', 'points']);
    const event = await service.deps.collections.events.findOne({ memberId: member.id, type: 'points.changed' });
    expect(event?.data.field).toBe('stars');
  });

  it('is the key in what the schedule expires after it', async () => {
    const program = await merchant.program({ expiry: { afterDays: 1 } });
    const member = await merchant.enroll({ programId: program._id, initialPoints: 5 });
    const one = `/merchants/me/members/${member.id}`;
    await designer.edit(program._id, { fields: { primaryLabel: 'STARS' } });
    await designer.publish(program._id);
    await expireSome(service.deps, { memberIds: [member.id], now: new Date(Date.now() + 4 * 86_400_000) });
    expect((await merchant.call(one)).body.data.fieldValues).toEqual({ stars: 0 });
    const [entry] = (await merchant.call(`${one}/transactions`)).body.data.items;
    expect(entry).toMatchObject({ type: 'expiry', delta: -5, field: 'stars' });
    const event = await service.deps.collections.events.findOne({ memberId: member.id, 'data.reason': 'expired' });
    expect(event?.data.field).toBe('stars');
  });
});

describe('new tiers', () => {
  it('move members at once, as many as the preview says', async () => {
    const tiers = (silver: number) => [
      { name: 'Bronze', threshold: 0 },
      { name: 'Silver', threshold: silver },
    ];
    const program = await merchant.program({ style: 'tiered', tiers: tiers(50) });
    const members = [];
    for (const initialPoints of [10, 60, 90])
      members.push(await merchant.enroll({ programId: program._id, initialPoints }));
    await designer.edit(program._id, { tiers: tiers(80) });
    const preview = await designer.call(`/${program._id}/publish-preview`);
    expect(preview.body.data).toMatchObject({ tierMoves: 1, counted: 3, complete: true });
    await designer.publish(program._id);
    const now = await Promise.all(members.map(({ id }) => merchant.call(`/merchants/me/members/${id}`)));
    expect(now.map(({ body }) => body.data.tier)).toEqual(['Bronze', 'Bronze', 'Silver']);
  });
});

describe('the preview of a publication', () => {
  it('counts passes in use, cards that become full, and cards above the goal', async () => {
    const program = await merchant.program({ style: 'stamps', goal: 10, fields: { primaryLabel: 'STAMPS' } });
    const { members } = service.deps.collections;
    const rows = await manyMembers(service.deps, { program, count: 6 });
    for (const [index, balance] of [0, 4, 5, 6, 9, 10].entries())
      await members.updateOne({ _id: rows[index]?._id ?? '' }, { $set: { balance } });
    await members.updateOne({ _id: rows[0]?._id ?? '' }, { $set: { deviceCount: 2 } });
    await members.updateOne({ _id: rows[1]?._id ?? '' }, { $set: { 'pass.googleSaved': true } });
    const preview = async () => (await designer.call(`/${program._id}/publish-preview`)).body.data;
    const none = { passes: 0, full: 0, overFull: 0, tierMoves: 0, rewardsLost: 0 };
    const nothing = { ...none, findings: [], counted: 0, complete: true };
    expect(await preview()).toEqual(nothing);
    await designer.edit(program._id, { goal: 5 });
    expect(await preview()).toEqual({ ...nothing, passes: 2, full: 3, overFull: 3, counted: 6 });
    await designer.edit(program._id, { goal: 10, enrollment: { open: false } });
    expect(await preview()).toEqual({ ...nothing, counted: 6 });
    const { _id } = (await designer.create()).body.data;
    expect((await designer.call(`/${_id}/publish-preview`)).body.data).toEqual(nothing);
  });

  it('says what an expiration date does to passes, and one in the past is published only when it is live already', async () => {
    const ends = (date: string | null) => ({ passTemplate: { expirationDate: date } });
    const program = await merchant.program();
    const findings = async () =>
      (await designer.call(`/${program._id}/publish-preview`)).body.data.findings.map(
        ({ path, severity }: { path: string; severity: string }) => `${severity} ${path}`,
      );
    const [error, warning] = ['error passTemplate.expirationDate', 'warning passTemplate.expirationDate'];
    await designer.edit(program._id, ends('2001-02-03T04:05:06+07:00'));
    expect(await findings()).toEqual([error]);
    const refused = await designer.publish(program._id);
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { code: 'VALIDATION_FAILED', details: [{ path: 'passTemplate.expirationDate' }] } },
    });
    const soon = new Date(Date.now() + 3_600_000).toISOString();
    await designer.edit(program._id, ends(soon));
    expect(await findings()).toEqual([warning]);
    expect((await designer.publish(program._id)).status).toBe(200);
    await designer.edit(program._id, { name: 'The same date' });
    expect(await findings()).toEqual([]);
    const late = { ...service.deps, now: () => new Date(Date.now() + 7_200_000) };
    const at = { merchantId: merchant.id, programId: program._id, actor, version: undefined };
    expect((await publishProgram(late, at)).program.name).toBe('The same date');
    await designer.edit(program._id, ends(null));
    expect(await findings()).toEqual([warning]);
    expect((await designer.publish(program._id)).status).toBe(200);
  });

  it('counts members whose reward was ready and no longer is: a higher price, or a reward that is switched off', async () => {
    const coffee = { id: 'coffee', name: 'Coffee', cost: 3 };
    const program = await merchant.program({ style: 'stamps', goal: 8, rewards: [coffee] });
    const rows = await manyMembers(service.deps, { program, count: 4 });
    for (const [index, balance] of [2, 3, 7, 8].entries())
      await service.deps.collections.members.updateOne({ _id: rows[index]?._id ?? '' }, { $set: { balance } });
    const lost = async (patch: Record<string, unknown>) => {
      await designer.edit(program._id, patch);
      return (await designer.call(`/${program._id}/publish-preview`)).body.data.rewardsLost;
    };
    expect(await lost({ goal: 10 })).toBe(1);
    expect(await lost({ goal: 10, rewards: [{ ...coffee, active: false }] })).toBe(3);
    expect(await lost({ goal: 8, rewards: [{ ...coffee, cost: 4 }] })).toBe(1);
    expect(await lost({ goal: 8, rewards: [{ ...coffee, cost: 2, name: 'Tea' }] })).toBe(0);
  });

  it('reads members of a large program in ranges of ids, each of them once', async () => {
    const program = await merchant.program({ goal: 10 });
    await manyMembers(service.deps, { program, count: 60 });
    const { counters } = service.deps.collections;
    const _id = `${merchant.id}:${program._id}`;
    await counters.insertOne({ _id, merchantId: merchant.id, members: 100_000 });
    const deps = { ...service.deps, config: { ...service.deps.config, MONGODB_EMBEDDED: true } };
    const at = { merchantId: merchant.id, programId: program._id, forMs: 60_000 };
    const read = async (most: number) => {
      let members = 0;
      const complete = await readSome(deps, { ...at, most }, () => {
        members += 1;
      });
      return { members, complete };
    };
    expect(await read(100)).toEqual({ members: 60, complete: true });
    expect(await read(60)).toEqual({ members: 60, complete: true });
    expect(await read(59)).toEqual({ members: 59, complete: false });
    expect(await readSome(deps, { ...at, most: 100, forMs: -1 }, () => undefined)).toBe(false);
  });

  it('reads a bounded number of members, and says so', async () => {
    const program = await merchant.program();
    await manyMembers(service.deps, { program, count: 101 });
    await designer.edit(program._id, { goal: 5 });
    expect((await designer.call(`/${program._id}/publish-preview`)).body.data).toMatchObject({
      counted: 100,
      complete: false,
    });
  });
});

describe('the versions of a program', () => {
  it('are listed newest first, can be restored, and the oldest are removed', async () => {
    const program = await merchant.program({ name: 'One' });
    const versions = async () => (await designer.call(`/${program._id}/versions`)).body.data;
    expect(await versions()).toMatchObject({ items: [{ version: 1, live: true, publishedAt: null }], total: 1 });
    const images = { passTemplate: { colors: { background: '#112233' } } };
    await designer.edit(program._id, { name: 'Two', ...images });
    await designer.publish(program._id);
    expect(await versions()).toMatchObject({
      items: [
        { version: 2, live: true, name: 'Two', publishedBy: { type: 'user' }, publishedAt: expect.any(String) },
        { version: 1, live: false, name: 'One', publishedAt: null },
      ],
      total: 2,
    });
    await designer.edit(program._id, { name: 'Three', passTemplate: { colors: { background: '#445566' } } });
    await designer.publish(program._id);

    const old = (await designer.call(`/${program._id}/versions/2`)).body.data;
    expect(old).toMatchObject({ version: 2, live: false, program: { name: 'Two', ...images } });
    expect((await designer.edit(program._id, old.program)).status).toBe(200);
    await designer.publish(program._id);
    expect(await liveOf(program._id)).toMatchObject({ name: 'Two', version: 4 });
    const kept = await versions();
    expect(kept.items.map(({ version }: { version: number }) => version)).toEqual([4, 3, 2]);
    const second = (await designer.call(`/${program._id}/versions?page=2&pageSize=2`)).body.data;
    expect(second).toMatchObject({ items: [{ version: 2 }], total: 3 });
    for (const version of ['1', '9', 'x', '2e0'])
      expect(outcome(await designer.call(`/${program._id}/versions/${version}`))).toEqual([
        404,
        'PROGRAM_VERSION_NOT_FOUND',
      ]);
  });
});

describe('a process that dies', () => {
  it('after the commit leaves a rebuild that is started later, and before the commit nothing', async () => {
    const program = await merchant.program();
    await manyMembers(service.deps, { program, count: 1 });
    await designer.edit(program._id, { goal: 40 });
    const at = { merchantId: merchant.id, programId: program._id, actor, version: undefined };
    const dyingAt = (point: string) => ({
      ...service.deps,
      crashPoint: (name: string) => {
        if (name === point) throw new Error(`died at ${point}`);
      },
    });
    const before = await written(program._id, [program.slug]);
    await expect(publishProgram(dyingAt('before-commit'), at)).rejects.toThrow('died at before-commit');
    expect(await written(program._id, [program.slug])).toEqual(before);

    await expect(publishProgram(dyingAt('after-commit'), at)).rejects.toThrow('died at after-commit');
    const batch = await batchOf(program._id);
    expect(batch?.phase).toBe('queued');
    await service.deps.collections.batches.updateOne(
      { _id: batch?._id ?? '' },
      { $set: { startedAt: new Date(Date.now() - 60_000) } },
    );
    await until(async () => {
      await reviveBatches(worker.deps, {});
      return (await batchOf(program._id))?.phase === 'completed';
    });
    expect(await liveOf(program._id)).toMatchObject({ goal: 40, version: 2 });
  });
});
