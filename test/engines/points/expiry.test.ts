// Expiry (docs/interface.md#36-expiry): points expire once for each member, whatever runs concurrently, and were
// announced before. The arithmetic is in test/unit/points/lots.test.ts and test/unit/points/expiry.test.ts.
import type { FindCursor } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { expireLots } from '../../../activities/points/expireLots.activity.js';
import { giveLots } from '../../../activities/points/giveLots.activity.js';
import { verifyLedger } from '../../../activities/points/verifyLedger.reads.js';
import { withExpiry } from '../../../activities/programs/expirySince.writes.js';
import type { Deps } from '../../../platform/deps.js';
import { maxLots } from '../../../schemas/points/lots.rules.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { calendarDay, midnightAfter } from '../../../schemas/shared/calendar.rules.js';
import { programs } from '../../../stack/commands/programs.js';
import { until } from '../../rig/checks/until.js';
import { runOn } from '../../rig/start/commandLine.js';
import { memberCalls } from '../../rig/start/memberCalls.js';
import { manyMembers, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['points.changed']);
  ({ service, merchant } = subscribed);
});

afterAll(() => subscribed.stop());

const zone = 'Europe/Berlin';
const hourMs = 3_600_000;
const { one, points, redeem, reverse, read, ledgerOf } = memberCalls(() => merchant);
const explain = async (memberId: string) => (await merchant.call(`${one(memberId)}/balance`)).body.data;
const rowOf = (memberId: string) => service.deps.collections.members.findOne({ _id: memberId });
const inDays = (days: number, from = new Date()) => midnightAfter(zone, from, days);

/** Runs the schedule's work for that time. Returns the number of members whose points expired. */
async function expireAt(at: Date, programId: string, deps: Deps = service.deps): Promise<number> {
  while (!(await giveLots(deps, { at, programId })).over);
  let expired = 0;
  for (let next: number | undefined = 0; next !== undefined; ) {
    const done = await expireLots(deps, { from: next, at, programId });
    expect(done.failed).toBe(0);
    expired += done.expired;
    next = done.next;
  }
  return expired;
}

const aProgram = (fields: Record<string, unknown>): Promise<Program> => merchant.program({ timeZone: zone, ...fields });

async function aMember(fields: Record<string, unknown>, initialPoints = 0) {
  const program = await aProgram(fields);
  const { id } = await merchant.enroll({ programId: program._id, initialPoints });
  return { memberId: String(id), programId: program._id };
}

const setRule = (programId: string, expiry: Program['expiry']) =>
  service.deps.collections.programs.updateOne(
    { _id: programId },
    expiry ? { $set: { expiry } } : { $unset: { expiry: '' } },
  );

/** Only the given members, because others were stored without a ledger. */
async function auditedDifferences(memberIds: readonly string[]): Promise<unknown[]> {
  const differences = [];
  for await (const group of verifyLedger(service.deps, merchant.id)) differences.push(...group.differences);
  return differences.filter(({ memberId }) => memberIds.includes(memberId));
}

