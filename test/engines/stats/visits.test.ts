// Visits, and the audiences of the overview: any sequence of changes leaves the numbers and the lists of a model that
// knows no ledger.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { changeMember } from '../../../activities/members/changeMember.writes.js';
import { enrollMember } from '../../../activities/members/enrollMember.writes.js';
import { eraseMember } from '../../../activities/persons/eraseMember.writes.js';
import { pointsRule, redeemRule } from '../../../activities/points/adjustOrRedeem.rules.js';
import { earnRule } from '../../../activities/points/earn.rules.js';
import { earnedReader } from '../../../activities/points/earned.reads.js';
import { reversalRule } from '../../../activities/points/reverse.rules.js';
import { searchMembers } from '../../../api/members/searchMembers.reads.js';
import type { Deps } from '../../../platform/deps.js';
import { type Audience, audience } from '../../../schemas/members/audiences.rules.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { newId } from '../../../schemas/shared/ids.js';
import { addVisits } from '../../../worker/addVisits.js';
import { until } from '../../rig/checks/until.js';
import { batchEnd, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const actor = { type: 'user' as const, id: 'tester' };
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const zone = 'Pacific/Auckland';
const goal = 20;

let service: TestService;

beforeAll(async () => {
  service = await startService();
});

afterAll(() => service.stop());

const kinds = ['give', 'earn', 'take', 'set', 'redeem', 'reverse', 'erase'] as const;

interface Step {
  kind: 'join' | (typeof kinds)[number];
  /** Which of the members, and which of its entries. */
  who: number;
  which: number;
  points: number;
  hours: number;
  lateHours: number;
}

const step = fc.record({
  kind: fc.oneof(
    { weight: 1, arbitrary: fc.constant('join' as const) },
    { weight: 8, arbitrary: fc.constantFrom('give' as const, 'earn' as const, 'redeem' as const) },
    { weight: 3, arbitrary: fc.constant('reverse' as const) },
    { weight: 1, arbitrary: fc.constantFrom(...kinds) },
  ),
  // Few members and short times, so that many sales meet on a day, and arrive after those of the next one.
  who: fc.nat(1),
  which: fc.nat(5),
  points: fc.integer({ min: 1, max: 12 }),
  hours: fc.integer({ min: 0, max: 20 }),
  lateHours: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 70 })),
});

interface Entry {
  id: string;
  at: Date;
  isVisit: boolean;
  isRedeem: boolean;
}

interface Person {
  id: string;
  createdAt: Date;
  isImported: boolean;
  balance: number;
  entries: Entry[];
  /** The visits of each day, and whether the day counts as a return. */
  days: Map<string, { visits: number; returning: boolean }>;
}

const dayIn = (at: Date) => new Intl.DateTimeFormat('en-CA', { timeZone: zone }).format(at);

class Model {
  people: Person[] = [];
  counts = new Map<string, { all: number; returning: number; joined: number; redeems: number }>();

  add(day: string, by: { all?: number; returning?: number; joined?: number; redeems?: number }) {
    const { all, returning, joined, redeems } = this.counts.get(day) ?? { all: 0, returning: 0, joined: 0, redeems: 0 };
    this.counts.set(day, {
      all: all + (by.all ?? 0),
      returning: returning + (by.returning ?? 0),
      joined: joined + (by.joined ?? 0),
      redeems: redeems + (by.redeems ?? 0),
    });
  }

  came(person: Person, at: Date) {
    const day = dayIn(at);
    const known = person.days.get(day);
    if (known) known.visits += 1;
    else {
      const returning = person.days.size > 0;
      person.days.set(day, { visits: 1, returning });
      this.add(day, { all: 1, returning: returning ? 1 : 0 });
    }
  }

  cameNot(person: Person, at: Date) {
    const day = dayIn(at);
    const known = person.days.get(day);
    if (!known) throw new Error('A visit that was not counted is reversed.');
    known.visits -= 1;
    if (known.visits > 0) return;
    person.days.delete(day);
    this.add(day, { all: -1, returning: known.returning ? -1 : 0 });
  }

