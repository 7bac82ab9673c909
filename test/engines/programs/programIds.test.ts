// Ids of programs that merchants choose (docs/interface.md#42-programs): each merchant has its own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import { type Answer, aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

interface Shop {
  merchant: TestMerchant;
  designer: Designer;
}

let service: TestService;
let shops: readonly [Shop, Shop];

beforeAll(async () => {
  service = await startService();
  const open = async (): Promise<Shop> => {
    const merchant = await aMerchant(service);
    return { merchant, designer: await aDesigner(merchant) };
  };
  shops = [await open(), await open()];
});
afterAll(() => service.stop());

const programs = '/merchants/me/programs';
const members = '/merchants/me/members';

async function published({ designer }: Shop, fields: Record<string, unknown>): Promise<Answer['body']> {
  const created = await designer.create(fields);
  expect(outcome(created)).toEqual([201, 'ok']);
  expect(created.body.data._id).toBe(fields._id);
  const { body } = await designer.publish(String(fields._id));
  expect(body.data.program).toMatchObject({ _id: fields._id, version: 1 });
  return body.data.program;
}

const asked = async ({ merchant }: Shop, path: string) => (await merchant.call(path)).body.data;

/** What a caller can learn from an answer, without what differs in every answer and the id that was sent. */
const learned = ({ status, text }: Answer, id: string) =>
  [status, text.replaceAll(id, 'ID').replaceAll(/"(requestId|createdAt|slug)":"[^"]*"/g, '')] as const;

describe('a program id that two merchants chose', () => {
  it('is a program of each of them: with members, points, batches, events, passes and versions of its own', async () => {
    const _id = `summer-${newId().slice(0, 8)}`;
    const slugs: string[] = [];
    for (const [index, shop] of shops.entries())
      slugs.push((await published(shop, { _id, goal: 100 + index, name: `Shop ${index}` })).slug);

    const person = { programId: _id, email: 'ada@shop.example', externalId: '4001', initialPoints: 5 };
    const enrolled = await Promise.all(shops.map(({ merchant }) => merchant.call(members, { body: person })));
    expect(enrolled.map(outcome)).toEqual([
      [201, 'ok'],
      [201, 'ok'],
    ]);
    const joined = await shops[1].merchant.call(`/enroll/${slugs[1]}/submit`, {
      body: { email: 'bob@shop.example' },
      credential: null,
    });
    expect(joined.status).toBe(201);

    for (const [index, shop] of shops.entries()) {
      const { merchant, designer } = shop;
      const { id } = enrolled[index]?.body.data ?? {};
      expect(await asked(shop, `${members}/${id}`)).toMatchObject({ programId: _id, program: { _id }, balance: 5 });
      const again = await merchant.call(members, { body: person });
      expect([again.status, again.body.data.id]).toEqual([200, id]);
      const changed = await merchant.call(`${members}/${id}/points`, { method: 'PATCH', body: { delta: index + 1 } });
      expect(changed.body.data).toMatchObject({ previous: 5, current: 6 + index });
      const scanned = await merchant.call('/merchants/me/scans', { body: { code: '4001', programId: _id } });
      expect(scanned.body.data).toMatchObject({ id, program: { _id } });
      expect(await asked(shop, `${members}?programId=${_id}`)).toMatchObject({ total: index + 1 });
      const dry = { programId: _id, message: 'Hello', dryRun: true };
      expect((await merchant.call('/merchants/me/campaigns', { body: dry })).body.data.matched).toBe(index + 1);

      const file = new FormData();
      file.set('programId', _id);
      file.set('file', new Blob(['email,firstName\nada@shop.example,Ada\ncy@shop.example,Cy\n']), 'members.csv');
      const imported = (await merchant.call(`${members}/import`, { body: file })).body.data;
      expect(imported.counts).toMatchObject({ created: 1, deduped: 1, failed: 0 });
      expect(await asked(shop, '/merchants/me/batches')).toMatchObject({ items: [{ programId: _id }] });
      expect(await asked(shop, `/merchants/me/stats?programId=${_id}`)).toMatchObject({
        programs: [{ programId: _id }],
      });

      expect((await designer.edit(_id, { _id, goal: 200 + index })).body.data).toMatchObject({ _id, version: 2 });
      expect((await designer.publish(_id)).body.data).toMatchObject({ program: { goal: 200 + index, version: 2 } });
      expect(await asked(shop, `${programs}/${_id}`)).toMatchObject({ _id, goal: 200 + index, name: `Shop ${index}` });
      expect((await designer.call(`/${_id}/versions`)).body.data).toMatchObject({ total: 2 });
      expect((await designer.call()).body.data.filter((one: { _id: string }) => one._id === _id)).toHaveLength(1);
      const audit = await merchant.call(`/merchants/me/audit?targetId=${_id}`, {
        credential: { Authorization: `Bearer ${await merchant.token()}` },
      });
      expect(audit.body.data.items.map((entry: { targetName: string }) => entry.targetName)).toEqual(
        Array.from({ length: 4 }, () => `Shop ${index}`),
      );
      const told = await until(async () => {
        const { items } = await asked(shop, '/merchants/me/events?limit=100');
        return items.length >= 4 && items;
      });
      expect(new Set(told.map((event: { data: { programId: string } }) => event.data.programId))).toEqual(
        new Set([_id]),
      );
      const exported = (await merchant.call(`${members}/${id}/export`)).text;
      expect(exported).toContain(`"programId":"${_id}"`);
    }

    const classes = await Promise.all(
      shops.map(async ({ designer }) => {
        const { body } = await designer.call(`/${_id}/preview`);
        return body.data.google.class;
      }),
    );
    expect(new Set(classes.map((one) => one.id)).size).toBe(2);
    expect(classes.map((one) => one.programName)).toEqual(['Shop 0', 'Shop 1']);
    await shops[0].designer.call(`/${_id}/archive`, { method: 'POST' });
    const closed = await Promise.all(shops.map(({ merchant }) => merchant.call(members, { body: { programId: _id } })));
    expect(closed.map(outcome)).toEqual([
      [400, 'PROGRAM_ARCHIVED'],
      [201, 'ok'],
    ]);
  });
});

describe("another merchant's program id", () => {
  it('is answered as an id that nobody has', async () => {
    const [theirs, own] = shops;
    const chosen = `chosen-${newId()}`;
    await published(theirs, { _id: chosen });
    const drafted = (await theirs.designer.create()).body.data._id;
    const stored = `${theirs.merchant.id}.${chosen}`;
    const nobody = newId();
    const asks: ((id: string) => Promise<Answer>)[] = [
      ...['', '/draft', '/preview', '/versions', '/versions/1', '/publish-preview'].map(
        (path) => (id: string) => own.designer.call(`/${id}${path}`),
      ),
      ...['publish', 'archive', 'restore'].map(
        (verb) => (id: string) => own.designer.call(`/${id}/${verb}`, { method: 'POST' }),
      ),
      (id) => own.designer.edit(id, { goal: 1 }),
      (id) => own.merchant.call(members, { body: { programId: id } }),
      (id) => own.merchant.call(`${members}?programId=${id}`),
      (id) => own.merchant.call(`/merchants/me/stats?programId=${id}`),
      (id) => own.merchant.call('/merchants/me/campaigns', { body: { programId: id, message: 'Hello' } }),
    ];
    for (const ask of asks) {
      const answer = learned(await ask(nobody), nobody);
      for (const id of [chosen, drafted, (await theirs.merchant.program())._id, stored])
        expect(learned(await ask(id), id)).toEqual(answer);
    }
    for (const id of [chosen, drafted, (await theirs.merchant.program())._id])
      expect((await own.designer.create({ _id: id })).body.data).toMatchObject({ _id: id, version: 1 });
  });
});