describe('points that expire', () => {
  it('are announced, and expire at their midnight with the same values in answer, ledger, event and timeline', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 30 }, goal: 10 }, 40);
    const soldAt = new Date(Date.now() - 50 * hourMs);
    await points(memberId, { delta: 25, occurredAt: soldAt.toISOString() });
    await redeem(memberId);
    const [soon, late] = [inDays(31, soldAt), inDays(31)];
    const expiring = [
      { points: 15, at: soon.toISOString() },
      { points: 40, at: late.toISOString() },
    ];
    expect((await read(memberId)).expiring).toEqual(expiring);
    expect(await explain(memberId)).toMatchObject({
      ...{ balance: 55, expiring },
      lots: [
        { points: 25, left: 15, at: soon.toISOString() },
        { points: 40, left: 40, at: late.toISOString() },
      ],
    });
    const path = new URL((await read(memberId)).apple.passUrl).pathname;
    const card = (await merchant.call(`${service.publicUrl}${path}.json`, { credential: null })).body;
    expect(card.expiring).toHaveLength(2);
    expect(card.expiring[0]).toMatch(/^15 until \d{1,2} \S+ \d{4}$/);

    expect(await expireAt(new Date(soon.getTime() - 1), programId)).toBe(0);
    expect(await expireAt(soon, programId)).toBe(1);
    expect(await expireAt(soon, programId)).toBe(0);
    expect(await read(memberId)).toMatchObject({ balance: 40, expiring: expiring.slice(1) });
    const [entry] = await ledgerOf(memberId);
    expect(entry).toMatchObject({
      ...{ type: 'expiry', previous: 55, current: 40, delta: -15, rule: { programVersion: 1 } },
      actor: { type: 'program', id: programId },
    });
    const told = { previous: 55, current: 40, delta: -15, reason: 'expired', memberVersion: 4 };
    const event = await until(() => subscribed.envelopes(memberId).find(({ data }) => data.reason));
    expect(event.data).toMatchObject({ ...told, passUpdate: { apple: { mode: 'stub' } } });
    const timeline = await merchant.call(`${one(memberId)}/events`);
    expect(timeline.body.data.items).toContainEqual(expect.objectContaining({ type: 'points_expired', detail: '15' }));
    expect((await reverse(memberId, entry.id)).body.error.code).toBe('NOT_REVERSIBLE');
    expect(await expireAt(late, programId)).toBe(1);
    expect(await explain(memberId)).toMatchObject({
      balance: 0,
      lifetimePoints: 65,
      expiring: [],
      lots: [],
      entries: 5,
    });
    expect(await auditedDifferences([memberId])).toEqual([]);
  });

  it('expire once for several missed midnights, also for a voided member, and lower the tier', async () => {
    const tiers = [
      { name: 'Bronze', threshold: 0 },
      { name: 'Silver', threshold: 50 },
    ];
    const { memberId, programId } = await aMember({ expiry: { afterDays: 1 }, style: 'tiered', tiers }, 40);
    await points(memberId, { delta: 25, occurredAt: new Date(Date.now() - 60 * hourMs).toISOString() });
    await merchant.call(`${one(memberId)}/status`, { method: 'PATCH', body: { status: 'voided' } });
    expect(await expireAt(inDays(9), programId)).toBe(1);
    expect(await read(memberId)).toMatchObject({ balance: 0, tier: 'Bronze', status: 'voided', expiring: [] });
    expect((await ledgerOf(memberId)).map(({ type, delta }: { type: string; delta: number }) => [type, delta])).toEqual(
      [
        ['expiry', -40],
        ['expiry', -25],
        ['adjust', 25],
        ['initial', 40],
      ],
    );
  });

  it('are restored by a reversed spending, and a reversed earning takes its own points first', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 3 }, goal: 30 }, 20);
    await points(memberId, { delta: 20, occurredAt: new Date(Date.now() - 48 * hourMs).toISOString() });
    const before = (await explain(memberId)).lots;
    await redeem(memberId);
    const [redeemed] = await ledgerOf(memberId);
    expect((await explain(memberId)).lots).toMatchObject([{ points: 20, left: 10 }]);
    await reverse(memberId, redeemed.id);
    expect((await explain(memberId)).lots).toEqual(before);

    await points(memberId, { delta: 7 });
    const [earned] = await ledgerOf(memberId);
    await reverse(memberId, earned.id);
    expect((await explain(memberId)).lots).toEqual(before);

    // A lot that is over when its points are returned expires again, with its own event.
    await points(memberId, { delta: -5 });
    const [spent] = await ledgerOf(memberId);
    const soon = new Date(before[0].at);
    expect(await expireAt(soon, programId)).toBe(1);
    expect((await reverse(memberId, spent.id)).body.data).toMatchObject({ previous: 20, current: 25 });
    expect(await expireAt(soon, programId)).toBe(1);
    expect((await read(memberId)).balance).toBe(20);
    const told = await until(() => {
      const found = subscribed.envelopes(memberId).filter(({ data }) => data.reason === 'expired');
      return found.length === 2 && found;
    });
    expect(told.map(({ data }) => data.delta).toSorted()).toEqual([-15, -5]);
    expect(new Set(told.map(({ eventId }) => eventId)).size).toBe(2);
    expect(await auditedDifferences([memberId])).toEqual([]);
  });

  it('expire together after a time of inactivity', async () => {
    const { memberId, programId } = await aMember({ expiry: { inactiveDays: 30 } }, 40);
    const soldAt = new Date(Date.now() - 70 * hourMs);
    await points(memberId, { delta: 5, occurredAt: soldAt.toISOString() });
    const at = inDays(31);
    expect(await explain(memberId)).toMatchObject({
      expiring: [{ points: 45, at: at.toISOString() }],
      lots: [{ points: 45, left: 45, at: at.toISOString() }],
    });
    expect(await expireAt(new Date(at.getTime() - 1), programId)).toBe(0);
    expect(await expireAt(at, programId)).toBe(1);
    expect(await read(memberId)).toMatchObject({ balance: 0, expiring: [] });
  });

  it('expire at the midnights of a zone with summer time', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 300 } }, 10);
    const [{ at }] = (await read(memberId)).expiring;
    expect(calendarDay(zone, new Date(at)).start.toISOString()).toBe(at);
    expect(await expireAt(new Date(at), programId)).toBe(1);
  });
});

