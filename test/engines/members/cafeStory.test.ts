// Two years of a café, played over the API with a given clock: sales, a receipt that was entered twice, refunds and
// redemptions taken back, a rule that changed between purchase and refund, a leap day, both changes of the clocks, and
// points that expire. The numbers of the tables were computed by hand. After each line the API, the explained balance,
// the sum of the ledger and the pass on a virtual iPhone show the same number.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newToken } from '../../../schemas/shared/ids.js';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import { pastCache } from '../../rig/checks/pastCache.js';
import { until } from '../../rig/checks/until.js';
import type { VirtualIphone } from '../../rig/standins/virtualIphone.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';

let real: RealWallets;
let designer: Designer;
/** How far the clock of the service is ahead of the machine's. */
let aheadMs = 0;

beforeAll(async () => {
  real = await startRealWallets({ now: () => new Date(Date.now() + aheadMs) });
  designer = await aDesigner(real.merchant);
});
afterAll(() => real.stop());

/** Moves the clock forward only. */
function setClock(at: string): void {
  const wanted = Date.parse(at) - Date.now();
  expect(wanted).toBeGreaterThan(aheadMs);
  aheadMs = wanted;
}

interface Card {
  memberId: string;
  programId: string;
  phone: VirtualIphone;
}

async function join(program: Record<string, unknown>): Promise<Card> {
  const { _id: programId } = (await designer.create({ timeZone: 'Europe/Berlin', ...program })).body.data;
  expect((await designer.publish(programId)).status).toBe(200);
  const member = await until(async () => {
    const { status, body } = await real.merchant.call('/merchants/me/members', { body: { programId } });
    return status === 201 && body.data;
  });
  const phone = real.phone();
  await phone.install(`${member.apple.passUrl}.pkpass`);
  return { memberId: member.id, programId, phone };
}

const one = ({ memberId }: Card) => `/merchants/me/members/${memberId}`;
const post = (card: Card, path: string, body?: unknown) =>
  real.merchant.call(`${one(card)}/${path}`, { method: 'POST', ...(body !== undefined && { body }) });
const data = async (path: string) => (await real.merchant.call(path)).body.data;

/** The work of the schedule that runs each minute. */
async function expire(): Promise<void> {
  await real.service.client.workflow.execute('expirePoints', {
    workflowId: `story-expiry-${newToken()}`,
    taskQueue: taskQueues.workflows,
    args: [{}],
  });
}

/** The possible results of a line: the answer's error code, or undefined. */
type Happens = (card: Card, entries: Map<string, string>) => Promise<string | undefined>;

const earn =
  (body: Record<string, unknown>): Happens =>
  async (card) =>
    (await post(card, 'earn', body)).body.error?.code;
const euros = (amount: number): Happens => earn({ amount: Math.round(amount * 100), currency: 'EUR' });
const stamp: Happens = async (card) =>
  (await real.merchant.call(`${one(card)}/points`, { method: 'PATCH', body: { delta: 1 } })).body.error?.code;
const redeem: Happens = async (card) => (await post(card, 'redeem')).body.error?.code;
const reverse =
  (line: string): Happens =>
  async (card, entries) =>
    (await post(card, `transactions/${entries.get(line)}/reverse`)).body.error?.code;
const midnight: Happens = async () => {
  await expire();
  return undefined;
};
const nothing: Happens = async () => undefined;
const newRule =
  (patch: Record<string, unknown>): Happens =>
  async ({ programId }) => {
    await designer.edit(programId, patch);
    const { body } = await designer.publish(programId);
    await until(async () => (await data(`/merchants/me/programs/${programId}`)).version === body.data.program.version);
    // Other processes of the service see the change within a second.
    await pastCache();
    return undefined;
  };

