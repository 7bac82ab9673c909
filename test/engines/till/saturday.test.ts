// A Saturday morning of a café: two tills, one of them without a line for an hour, and 300 customers. What was counted
// by hand is what the service has.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Answer, aMerchant, manyMembers, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let aheadMs = 0;
const hourMs = 3_600_000;
const now = () => new Date(Date.now() + aheadMs);

beforeAll(async () => {
  service = await startService({ worker: false, now });
  merchant = await aMerchant(service);
});
afterAll(() => service.stop());

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const asOwner = async (path: string, call: object = {}) =>
  (await merchant.call(path, { ...call, credential: bearer(await merchant.token()) })).body.data;

type Send = () => Promise<Answer>;

/** Runs the tasks of each list in order, and 16 lists at a time. */
async function inParallel(lists: readonly Send[][]): Promise<Answer[]> {
  const [left, answers] = [[...lists], [] as Answer[]];
  const work = async () => {
    for (let list = left.shift(); list; list = left.shift()) for (const send of list) answers.push(await send());
  };
  await Promise.all(Array.from({ length: 16 }, work));
  return answers;
}

interface Tap {
  path: 'earn' | 'redeem' | 'undo';
  body: { memberCode: string; quantity?: number; undoes?: number; sequence: number; occurredAt: string };
  key: string;
}

/** A device as the page of the till is one: it counts its taps, and keeps those that it could not send. */
async function aDevice(readerId: string, pairingCode: string) {
  const paired = await merchant.call('/till/pair', { body: { code: pairingCode }, credential: null });
  const credential = bearer(paired.body.data.token);
  let counted = 0;
  let kept: Tap[] = [];
  const send = ({ path, body, key }: Tap) =>
    merchant.call(`/till/${path}`, { body, credential, headers: { 'Idempotency-Key': key } });
  return {
    tap(path: Tap['path'], body: Omit<Tap['body'], 'sequence' | 'occurredAt'>): Tap {
      counted += 1;
      const key = `${readerId}-${credential.Authorization.slice(-8)}-${counted}`;
      return { path, body: { ...body, sequence: counted, occurredAt: now().toISOString() }, key };
    },
    send,
    keep: (...taps: Tap[]) => kept.push(...taps),
    /** Sends what was kept, in order for each customer; every tenth tap twice, as if its answer had been lost. */
    async sendKept(): Promise<Answer[]> {
      const lists = new Map<string, Send[]>();
      for (const tap of kept) {
        const list = lists.get(tap.body.memberCode) ?? [];
        lists.set(tap.body.memberCode, list);
        list.push(() => send(tap), ...(tap.body.sequence % 10 === 0 ? [() => send(tap)] : []));
      }
      kept = [];
      return inParallel([...lists.values()]);
    },
    hello: (waiting = kept.length) =>
      merchant.call('/till/hello', { body: { lastSequence: counted, waiting }, credential }),
    counted: () => counted,
  };
}

async function aTill(name: string) {
  const made = await asOwner('/merchants/me/readers', { body: { name } });
  const id: string = made.id;
  return { id, device: await aDevice(id, made.pairingCode) };
}

const listed = async (id: string) =>
  (await asOwner('/merchants/me/readers')).items.find((reader: { id: string }) => reader.id === id);

const refusals = (answers: readonly Answer[]) =>
  answers.filter(({ status }) => status >= 400).map((answer) => outcome(answer)[1]);