describe('points that are over before the schedule came by', () => {
  const longAgo = () => new Date(Date.now() - 71 * hourMs).toISOString();

  it('cannot be spent, are not shown, and expire in the transaction of the next change', async () => {
    const { memberId } = await aMember({ expiry: { afterDays: 1 }, goal: 10 }, 4);
    expect((await points(memberId, { delta: 20, occurredAt: longAgo() })).status).toBe(200);
    const refused = await redeem(memberId);
    expect([refused.status, refused.body.error.details]).toEqual([400, { goal: 10, current: 4, missing: 6 }]);
    const { data } = (await points(memberId, { delta: 8 })).body;
    expect(data).toMatchObject({ previous: 4, current: 12 });
    const rows = await ledgerOf(memberId);
    expect(rows.map(({ type, delta }: { type: string; delta: number }) => [type, delta])).toEqual([
      ['adjust', 8],
      ['expiry', -20],
      ['adjust', 20],
      ['initial', 4],
    ]);
    const event = await until(() => subscribed.envelopes(memberId).find(({ data: told }) => told.reason === 'expired'));
    expect(event.data).toMatchObject({ transactionId: rows[1].id, transactionType: 'expiry', delta: -20 });
    expect((await redeem(memberId)).status).toBe(200);
    expect(await auditedDifferences([memberId])).toEqual([]);
  });

  it('are not in answers and lists, whose balance is the sum of the ledger', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 1 } }, 4);
    const other = await merchant.enroll({ programId, initialPoints: 3 });
    for (const id of [memberId, String(other.id)]) await points(id, { delta: 20, occurredAt: longAgo() });
    expect(await explain(memberId)).toMatchObject({ balance: 4, lots: [{ left: 4 }], entries: 3 });
    const { expiring, balance } = await read(memberId);
    expect([balance, expiring.length]).toEqual([4, 1]);
    expect(Date.parse(expiring[0].at)).toBeGreaterThan(Date.now());
    expect((await ledgerOf(memberId))[0]).toMatchObject({ type: 'expiry', delta: -20 });
    const { items } = (await merchant.call(`/merchants/me/members?programId=${programId}`)).body.data;
    expect(items.map((item: { balance: number }) => item.balance).toSorted()).toEqual([3, 4]);
    expect(await auditedDifferences([memberId, String(other.id)])).toEqual([]);
  });

  it('are not taken from other points when their earning is reversed', async () => {
    for (const expiry of [{ afterDays: 1 }, { inactiveDays: 1 }]) {
      const { memberId, programId } = await aMember({ expiry }, 0);
      const { transaction } = (await points(memberId, { delta: 20, occurredAt: longAgo() })).body.data;
      await expireAt(inDays(0), programId);
      await points(memberId, { delta: 30 });
      const { status, body } = await reverse(memberId, transaction.id);
      expect([status, body.error.code]).toEqual([400, 'POINTS_EXPIRED']);
      expect((await read(memberId)).balance).toBe(30);
      const newest = (await ledgerOf(memberId))[0];
      expect((await reverse(memberId, newest.id)).body.data).toMatchObject({ previous: 30, current: 0 });
    }
  });

  it('are only those that were not spent: a spent earning of the same day is reversed as any other', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 1 } }, 0);
    const spent = (await points(memberId, { delta: 10 })).body.data.transaction;
    const kept = (await points(memberId, { delta: 5 })).body.data.transaction;
    await points(memberId, { delta: -10 });
    await expireAt(inDays(3), programId);
    expect((await reverse(memberId, spent.id)).body.error.code).toBe('BALANCE_TOO_LOW');
    await points(memberId, { delta: 100 });
    expect((await reverse(memberId, kept.id)).body.error.code).toBe('POINTS_EXPIRED');
    expect((await reverse(memberId, spent.id)).body.data).toMatchObject({ previous: 100, current: 90 });
    expect(await auditedDifferences([memberId])).toEqual([]);
  });

  it('include those of an earning that was merged into another one of the same day', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 1 } }, 0);
    const { transaction } = (await points(memberId, { delta: 1 })).body.data;
    for (let count = 0; count < maxLots; count += 1) await points(memberId, { delta: 1 });
    expect((await explain(memberId)).lots).toHaveLength(maxLots);
    await expireAt(inDays(3), programId);
    await points(memberId, { delta: 100 });
    expect((await reverse(memberId, transaction.id)).body.error.code).toBe('POINTS_EXPIRED');
  });

  it('are not taken from other points when they expire with the reversal', async () => {
    const { memberId } = await aMember({ expiry: { afterDays: 1 } }, 30);
    const { transaction } = (await points(memberId, { delta: 20, occurredAt: longAgo() })).body.data;
    expect((await reverse(memberId, transaction.id)).body.error.code).toBe('POINTS_EXPIRED');
    expect((await read(memberId)).balance).toBe(30);
  });
});