interface Line {
  /** The line's name, by which later lines reverse its ledger entry. */
  name: string;
  at: string;
  happens: Happens;
  balance: number;
  /** Lifetime points, where they change. */
  lifetime: number;
  tier?: string;
  redeemed: number;
  /** The next expiry: points and time. */
  expiring?: [number, string][];
  refused?: string;
}

async function play(program: Record<string, unknown>, lines: readonly Line[]): Promise<void> {
  const [first] = lines;
  setClock(first?.at ?? '');
  const card = await join(program);
  const entries = new Map<string, string>();
  for (const { name, at, happens, balance, lifetime, tier, redeemed, expiring, refused } of lines.slice(1)) {
    setClock(at);
    expect({ name, refused: await happens(card, entries) }).toEqual({ name, refused });
    const member = await data(one(card));
    const explained = await data(`${one(card)}/balance`);
    const { items } = await data(`${one(card)}/transactions?pageSize=100`);
    entries.set(name, items[0]?.id);
    const sum = items.reduce((total: number, { delta }: { delta: number }) => total + delta, 0);
    await until(() => card.phone.history().at(-1)?.balance === balance, { seen: () => card.phone.history().at(-1) });
    await card.phone.settled();
    expect({
      ...{
        name,
        balance: member.balance,
        explained: explained.balance,
        sum,
        phone: card.phone.history().at(-1)?.balance,
      },
      ...{ lifetime: explained.lifetimePoints, tier: member.tier, redeemed: member.redeemedCount },
    }).toEqual({ name, balance, explained: balance, sum: balance, phone: balance, lifetime, tier, redeemed });
    if (expiring)
      expect({ name, expiring: member.expiring }).toEqual({
        name,
        expiring: expiring.map(([points, moment]) => ({ points, at: new Date(moment).toISOString() })),
      });
    expect(explained.lots.reduce((total: number, { left }: { left: number }) => total + left, 0)).toBe(balance);
  }
}

const club = {
  style: 'tiered',
  name: 'Café Club',
  goal: 150,
  tiers: [
    { name: 'Bronze', threshold: 0 },
    { name: 'Silver', threshold: 200 },
    { name: 'Gold', threshold: 500 },
  ],
  basis: 'lifetime',
  earn: { per: 100, points: 1, currency: 'EUR' },
  expiry: { afterDays: 365 },
};