  rows() {
    const last = (entries: Entry[]) =>
      entries.length > 0 ? new Date(Math.max(...entries.map(({ at }) => at.getTime()))) : undefined;
    return this.people
      .map(({ id, createdAt, entries, days }) => {
        const lastVisitAt = last(entries.filter(({ isVisit }) => isVisit));
        const lastRewardAt = last(entries.filter(({ isRedeem }) => isRedeem));
        return { id, lastVisitAt, lastRewardAt, seenAt: lastVisitAt ?? createdAt, visitDays: days.size };
      })
      .sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  listed(name: Audience, now: Date): string[] {
    const last = (entries: Entry[]) => Math.max(0, ...entries.map(({ at }) => at.getTime()));
    const isIn = ({ createdAt, isImported, balance, entries, days }: Person): boolean => {
      const visit = last(entries.filter(({ isVisit }) => isVisit));
      const week = now.getTime() - 7 * dayMs;
      return {
        today: visit > 0 && dayIn(new Date(visit)) === dayIn(now),
        returning: visit >= week && days.size >= 2,
        rewarded: last(entries.filter(({ isRedeem }) => isRedeem)) >= week,
        joined: !isImported && createdAt.getTime() >= week,
        nearlyFull: balance >= goal - goal / 5 && balance < goal,
        away: (visit || createdAt.getTime()) < now.getTime() - 30 * dayMs,
      }[name];
    };
    return this.people
      .filter(isIn)
      .map(({ id }) => id)
      .sort();
  }
}

const refused = async <T>(work: Promise<T>): Promise<T | undefined> => {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
};

async function make(
  { model, program }: { model: Model; program: Program },
  { deps, now, step: { kind, who, which, points, lateHours } }: { deps: Deps; now: Date; step: Step },
): Promise<void> {
  const { merchantId } = program;
  if (kind === 'join') {
    const { member } = await enrollMember(deps, {
      ...{ program, person: { initialPoints: points }, source: 'console', attribution: {}, actor },
      chooseLeaseOwner: () => null,
    });
    model.people.push({
      ...{ id: member._id, createdAt: now, isImported: false, balance: points, entries: [], days: new Map() },
    });
    model.add(dayIn(now), { joined: 1 });
    return;
  }
  const person = model.people[who % Math.max(1, model.people.length)];
  if (!person) return;
  const memberId = person.id;
  if (kind === 'erase') {
    await eraseMember(deps, { merchantId, memberId });
    model.people = model.people.filter((one) => one !== person);
    return;
  }
  const at = new Date(now.getTime() - lateHours * hourMs);
  const sale = lateHours > 0 ? { occurredAt: at.toISOString() } : {};
  const asked = { actor, now };
  const id = newId();
  const reversed = person.entries[which % Math.max(1, person.entries.length)];
  if (kind === 'reverse' && !reversed) return;
  const rules = {
    give: () => pointsRule({ delta: points, ...sale }, asked),
    take: () => pointsRule({ delta: -points }, asked),
    set: () => pointsRule({ value: points }, asked),
    earn: () => earnRule({ amount: points, ...sale }, { ...asked, reader: earnedReader(deps) }),
    redeem: () => redeemRule({ ...sale }, asked),
    reverse: () => reversalRule(deps, { entry: { _id: reversed?.id ?? '' }, reversalId: id, ...asked }),
  };
  const changed = await refused(
    changeMember(deps, {
      ...{ merchantId, memberId, decide: rules[kind](), temporalAvailable: false, chooseLeaseOwner: () => null },
      keyedChange: { id, fingerprint: id, answer: () => ({ status: 200, body: Buffer.from('{}') }) },
    }),
  );
  if (changed?.kind !== 'done') return;
  person.balance = changed.member.balance;
  if (kind === 'reverse' && reversed) {
    person.entries = person.entries.filter((entry) => entry !== reversed);
    if (reversed.isVisit) model.cameNot(person, reversed.at);
    if (reversed.isRedeem) model.add(dayIn(now), { redeems: -1 });
    return;
  }
  const isVisit = kind === 'give' || kind === 'earn' || kind === 'redeem';
  person.entries.push({ id, at, isVisit, isRedeem: kind === 'redeem' });
  if (isVisit) model.came(person, at);
  if (kind === 'redeem') model.add(dayIn(now), { redeems: 1 });
}

async function rest(merchant: TestMerchant): Promise<void> {
  const { events } = service.deps.collections;
  await until(async () => (await events.countDocuments({ merchantId: merchant.id, state: 'new' })) === 0);
}

it('are those of a model, after any sequence of joins, visits, rewards, corrections, reversals and erasures', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 10, maxLength: 40 }),
      fc.integer({ min: 0, max: 40 }),
      async (steps, rested) => {
        const merchant = await aMerchant(service);
        const program = await merchant.program({ goal, timeZone: zone, earn: { per: 1, points: 1, currency: 'EUR' } });
        const start = Date.now() - 60 * dayMs;
        const model = new Model();
        const at = (now: Date): Deps => ({ ...service.deps, now: () => now });
        let now = new Date(start);
        const makeAll = async () => {
          for (const one of steps) {
            now = new Date(now.getTime() + one.hours * hourMs);
            await make({ model, program }, { deps: at(now), now, step: one });
          }
        };
        const bring = async () => {
          const file = 'firstName,initialPoints\nBen,19\nCai,\n';
          const sent = await sendImport(merchant, { programId: program._id, file, fields: { quiet: 'true' } });
          await batchEnd(merchant, sent.body.data.batchId);
        };
        await Promise.all([makeAll(), bring()]);
        const imported = service.deps.collections.members.find({ merchantId: merchant.id, source: 'import' });
        for await (const { _id: id, balance, createdAt } of imported)
          model.people.push({ id, createdAt, isImported: true, balance, entries: [], days: new Map() });
        await rest(merchant);

        const day = (ms: number) => new Date(ms).toISOString().slice(0, 10);
        const range = `from=${day(start - 5 * dayMs)}&to=${day(Date.now() + 2 * dayMs)}`;
        const { days, totals, timeZone } = (await merchant.call(`/merchants/me/stats?${range}`)).body.data;
        expect(timeZone).toBe(zone);
        const nothing = { all: 0, returning: 0, joined: 0, redeems: 0 };
        for (const { day: name, visits, members, redeems } of days)
          expect({ name, ...visits, joined: members.joined, redeems }).toEqual({
            name,
            ...(model.counts.get(name) ?? nothing),
          });
        const { given, imported: brought, corrected, spent, expired } = totals.points;
        const ledger = await service.deps.collections.ledger.find({ merchantId: merchant.id }).toArray();
        expect(given + brought + corrected - spent - expired).toBe(ledger.reduce((sum, { delta }) => sum + delta, 0));
        expect(brought).toBe(19);

        const rows = async () =>
          (await service.deps.collections.members.find({ merchantId: merchant.id }).sort({ _id: 1 }).toArray()).map(
            ({ _id: id, lastVisitAt, lastRewardAt, seenAt, visitDays = 0 }) => ({
              ...{ id, lastVisitAt, lastRewardAt, seenAt, visitDays },
            }),
          );
        expect(await rows()).toEqual(model.rows());

        const later = new Date(now.getTime() + rested * dayMs);
        const lists = async () => {
          const found: Partial<Record<Audience, string[]>> = {};
          for (const name of audience.options) {
            const { items, total } = await searchMembers(at(later), {
              ...{ merchantId: merchant.id, programId: program._id, audience: name, page: 1, pageSize: 100 },
            });
            expect(total).toBe(items.length);
            found[name] = items.map(({ _id }) => _id).sort();
          }
          return found;
        };
        const minute = new Date(Math.floor(later.getTime() / 60_000) * 60_000);
        const expected = Object.fromEntries(audience.options.map((name) => [name, model.listed(name, minute)]));
        expect(await lists()).toEqual(expected);
        // The migration finds the same in the ledger.
        const { members } = service.deps.collections;
        const fields = { seenAt: '', lastVisitAt: '', visitDays: '', lastRewardAt: '' } as const;
        for (const { _id } of await members.find({ merchantId: merchant.id }).toArray())
          await members.updateOne({ _id }, { $unset: fields });
        await addVisits(service.deps);
        expect(await rows()).toEqual(model.rows());
        expect(await lists()).toEqual(expected);
      },
    ),
    { numRuns: 25, endOnFailure: true },
  );
});