describe('a rule that is added later', () => {
  it('counts from its start, also for unchanged members, and expires nothing before', async () => {
    const program = await aProgram({});
    const [changed] = await manyMembers(service.deps, { program, count: 1 });
    const { id: untouched } = await merchant.enroll({ programId: program._id, initialPoints: 12 });
    await points(changed?._id ?? '', { delta: 30 });
    expect((await rowOf(untouched))?.expiry).toBeUndefined();
    expect((await read(untouched)).expiring).toEqual([]);

    await setRule(program._id, { afterDays: 10 });
    const at = inDays(11);
    const told = [{ points: 12, at: at.toISOString() }];
    await until(async () => (await read(untouched)).expiring.length > 0);
    expect((await read(untouched)).expiring).toEqual(told);
    await points(changed?._id ?? '', { delta: 3, occurredAt: new Date().toISOString() });
    expect((await explain(changed?._id ?? '')).lots).toMatchObject([{ left: 30 }, { left: 3 }]);
    expect(await expireAt(new Date(at.getTime() - 1), program._id)).toBe(0);
    expect((await rowOf(untouched))?.expiry).toMatchObject({ at });
    expect((await rowOf(untouched))?.version).toBe(1);
    expect(await expireAt(at, program._id)).toBe(2);
    expect((await read(untouched)).balance).toBe(0);
  });

  it('is applied to the members in parts, and continues where it stopped', async () => {
    const { members, expiries } = service.deps.collections;
    const program = await aProgram({});
    const ids = (await manyMembers(service.deps, { program, count: 24 })).map(({ _id }) => _id);
    for (const _id of ids) await members.updateOne({ _id }, { $set: { balance: 5 } });
    await setRule(program._id, { afterDays: 10 });
    await until(async () => (await read(ids[0] ?? '')).expiring.length > 0);
    const given = async () =>
      (await members.find({ programId: program._id, expiry: { $exists: true } }).toArray()).map(({ _id }) => _id);

    // No member gets lots before every process knows the rule.
    await giveLots(service.deps, { programId: program._id });
    expect(await given()).toEqual([]);
    await expiries.updateOne({ _id: program._id }, { $set: { next: 0x800 } });
    await giveLots(service.deps, { programId: program._id, at: inDays(1) });
    expect((await given()).toSorted()).toEqual(ids.filter((id) => id >= '8').toSorted());
    await expiries.updateOne({ _id: program._id }, { $set: { next: 0 } });
    await giveLots(service.deps, { programId: program._id, at: inDays(1) });
    expect((await given()).toSorted()).toEqual(ids.toSorted());
    expect(await giveLots(service.deps, { programId: program._id, at: inDays(1) })).toEqual({ given: 0, over: true });
  });

  it('keeps its start when it is published while the members get their lots', async () => {
    const program = await aProgram({});
    const { collections } = service.deps;
    let reads = 0;
    /** Publishes the rule between the two reads, whichever is the first. */
    const publishAtSecond = async () => {
      reads += 1;
      if (reads !== 2) return;
      await setRule(program._id, { afterDays: 10 });
      await withExpiry(service.deps, { ...program, expiry: { afterDays: 10 } });
    };
    const meanwhile = <C extends object>(collection: C): C =>
      new Proxy(collection, {
        get(target, name) {
          const value: unknown = Reflect.get(target, name);
          if (typeof value !== 'function') return value;
          if (name !== 'find') return value.bind(target);
          return (...args: unknown[]) => late(Reflect.apply(value, target, args));
        },
      });
    const late = (cursor: FindCursor) => ({
      project: (shown: object) => late(cursor.project(shown)),
      async toArray() {
        await publishAtSecond();
        return cursor.toArray();
      },
      async *[Symbol.asyncIterator]() {
        await publishAtSecond();
        yield* cursor;
      },
    });
    const racing: Deps = {
      ...service.deps,
      collections: {
        ...collections,
        programs: meanwhile(collections.programs),
        expiries: meanwhile(collections.expiries),
      },
    };
    await giveLots(racing, { programId: program._id });
    expect(reads).toBeGreaterThanOrEqual(2);
    expect(await collections.expiries.findOne({ _id: program._id })).toMatchObject({ kind: 'afterDays' });
  });

  it('is applied to the members of other programs when it fails for one', async () => {
    const { members, programs, expiries } = service.deps.collections;
    const ruled = [];
    for (const afterDays of [10, 11]) {
      const program = await aProgram({});
      const [member] = await manyMembers(service.deps, { program, count: 1 });
      const memberId = member?._id ?? '';
      await members.updateOne({ _id: memberId }, { $set: { balance: 5 } });
      await setRule(program._id, { afterDays });
      await until(async () => (await read(memberId)).expiring.length > 0);
      ruled.push({ programId: program._id, memberId });
    }
    const [broken, kept] = ruled;
    await programs.updateOne({ _id: broken?.programId ?? '' }, { $set: { timeZone: 'No/Where' } });
    expect((await giveLots(service.deps, { at: inDays(1) })).over).toBe(true);
    expect((await rowOf(kept?.memberId ?? ''))?.expiry).toBeDefined();
    expect((await rowOf(broken?.memberId ?? ''))?.expiry).toBeUndefined();
    expect((await expiries.findOne({ _id: broken?.programId ?? '' }))?.next).toBe(0);
    await programs.deleteOne({ _id: broken?.programId ?? '' });
  });

  it('starts again after a time without a rule, and after a rule of the other kind', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 2 } }, 50);
    await setRule(programId, undefined);
    await until(async () => (await read(memberId)).expiring.length === 0);
    expect(await expireAt(inDays(5), programId)).toBe(0);
    expect(await rowOf(memberId)).toMatchObject({ balance: 50, version: 1 });
    expect((await rowOf(memberId))?.expiry).toBeUndefined();
    expect(await service.deps.collections.expiries.findOne({ _id: programId })).toBeNull();

    await setRule(programId, { afterDays: 4 });
    await until(async () => (await read(memberId)).expiring[0]?.at === inDays(5).toISOString());
    await setRule(programId, { inactiveDays: 20 });
    await until(async () => (await read(memberId)).expiring[0]?.at === inDays(21).toISOString());
    expect(await expireAt(inDays(20), programId)).toBe(0);
    expect(await expireAt(inDays(21), programId)).toBe(1);
  });

  it('with another number of days applies to later points', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 30 } }, 5);
    await setRule(programId, { afterDays: 3 });
    await until(async () => {
      await points(memberId, { delta: 1 });
      return (await read(memberId)).expiring[0].at === inDays(4).toISOString();
    });
    expect((await read(memberId)).expiring.at(-1).at).toBe(inDays(31).toISOString());
  });
});

