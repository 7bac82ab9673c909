// The list of members as a file: the filters of the list, all pages, and cells that no spreadsheet runs.
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { aMerchant, manyMembers, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
});
afterAll(() => service.stop());

async function rowsOf(query: Record<string, string> = {}): Promise<Record<string, string>[]> {
  const { status, headers, text } = await merchant.call(`/merchants/me/members.csv?${new URLSearchParams(query)}`);
  expect([status, headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(headers.get('content-disposition')).toContain('members.csv');
  return parse(text, { bom: true, columns: true }) as Record<string, string>[];
}
const codesOf = (rows: { memberCode?: string }[]) => rows.map(({ memberCode }) => memberCode);
const listed = async (query: Record<string, string>) =>
  codesOf((await merchant.call(`/merchants/me/members?${new URLSearchParams(query)}`)).body.data.items);

it('has a row for each member, whose cells are the fields of the list, guarded against formulas', async () => {
  const { _id: programId } = await merchant.program();
  const names = { firstName: '=1+1', lastName: '@cmd, "quoted"', email: 'dora@example.com', phone: '+49 30 1234567' };
  const { id, memberCode } = await merchant.enroll({ programId, initialPoints: 7, externalId: '-A12', ...names });
  await merchant.call(`/merchants/me/members/${id}/tags`, { body: { tags: ['vip', 'gold'] } });
  const [row, ...others] = await rowsOf({ programId });
  expect(others).toEqual([]);
  expect(row).toEqual({
    memberCode,
    externalId: "'-A12",
    firstName: "'=1+1",
    lastName: `'@cmd, "quoted"`,
    email: 'dora@example.com',
    phone: "'+49 30 1234567",
    programId,
    balance: '7',
    tier: '',
    tags: 'vip, gold',
    status: 'active',
    lastVisitAt: '',
    createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
  });
});

it('has the balance and the tier of the list: without what is due, and by the tiers that are live', async () => {
  const tiers = (silver: number) => [
    { name: 'Bronze', threshold: 0 },
    { name: 'Silver', threshold: silver },
  ];
  const program = await merchant.program({ style: 'tiered', tiers: tiers(20), expiry: { afterDays: 1 } });
  const { id } = await merchant.enroll({ programId: program._id, initialPoints: 25 });
  const occurredAt = new Date(Date.now() - 71 * 3_600_000).toISOString();
  await merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta: 8, occurredAt } });
  const query = { programId: program._id };
  const asListed = async () => {
    const { items } = (await merchant.call(`/merchants/me/members?${new URLSearchParams(query)}`)).body.data;
    return items.map(({ balance, tier }: { balance: number; tier: string }) => [String(balance), tier]);
  };
  const inFile = async () => (await rowsOf(query)).map(({ balance, tier }) => [balance, tier]);
  expect(await inFile()).toEqual([['25', 'Silver']]);
  expect(await asListed()).toEqual([['25', 'Silver']]);
  const { programs } = service.deps.collections;
  await programs.updateOne({ _id: program._id }, { $set: { tiers: tiers(30), version: 2 } });
  await until(async () => (await asListed())[0]?.[1] === 'Bronze');
  expect(await inFile()).toEqual([['25', 'Bronze']]);
});

it('finds those whom the list finds, with each of its filters, in its order', async () => {
  const [one, other] = [await merchant.program({ goal: 10 }), await merchant.program({ goal: 100 })];
  const enroll = (programId: string, firstName: string, more = {}) =>
    merchant.enroll({ programId, firstName, ...more });
  const olli = await enroll(one._id, 'Olli', { initialPoints: 9, email: 'olli@example.com', externalId: 'OLD-1' });
  await enroll(one._id, 'Lulu', { phone: '+49 30 7654321' });
  await enroll(other._id, 'Olli', { initialPoints: 9 });
  for (const query of [
    { programId: one._id },
    { q: 'olli' },
    { q: 'olli', programId: one._id },
    { q: 'olli', audience: 'nearlyFull' },
    { audience: 'nearlyFull' },
    { serial: olli.memberCode },
    { email: 'OLLI@example.com' },
    { phone: '030 7654321' },
    { externalId: 'OLD-1' },
    { q: 'ulli' },
    { q: '...' },
  ]) {
    const found = codesOf(await rowsOf(query));
    expect([query, found]).toEqual([query, await listed(query)]);
  }
  expect(await rowsOf({ q: 'olli', audience: 'nearlyFull' })).toHaveLength(1);
  const refused = await merchant.call('/merchants/me/members.csv?page=2');
  expect(refused.status).toBe(400);
});

it('holds more members than one page, each once, and none of another merchant', async () => {
  const own = await aMerchant(service);
  const program = await own.program();
  const members = await manyMembers(service.deps, { program, count: 1_203 });
  const { text } = await own.call('/merchants/me/members.csv');
  const rows = parse(text, { bom: true, columns: true }) as { memberCode: string }[];
  expect(codesOf(rows).toSorted()).toEqual(codesOf(members).toSorted());
  const theirs = await merchant.call(`/merchants/me/members.csv?programId=${program._id}`);
  expect(parse(theirs.text, { bom: true, columns: true })).toEqual([]);
});
