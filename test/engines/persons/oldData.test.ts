// Programs, members and ledgers as version 0.1.0 wrote them, before programs had versions and ledger entries could be
// reversed. They work without a manual step. The rows below are in the form of that version.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { verifyLedger } from '../../../activities/points/verifyLedger.reads.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { ProgramRow } from '../../../schemas/programs/programs.rows.js';
import { newId, newMemberCode, newToken } from '../../../schemas/shared/ids.js';
import { migrate } from '../../../worker/migrate.js';
import { until } from '../../rig/checks/until.js';
import { aDesigner } from '../../rig/start/designer.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['points.changed', 'reward.redeemed']);
  ({ service, merchant } = subscribed);
});
afterAll(() => subscribed.stop());

const soldAt = new Date('2024-05-06T07:08:09.010Z');

/** A tiered program, and a member with 190 initial points, 60 added and 100 redeemed. */
async function storeOld(): Promise<{ programId: string; memberId: string; entries: string[] }> {
  const [programId, memberId, entries] = [`old-${newToken(4)}`, newId(), [newId(), newId(), newId()]];
  const tiers = [
    { name: 'Bronze', threshold: 0 },
    { name: 'Silver', threshold: 200 },
  ];
  const program = {
    ...{ _id: programId, merchantId: merchant.id, slug: programId.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-') },
    ...{ name: 'Old club', style: 'tiered', fields: { primaryLabel: 'POINTS' }, goal: 100, tiers, basis: 'lifetime' },
    ...{ pushMessages: true, archived: false, enrollment: { open: true, fields: ['firstName'] } },
    passTemplate: { colors: { background: '#312e81', foreground: '#ffffff', label: '#dbeafe' }, backFields: [] },
  };
  const member = {
    ...{ _id: memberId, merchantId: merchant.id, programId, memberCode: newMemberCode(), serialNumber: newId() },
    ...{ field: 'points', balance: 150, lifetimePoints: 250, tier: 'Silver', tags: [], status: 'active', version: 3 },
    pass: { token: newToken(), authenticationToken: newToken(), tag: soldAt, modifiedAt: soldAt, messageSequence: 0 },
    ...{ deviceCount: 0, redeemedCount: 1, ledgerCount: 3, source: 'api', attribution: {} },
    ...{ createdAt: soldAt, updatedAt: soldAt },
  };
  const entry = (index: number, row: object) => ({
    ...{ _id: entries[index], merchantId: merchant.id, memberId, programId, field: 'points', tier: 'Silver' },
    ...{ actor: { type: 'api-key', id: 'old' }, memberVersion: index + 1, createdAt: soldAt, ...row },
  });
  const { programs, members, ledger, counters } = service.deps.collections;
  await programs.insertOne(program as unknown as ProgramRow);
  await members.insertOne(member as unknown as MemberRow);
  await ledger.insertMany([
    entry(0, { type: 'initial', previous: 0, current: 190, delta: 190, tier: 'Bronze' }),
    entry(1, { type: 'adjust', previous: 190, current: 250, delta: 60, previousTier: 'Bronze' }),
    entry(2, { type: 'redeem', previous: 250, current: 150, delta: -100, previousTier: 'Silver' }),
    // biome-ignore lint/suspicious/noExplicitAny: rows of an older form
  ] as any);
  await counters.insertOne({ _id: `${merchant.id}:${programId}`, merchantId: merchant.id, members: 1 });
  await migrate(service.deps);
  return { programId, memberId, entries };
}

it('a program, its members and their ledgers from before versions existed still work', async () => {
  const { programId, memberId, entries } = await storeOld();
  const [initial, added, redeemed] = entries;
  const one = `/merchants/me/members/${memberId}`;
  const post = (path: string, body?: unknown) =>
    merchant.call(`${one}/${path}`, { method: 'POST', ...(body !== undefined && { body }) });
  const read = async () => (await merchant.call(one)).body.data;

  expect((await merchant.call(`/merchants/me/programs/${programId}`)).body.data.version).toBe(1);
  expect(await read()).toMatchObject({ balance: 150, tier: 'Silver', redeemedCount: 1, expiring: [] });
  expect((await merchant.call(`${one}/balance`)).body.data).toMatchObject({ balance: 150, entries: 3, lots: [] });
  expect((await merchant.call(`${one}/points`, { method: 'PATCH', body: { delta: 5 } })).body.data.current).toBe(155);

  const reversed = await post(`transactions/${redeemed}/reverse`);
  expect(reversed.body.data).toMatchObject({ previous: 155, current: 255 });
  expect((await post(`transactions/${redeemed}/reverse`)).body.error.code).toBe('ALREADY_REVERSED');
  expect((await post(`transactions/${added}/reverse`)).body.data).toMatchObject({ previous: 255, current: 195 });
  expect((await post(`transactions/${initial}/reverse`)).body.error.code).toBe('NOT_REVERSIBLE');
  expect(await read()).toMatchObject({ balance: 195, tier: 'Bronze', redeemedCount: 0 });

  const designer = await aDesigner(merchant);
  const rule = { earn: { per: 100, points: 1, currency: 'EUR' }, expiry: { afterDays: 30 }, timeZone: 'Europe/Paris' };
  expect((await designer.edit(programId, rule)).body.data.version).toBe(2);
  expect((await designer.publish(programId)).body.data.program.version).toBe(2);
  await until(async () => (await read()).expiring.length === 1);
  expect((await post('earn', { amount: 700, currency: 'EUR' })).body.data).toMatchObject({ awarded: 7, current: 202 });
  expect(await read()).toMatchObject({ balance: 202, tier: 'Silver' });
  await until(() => subscribed.envelopes(memberId).length === 4);

  const differences = [];
  for await (const group of verifyLedger(service.deps, merchant.id)) differences.push(...group.differences);
  expect(differences).toEqual([]);
});