describe('exactly once', () => {
  it('whatever runs at the same time: two runs, and changes of the same members', async () => {
    const program = await aProgram({ expiry: { afterDays: 1 } });
    const memberIds: string[] = [];
    for (let count = 0; count < 60; count += 1)
      memberIds.push((await merchant.enroll({ programId: program._id, initialPoints: 10 })).id);
    const at = inDays(2);
    const changing = memberIds.slice(0, 20).map((memberId) => points(memberId, { delta: 1 }));
    const runs = await Promise.all([expireAt(at, program._id), expireAt(at, program._id)]);
    await Promise.all(changing);
    await expireAt(at, program._id);
    expect(runs[0] + runs[1]).toBeGreaterThanOrEqual(60);
    const rows = await service.deps.collections.ledger.find({ programId: program._id, type: 'expiry' }).toArray();
    for (const memberId of memberIds) {
      const own = rows.filter((row) => row.memberId === memberId);
      const isChanged = memberIds.indexOf(memberId) < 20;
      expect(own.reduce((sum, { delta }) => sum + delta, 0)).toBe(isChanged ? -11 : -10);
      if (!isChanged) expect(own).toHaveLength(1);
    }
    expect(await service.deps.collections.events.countDocuments({ _id: { $in: rows.map(({ _id }) => _id) } })).toBe(
      rows.length,
    );
    expect(await auditedDifferences(memberIds)).toEqual([]);
  });

  it('when a run does not learn that its commit succeeded', async () => {
    const program = await aProgram({ expiry: { afterDays: 1 } });
    const ids = [];
    for (let count = 0; count < 8; count += 1)
      ids.push(String((await merchant.enroll({ programId: program._id, initialPoints: 10 })).id));
    const at = inDays(2);
    const died = new Error('died');
    const dying: Deps = {
      ...service.deps,
      crashPoint: (name) => {
        if (name === 'after-commit') throw died;
      },
    };
    await expireLots(dying, { from: 0, at, programId: program._id });
    await expireAt(at, program._id);
    const filter = { programId: program._id, type: 'expiry' as const };
    expect(await service.deps.collections.ledger.countDocuments(filter)).toBe(ids.length);
    for (const id of ids) expect((await rowOf(id))?.balance).toBe(0);
  });

  it('for all others when one member cannot be written', async () => {
    const program = await aProgram({ expiry: { afterDays: 1 } });
    const members = await manyMembers(service.deps, { program, count: 3 });
    for (const { _id } of members) {
      await points(_id, { delta: 10 });
      await service.deps.collections.members.updateOne({ _id }, { $set: { 'expiry.slice': 5 } });
    }
    const [broken, ...others] = members.map(({ _id }) => _id);
    await service.deps.collections.members.updateOne({ _id: broken ?? '' }, { $set: { programId: 'gone' } });
    const done = await expireLots(service.deps, { from: 5, at: inDays(2) });
    expect(done.failed).toBe(1);
    for (const id of others) expect((await rowOf(id))?.balance).toBe(0);
    expect((await rowOf(broken ?? ''))?.balance).toBe(10);
  });
});