describe('a Saturday morning', () => {
  it('ends with the balances that were counted by hand, and names exactly the taps of the wiped device as missing', async () => {
    const program = await merchant.program({
      ...{ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10, rewardName: 'Coffee' },
    });
    const customers = await manyMembers(service.deps, { program, count: 300 });
    const codeOf = (index: number) => customers[index]?.memberCode ?? '';
    const card = (index: number) => ({ memberCode: codeOf(index) });
    /** Everybody buys one to three coffees: the even ones at the bar, the odd ones on the terrace. */
    const coffees = (index: number) => 1 + (index % 3);
    const byHand = customers.map((_, index) => coffees(index));
    const add = (index: number, stamps: number) => {
      byHand[index] = (byHand[index] ?? 0) + stamps;
    };
    const [bar, terrace, stolen] = [await aTill('Bar'), await aTill('Terrace'), await aTill('Stolen')];

    // The bar is online, the terrace is not.
    const atBar: Send[][] = [];
    const on = (...taps: Tap[]) => atBar.push(taps.map((tap) => () => bar.device.send(tap)));
    for (const index of customers.keys()) {
      const device = index % 2 === 0 ? bar.device : terrace.device;
      const coffee = device.tap('earn', { ...card(index), quantity: coffees(index) });
      if (device === terrace.device) device.keep(coffee);
      else if (index === 0) {
        const full = device.tap('earn', { ...card(0), quantity: 10 - coffees(0) });
        on(coffee, full, device.tap('redeem', card(0)));
        byHand[0] = 0;
      } else if (index === 8) {
        const doubled = device.tap('earn', { ...card(8), quantity: coffees(8) });
        on(coffee, doubled, device.tap('undo', { ...card(8), undoes: doubled.body.sequence }));
      } else on(coffee);
    }
    const { device } = terrace;
    const doubled = device.tap('earn', { ...card(7), quantity: coffees(7) });
    device.keep(doubled, device.tap('undo', { ...card(7), undoes: doubled.body.sequence }));
    device.keep(device.tap('earn', { ...card(1), quantity: 10 - coffees(1) }), device.tap('redeem', card(1)));
    byHand[1] = 0;
    device.keep(device.tap('earn', { ...card(3), quantity: 10 - coffees(3) }), device.tap('earn', card(3)));
    byHand[3] = 10;
    for (const index of customers.keys()) {
      if (index % 10 !== 0) continue;
      device.keep(device.tap('earn', card(index)));
      add(index, 1);
    }
    expect(refusals(await inParallel(atBar))).toEqual([]);

    // A stolen till is revoked.
    expect((await stolen.device.send(stolen.device.tap('earn', card(2)))).status).toBe(200);
    add(2, 1);
    await asOwner(`/merchants/me/readers/${stolen.id}`, { method: 'DELETE' });
    expect((await stolen.device.send(stolen.device.tap('earn', card(2)))).status).toBe(401);

    // An hour later the terrace has its line again; the card that was full by then is its only refusal.
    aheadMs += hourMs;
    await device.hello();
    expect(await listed(terrace.id)).toMatchObject({ waiting: device.counted(), received: 0 });
    expect(refusals(await device.sendKept())).toEqual(['CARD_FULL']);
    await device.hello();
    expect(await listed(terrace.id)).toMatchObject({ waiting: 0, received: device.counted(), missing: [] });
    const late = await service.deps.collections.ledger.findOne({ memberId: customers[7]?._id ?? '', type: 'reversal' });
    expect(late && now().getTime() - (late.occurredAt?.getTime() ?? 0)).toBeGreaterThanOrEqual(hourMs);

    // Its storage is wiped before two of five taps are sent, and it is paired again.
    const last = [11, 13, 15, 17, 19].map((index) => ({ index, tap: device.tap('earn', card(index)) }));
    const wiped = [13, 17];
    const sent = last.filter(({ index }) => !wiped.includes(index));
    for (const { index, tap } of sent) {
      expect((await device.send(tap)).status).toBe(200);
      add(index, 1);
    }
    await device.hello(wiped.length);
    const { pairingCode } = await asOwner(`/merchants/me/readers/${terrace.id}/pairing`, { method: 'POST' });
    const again = await aDevice(terrace.id, pairingCode);
    expect((await again.send(again.tap('earn', card(21)))).status).toBe(200);
    add(21, 1);
    await again.hello();
    expect((await device.hello()).status).toBe(401);
    aheadMs += 61_000;

    const missing = last.filter(({ index }) => wiped.includes(index)).map(({ tap }) => tap.body.sequence);
    expect(await listed(terrace.id)).toMatchObject({
      missing: missing.map((sequence) => ({ from: sequence, to: sequence })),
      overdue: wiped.length,
      received: device.counted() - wiped.length + again.counted(),
    });
    expect(await listed(bar.id)).toMatchObject({ missing: [], overdue: 0, received: bar.device.counted() });
    expect(await listed(stolen.id)).toMatchObject({ missing: [], overdue: 0, received: 1 });

    const pages = await Promise.all(
      [1, 2, 3].map((page) =>
        merchant.call(`/merchants/me/members?programId=${program._id}&pageSize=100&page=${page}`),
      ),
    );
    const shown: { id: string; balance: number }[] = pages.flatMap(({ body }) => body.data.items);
    const byService = new Map(shown.map(({ id, balance }) => [id, balance]));
    expect(customers.map(({ _id }) => byService.get(_id))).toEqual(byHand);
    const sums = new Map<string, number>();
    for (const { memberId, delta } of await service.deps.collections.ledger.find({ merchantId: merchant.id }).toArray())
      sums.set(memberId, (sums.get(memberId) ?? 0) + delta);
    expect(customers.map(({ _id }) => sums.get(_id))).toEqual(byHand);
  });
});
