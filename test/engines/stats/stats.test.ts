// The overview of a merchant (docs/interface.md#410-overview-and-audit): each thing is counted once, even when it is
// repeated, and the counts match the ledger.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createImported } from '../../../activities/batches/imports/createImported.activity.js';
import { leaseEvents } from '../../../activities/events/leases.writes.js';
import { createMarkPublished } from '../../../activities/events/markPublished.writes.js';
import { eraseMember } from '../../../activities/persons/eraseMember.writes.js';
import { removeTraces } from '../../../activities/persons/removeTraces.activity.js';
import { recordReconciledSave } from '../../../activities/wallets/google/saves.writes.js';
import { localDay } from '../../../schemas/shared/calendar.rules.js';
import { until } from '../../rig/checks/until.js';
import { status } from '../../rig/standins/responders.js';
import { batchEnd, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;
let worker: TestWorker;

beforeAll(async () => {
  subscribed = await startSubscribedService(['*'], { retryPolicy: { maxAttempts: 2, backoffMs: 10 } });
  ({ service, merchant } = subscribed);
  worker = await startTestWorker(service);
});

afterAll(async () => {
  await worker.close();
  await subscribed.stop();
});

const stats = async (query = '', of = merchant) => (await of.call(`/merchants/me/stats${query}`)).body.data;
const today = () => localDay('UTC', new Date());

/** Waits until everything is published and delivered. */
async function rest(): Promise<void> {
  const { events, deliveries } = service.deps.collections;
  await until(async () => {
    // Events first: one that is published in between has its deliveries by then.
    if ((await events.countDocuments({ state: 'new' })) > 0) return false;
    return (await deliveries.countDocuments({ state: { $in: ['pending', 'retrying'] } })) === 0;
  });
}

describe('the overview', () => {
  it('counts members, installs, points, redeems and deliveries as they happen', async () => {
    const before = today();
    const ada = await merchant.enroll({ initialPoints: 120 });
    const change = async (path: string, body: object, method = 'POST') =>
      (await merchant.call(`/merchants/me/members/${ada.id}/${path}`, { method, body })).body.data;
    await change('points', { delta: 30 }, 'PATCH');
    await change('points', { delta: -20 }, 'PATCH');
    await change('redeem', {});
    const [redeem] = (await merchant.call(`/merchants/me/members/${ada.id}/transactions`)).body.data.items;
    await change(`transactions/${redeem.id}/reverse`, {});
    await change('redeem', {});
    const file = 'firstName,initialPoints\nBen,5\nCai,\n';
    expect((await sendImport(merchant, { programId: ada.programId, file })).status).toBe(200);
    for (const saved of [true, false]) {
      const member = await service.deps.collections.members.findOne({ _id: ada.id });
      if (!member) throw new Error('The member is there.');
      await recordReconciledSave(service.deps, { member, saved });
    }
    await until(async () => (await service.deps.collections.events.countDocuments({ type: 'batch.completed' })) === 1);
    await rest();

    const delivered = await service.deps.collections.deliveries.countDocuments({ merchantId: merchant.id });
    const expected = {
      members: { enrolled: 3, joined: 1, erased: 0 },
      visits: { all: 1, returning: 0 },
      installs: { apple: 0, google: 1 },
      removals: { apple: 0, google: 1 },
      points: { given: 150, spent: 100, expired: 0, imported: 5, corrected: -20 },
      redeems: 1,
      deliveries: { attempts: delivered, failedAttempts: 0, succeeded: delivered, exhausted: 0 },
    };
    const read = await stats();
    expect(read).toMatchObject({ to: today(), timeZone: 'UTC', totals: expected });
    expect(read.days).toHaveLength(30);
    expect(read.days.at(-1).day).toBe(read.to);
    const counted = read.days.filter(({ day }: { day: string }) => day >= before);
    expect(counted.reduce((sum: number, { redeems }: { redeems: number }) => sum + redeems, 0)).toBe(1);
    expect(read.programs).toEqual([{ programId: ada.programId, ...expected }]);
    const ledger = await service.deps.collections.ledger.find({ merchantId: merchant.id }).toArray();
    expect(ledger.reduce((sum, { delta }) => sum + delta, 0)).toBe(150 + 5 - 20 - 100);
  });

  it('counts failed attempts and deliveries that were given up', async () => {
    const { deliveries: before } = (await stats()).totals;
    subscribed.receiver.setResponder(status(500));
    await merchant.call(`/merchants/me/members/${(await merchant.enroll()).id}/points`, {
      method: 'PATCH',
      body: { delta: 1 },
    });
    await rest();
    const { deliveries } = (await stats()).totals;
    expect(deliveries).toEqual({
      attempts: before.attempts + 8,
      failedAttempts: before.failedAttempts + 8,
      succeeded: before.succeeded,
      exhausted: before.exhausted + 4,
    });
  });

  it('counts the members of a quiet import, and those that were erased before their import announced them', async () => {
    const other = await aMerchant(service);
    const program = await other.program();
    const importOf = (fields: Record<string, string>) =>
      sendImport(other, { programId: program._id, file: 'firstName,initialPoints\nBen,5\nCai,\nDan,7\n', fields });
    await batchEnd(other, (await importOf({ quiet: 'true' })).body.data.batchId);
    expect((await stats('', other)).totals).toMatchObject({
      members: { enrolled: 3, joined: 0 },
      points: { given: 0, imported: 12 },
    });

    await service.stopWorker();
    const { events, importChunks } = service.deps.collections;
    const path = `/merchants/me/imports?programId=${program._id}`;
    const headers = { 'Content-Type': 'text/csv' };
    const started = await other.call(path, { body: 'firstName,initialPoints\nEve,11\nFay,13\n', headers });
    const batchId = started.body.data.id;
    const signals = { cancellationSignal: new AbortController().signal, shutdownSignal: new AbortController().signal };
    await createImported(worker.deps, { batchId, from: 0, ...signals });
    const chunk = await importChunks.findOne({ batchId });
    await eraseMember(service.deps, { merchantId: other.id, memberId: chunk?.outcomes?.[1]?.memberId ?? '' });
    await service.startWorker();
    await batchEnd(other, batchId);
    await until(async () => (await events.countDocuments({ merchantId: other.id, state: 'new' })) === 0);
    expect((await stats('', other)).totals).toMatchObject({
      members: { enrolled: 5, erased: 1 },
      points: { given: 0, imported: 12 + 24 },
    });
  });

  it('counts what waits in the outbox when its member is erased, once', async () => {
    await service.stopWorker();
    const other = await aMerchant(service);
    const { id } = await other.enroll({ initialPoints: 120 });
    const path = `/merchants/me/members/${id}`;
    await other.call(`${path}/points`, { method: 'PATCH', body: { delta: -20 } });
    await other.call(`${path}/redeem`, { body: {} });
    const { events } = service.deps.collections;
    expect(await events.countDocuments({ memberId: id, state: 'new' })).toBe(3);
    const memberId = id;
    await eraseMember(service.deps, { merchantId: other.id, memberId });
    await Promise.all([removeTraces(worker.deps, { memberId }), removeTraces(worker.deps, { memberId })]);
    await service.startWorker();
    await until(async () => (await events.countDocuments({ merchantId: other.id, state: 'new' })) === 0);
    expect((await stats('', other)).totals).toMatchObject({
      members: { enrolled: 1, erased: 1 },
      visits: { all: 1 },
      points: { given: 120, spent: 100, corrected: -20 },
      redeems: 1,
    });
  });

  it('shows one program, a period of days, and nothing of other merchants', async () => {
    const zeros = { members: { enrolled: 0 }, points: { given: 0 }, deliveries: { attempts: 0 } };
    expect((await stats('?programId=another')).totals).toMatchObject(zeros);
    expect((await stats('?from=2026-01-31&to=2026-03-01')).days).toHaveLength(30);
    expect((await stats('?from=2026-01-31&to=2026-03-01')).totals).toMatchObject(zeros);
    expect((await stats('?to=2026-01-01')).from).toBe('2025-12-03');
    expect((await stats('', await aMerchant(service))).totals).toMatchObject(zeros);
  });

  it.each([
    ['0700-03-01', '0700-01-31'],
    ['1000-01-01', '0999-12-03'],
    ['0000-01-31', '0000-01-02'],
    ['0000-01-12', '0000-01-01'],
    ['9999-12-31', '9999-12-02'],
  ])('begins the period until %s at %s', async (to, from) => {
    const read = await stats(`?to=${to}`);
    expect([read.from, read.to]).toEqual([from, to]);
    expect([read.days[0].day, read.days.at(-1).day]).toEqual([from, to]);
  });

  it.each([
    ['a day that is none', '?from=2026-02-30'],
    ['an end before the beginning', '?from=2026-02-02&to=2026-02-01'],
    ['more than 400 days', '?from=2025-01-01&to=2026-02-05'],
  ])('refuses %s', async (_title, query) => {
    expect((await merchant.call(`/merchants/me/stats${query}`)).body.error.code).toBe('VALIDATION_FAILED');
  });
});

describe('an event that several runs of a lease owner publish', () => {
  it('is counted once', async () => {
    await service.stopWorker();
    const other = await aMerchant(service);
    for (let index = 0; index < 5; index += 1) await other.enroll({ initialPoints: 10 });
    const { events } = service.deps.collections;
    const rows = await events.find({ merchantId: other.id }).toArray();
    const eventIds = rows.map(({ _id }) => _id);
    for (const _id of eventIds) await events.updateOne({ _id }, { $set: { dueAt: new Date(0) } });
    const first = await leaseEvents(service.deps, { leaseOwner: 'relay', fence: 'first', eventIds });
    expect(first).toHaveLength(5);
    const second = await leaseEvents(service.deps, {
      leaseOwner: 'relay',
      fence: 'second',
      eventIds: eventIds.slice(2),
    });
    expect(second).toHaveLength(3);
    // Two processes, each with two attempts; the first attempt has lost three of its events.
    const processes = [createMarkPublished(service.deps), createMarkPublished(service.deps)];
    await Promise.all(
      processes.flatMap((markPublished) => [
        markPublished({ leaseOwner: 'relay', fence: 'first', events: first }),
        markPublished({ leaseOwner: 'relay', fence: 'second', events: second }),
      ]),
    );
    expect(await events.countDocuments({ _id: { $in: eventIds }, state: 'published' })).toBe(5);
    const { totals } = await stats('', other);
    expect(totals).toMatchObject({ members: { enrolled: 5 }, points: { given: 50 } });
    await service.startWorker();
  });
});