describe('the command', () => {
  const development = { NODE_ENV: 'development' };
  const run = (line: string, env: Record<string, string> = development) =>
    runOn(service, programs, line.split(' '), env);

  it('runs the workflow of the schedule for that time', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 30 } }, 9);
    expect(await run(`expire ${programId}`)).toMatchObject({
      code: 0,
      lines: [`points of 0 members of ${programId} expired`],
    });
    const at = inDays(31).toISOString();
    expect((await run(`expire ${programId} --at ${at}`)).lines).toEqual([`points of 1 member of ${programId} expired`]);
    expect((await read(memberId)).balance).toBe(0);
    expect((await run(`expire ${programId} --at ${at}`)).lines).toEqual([
      `points of 0 members of ${programId} expired`,
    ]);
  });

  it('is refused outside development, with an error message', async () => {
    const { memberId, programId } = await aMember({ expiry: { afterDays: 1 } }, 9);
    const refused = await run(`expire ${programId} --at 2100-01-01T00:00:00Z`, { NODE_ENV: 'production' });
    expect(refused).toMatchObject({ code: 1, errors: [expect.stringContaining('for development only')] });
    expect((await run(`expire ${programId} --at 2100-01-01T00:00:00Z`, {})).code).toBe(1);
    expect((await read(memberId)).balance).toBe(9);
    expect((await run('expire nobody')).errors).toEqual(['there is no program "nobody"; nothing was changed']);
    expect((await run(`expire ${programId} --at tomorrow`)).errors[0]).toContain('--at is no time');
    const { _id } = await aProgram({});
    expect((await run(`expire ${_id}`)).errors).toEqual([`the points of "${_id}" do not expire; nothing was changed`]);
  });
});