it('every balance of two years of a points card is the one computed by hand', async () => {
  await play(club, [
    { name: 'joins', at: '2040-01-09T09:00:00+01:00', happens: nothing, balance: 0, lifetime: 0, redeemed: 0 },
    {
      ...{ name: 'breakfast', at: '2040-01-09T09:05:00+01:00', happens: euros(42.5), tier: 'Bronze', redeemed: 0 },
      ...{ balance: 42, lifetime: 42, expiring: [[42, '2041-01-09T00:00:00+01:00']] },
    },
    {
      ...{ name: 'leap day', at: '2040-02-29T08:30:00+01:00', happens: euros(88), tier: 'Bronze', redeemed: 0 },
      ...{ balance: 130, lifetime: 130 },
    },
    {
      ...{ name: 'birthday cake', at: '2040-03-24T18:00:00+01:00', happens: euros(95.99), tier: 'Silver', redeemed: 0 },
      ...{ balance: 225, lifetime: 225 },
    },
    {
      ...{ name: 'the same cake', at: '2040-03-24T18:00:30+01:00', happens: euros(95.99), tier: 'Silver', redeemed: 0 },
      ...{ balance: 320, lifetime: 320 },
    },
    {
      ...{ name: 'once is right', at: '2040-03-24T18:10:00+01:00', happens: reverse('the same cake') },
      ...{ tier: 'Silver', redeemed: 0, balance: 225, lifetime: 225 },
    },
    {
      ...{ name: 'not twice', at: '2040-03-25T10:00:00+02:00', happens: reverse('the same cake') },
      ...{ refused: 'ALREADY_REVERSED', tier: 'Silver', redeemed: 0, balance: 225, lifetime: 225 },
    },
    {
      // Takes 42 and 88, which expire first, and 20 of the cake's 95.
      ...{ name: 'a free lunch', at: '2040-06-01T12:00:00+02:00', happens: redeem, tier: 'Silver', redeemed: 1 },
      ...{ balance: 75, lifetime: 225, expiring: [[75, '2041-03-25T00:00:00+01:00']] },
    },
    {
      ...{ name: 'the kitchen was closed', at: '2040-06-02T12:00:00+02:00', happens: reverse('a free lunch') },
      ...{ tier: 'Silver', redeemed: 0, balance: 225, lifetime: 225 },
      expiring: [
        [42, '2041-01-09T00:00:00+01:00'],
        [88, '2041-03-01T00:00:00+01:00'],
        [95, '2041-03-25T00:00:00+01:00'],
      ],
    },
    {
      ...{ name: 'two points for one', at: '2040-07-01T00:00:00+02:00', tier: 'Silver', redeemed: 0 },
      ...{ happens: newRule({ earn: { points: 2 } }), balance: 225, lifetime: 225 },
    },
    {
      ...{ name: 'lemonade for all', at: '2040-07-15T16:00:00+02:00', happens: euros(60), tier: 'Silver', redeemed: 0 },
      ...{ balance: 345, lifetime: 345 },
    },
    {
      // Earned at one point a euro, so the refund takes 95 and not 191.
      ...{ name: 'cake refunded', at: '2040-07-16T09:00:00+02:00', happens: reverse('birthday cake') },
      ...{ tier: 'Silver', redeemed: 0, balance: 250, lifetime: 250 },
    },
    {
      ...{ name: 'summer party', at: '2040-08-10T19:00:00+02:00', happens: euros(150), tier: 'Gold', redeemed: 0 },
      ...{ balance: 550, lifetime: 550 },
    },
    {
      ...{ name: 'last minute', at: '2041-01-08T23:59:00+01:00', happens: midnight, tier: 'Gold', redeemed: 0 },
      ...{ balance: 550, lifetime: 550 },
    },
    {
      ...{ name: 'breakfast is over', at: '2041-01-09T00:00:30+01:00', happens: midnight, tier: 'Gold', redeemed: 0 },
      ...{
        balance: 508,
        lifetime: 550,
        expiring: [
          [88, '2041-03-01T00:00:00+01:00'],
          [120, '2041-07-16T00:00:00+02:00'],
          [300, '2041-08-11T00:00:00+02:00'],
        ],
      },
    },
    {
      ...{ name: 'leap day is over', at: '2041-03-01T00:00:30+01:00', happens: midnight, tier: 'Gold', redeemed: 0 },
      ...{ balance: 420, lifetime: 550 },
    },
    {
      // Takes 120 of July and 30 of August.
      ...{ name: 'dinner', at: '2041-07-01T20:00:00+02:00', happens: redeem, tier: 'Gold', redeemed: 1 },
      ...{ balance: 270, lifetime: 550, expiring: [[270, '2041-08-11T00:00:00+02:00']] },
    },
    {
      ...{ name: 'nothing to expire', at: '2041-07-16T00:00:30+02:00', happens: midnight, tier: 'Gold', redeemed: 1 },
      ...{ balance: 270, lifetime: 550 },
    },
    {
      // Refills July and August; July has expired in the meantime, so it goes at once.
      ...{ name: 'dinner taken back', at: '2041-07-20T11:00:00+02:00', happens: reverse('dinner') },
      ...{ tier: 'Gold', redeemed: 0, balance: 300, lifetime: 550, expiring: [[300, '2041-08-11T00:00:00+02:00']] },
    },
    {
      ...{ name: 'July is over', at: '2041-07-20T11:01:00+02:00', happens: midnight, tier: 'Gold', redeemed: 0 },
      ...{ balance: 300, lifetime: 550, expiring: [[300, '2041-08-11T00:00:00+02:00']] },
    },
    {
      ...{ name: 'August is over', at: '2041-08-11T00:00:30+02:00', happens: midnight, tier: 'Gold', redeemed: 0 },
      ...{ balance: 0, lifetime: 550, expiring: [] },
    },
    {
      // In the second pass through the repeated hour; the two days have different offsets.
      ...{ name: 'night shift', at: '2041-10-27T02:30:00+01:00', happens: euros(10), tier: 'Gold', redeemed: 0 },
      ...{ balance: 20, lifetime: 570, expiring: [[20, '2042-10-28T00:00:00+01:00']] },
    },
    {
      ...{ name: 'two years', at: '2042-01-09T09:00:00+01:00', happens: midnight, tier: 'Gold', redeemed: 0 },
      ...{ balance: 20, lifetime: 570 },
    },
  ]);
});