it('of a member whom an older version of the service wrote come from the ledger with the next change', async () => {
  const merchant = await aMerchant(service);
  const program = await merchant.program();
  const { id } = await merchant.enroll({ programId: program._id, firstName: 'Ada' });
  const change = (delta: number) =>
    merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta } });
  const { members } = service.deps.collections;
  const fields = async () => {
    const { lastVisitAt, seenAt, visitDays } = (await members.findOne({ _id: id })) ?? {};
    return { lastVisitAt, seenAt, visitDays };
  };
  const forget = () => members.updateOne({ _id: id }, { $unset: { lastVisitAt: '', seenAt: '', visitDays: '' } });
  await change(3);
  const [first] = (await merchant.call(`/merchants/me/members/${id}/transactions`)).body.data.items;
  await change(4);
  await forget();
  await change(5);
  const known = await fields();
  expect(known).toEqual({ lastVisitAt: expect.any(Date), seenAt: known.lastVisitAt, visitDays: 1 });
  await forget();
  const reverse = async (transactionId: string) => {
    const path = `/merchants/me/members/${id}/transactions/${transactionId}/reverse`;
    expect((await merchant.call(path, { body: {} })).status).toBe(200);
  };
  await reverse(first.id);
  expect(await fields()).toEqual(known);
  // The last visit of all.
  const { items } = (await merchant.call(`/merchants/me/members/${id}/transactions`)).body.data;
  const visits = items.filter(
    (entry: { type: string; delta: number }) => entry.type === 'adjust' && [4, 5].includes(entry.delta),
  );
  await reverse(visits[0].id);
  await forget();
  await reverse(visits[1].id);
  expect(await fields()).toEqual({ lastVisitAt: undefined, seenAt: expect.any(Date), visitDays: undefined });
});