it('every number of stamps is the one computed by hand', async () => {
  const stamps = { style: 'stamps', name: 'Coffee', goal: 5, fields: { primaryLabel: 'STAMPS' } };
  await play({ ...stamps, expiry: { inactiveDays: 180 } }, [
    { name: 'joins', at: '2044-01-11T09:00:00+01:00', happens: nothing, balance: 0, lifetime: 0, redeemed: 0 },
    {
      ...{ name: 'three coffees', at: '2044-01-11T09:05:00+01:00', happens: earn({ quantity: 3 }), redeemed: 0 },
      ...{ balance: 3, lifetime: 3, expiring: [[3, '2044-07-10T00:00:00+02:00']] },
    },
    {
      ...{ name: 'one coffee', at: '2044-01-18T09:00:00+01:00', happens: stamp, redeemed: 0, balance: 4, lifetime: 4 },
    },
    {
      ...{ name: 'stamped twice', at: '2044-01-18T09:00:05+01:00', happens: stamp, redeemed: 0 },
      ...{ balance: 5, lifetime: 5 },
    },
    {
      ...{ name: 'once is right', at: '2044-01-18T09:01:00+01:00', happens: reverse('stamped twice'), redeemed: 0 },
      ...{ balance: 4, lifetime: 4 },
    },
    {
      ...{
        name: 'the fifth',
        at: '2044-01-25T09:00:00+01:00',
        happens: earn({}),
        redeemed: 0,
        balance: 5,
        lifetime: 5,
      },
    },
    {
      ...{ name: 'a sixth', at: '2044-01-25T09:01:00+01:00', happens: earn({}), refused: 'CARD_FULL', redeemed: 0 },
      ...{ balance: 5, lifetime: 5 },
    },
    {
      ...{
        name: 'free coffee',
        at: '2044-01-26T09:00:00+01:00',
        happens: redeem,
        redeemed: 1,
        balance: 0,
        lifetime: 5,
      },
    },
    {
      ...{ name: 'out of milk', at: '2044-01-26T09:02:00+01:00', happens: reverse('free coffee'), redeemed: 0 },
      ...{ balance: 5, lifetime: 5 },
    },
    {
      ...{ name: 'next day', at: '2044-01-27T09:00:00+01:00', happens: redeem, redeemed: 1, balance: 0, lifetime: 5 },
    },
    {
      ...{ name: 'leap day', at: '2044-02-29T09:00:00+01:00', happens: earn({ quantity: 2 }), redeemed: 1 },
      ...{ balance: 2, lifetime: 7, expiring: [[2, '2044-08-28T00:00:00+02:00']] },
    },
    {
      ...{ name: '180 days later', at: '2044-08-27T23:59:00+02:00', happens: midnight, redeemed: 1 },
      ...{ balance: 2, lifetime: 7 },
    },
    {
      ...{
        name: 'forgotten',
        at: '2044-08-28T00:00:30+02:00',
        happens: midnight,
        redeemed: 1,
        balance: 0,
        lifetime: 7,
      },
      expiring: [],
    },
  ]);
});
