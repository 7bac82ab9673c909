// After a change of a program its class at Google is updated, and a rebuild by the operator pushes every saved pass, so
// that phones fetch it again. In this file pushes authenticate with a key, and Redis keeps the request budget at
// Google.
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import { passes } from '../../../stack/commands/passes.js';
import { programs } from '../../../stack/commands/programs.js';
import { until } from '../../rig/checks/until.js';
import { type RedisServer, startRedisServer } from '../../rig/standins/redisServer.js';
import { runOn } from '../../rig/start/commandLine.js';
import { type Customers, startCustomers } from '../../rig/start/customers.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

let real: RealWallets;
let customers: Customers;
let redis: RedisServer;

beforeAll(async () => {
  redis = await startRedisServer();
  real = await startRealWallets({ pushKey: true, env: { REDIS_URL: redis.url } });
  customers = await startCustomers(real);
});
afterAll(async () => {
  await real.stop();
  await customers.stop();
  await redis.close();
});

it('phones show the new template, saved objects are patched, and members without a saved pass are left out', async () => {
  const { service, google, customer } = real;
  const { collections } = service.deps;
  const ada = await customers.join();
  const phone = await customers.install(ada);
  const bob = await customers.join(ada.program);
  await customer.save(bob.googleUrl ?? '');
  await until(async () => (await collections.members.findOne({ _id: bob.member._id }))?.pass.googleSaved);
  const eve = await customers.join(ada.program);
  const [elsewhere] = [await customers.join()];
  const before = await collections.members.findOne({ _id: eve.member._id });
  const patches = () => google.requests.filter(({ kind }) => kind === 'objectUpdate').length;
  const patched = patches();

  await collections.programs.updateOne({ _id: ada.program._id }, { $set: { 'passTemplate.logoText': 'A new name' } });
  const { code, lines, errors } = await runOn(service, passes, ['rebuild', ada.program._id, '--wait']);
  expect([code, errors]).toEqual([0, []]);
  expect(lines[0]).toMatch(/^started rebuild:/);
  expect(lines.at(-1)).toBe('completed: 2 of 2 passes pushed, 0 not taken');

  await phone.settled();
  expect(phone.history()).toHaveLength(2);
  expect(real.apns.pushes.map(({ provedBy }) => provedBy)).toEqual(['token']);
  const examined = await real.merchant.call(`/merchants/me/members/${ada.member._id}/pass`);
  expect(examined.body.data.apple).toMatchObject({
    certificates: { pushesBy: 'token' },
    devices: [{ lastPush: { status: 200 } }],
  });
  expect(patches()).toBeGreaterThan(patched);
  const [batch] = await collections.batches.find({ kind: 'passes.rebuild' }).toArray();
  expect(batch).toMatchObject({ phase: 'completed', programId: ada.program._id, counts: { total: 2, created: 2 } });
  expect((await collections.members.findOne({ _id: eve.member._id }))?.version).toBe(before?.version);
  expect((await collections.members.findOne({ _id: elsewhere?.member._id ?? '' }))?.version).toBe(
    elsewhere?.member.version,
  );

  const { body } = await real.merchant.call(`/merchants/me/batches/${batch?._id}`);
  expect(body.data).toMatchObject({ kind: 'passes.rebuild', phase: 'completed', percent: 100 });
  expect(await service.client.workflow.getHandle(`rebuild:${batch?._id}`).result()).toEqual({ phase: 'completed' });
});

it('the class at Google follows each change of a program without an enrollment, also after faults at Google', async () => {
  const { service, google, merchant } = real;
  const folder = await mkdtemp(join(tmpdir(), 'programs-'));
  const file = join(folder, 'club.json');
  const apply = async (background: string) => {
    const program = { _id: 'club', slug: 'club', merchantId: merchant.id, name: 'Club', style: 'points', goal: 50 };
    const fields = { fields: { primaryLabel: 'POINTS' }, passTemplate: { colors: { background } } };
    await writeFile(file, JSON.stringify({ ...program, ...fields }));
    expect(await runOn(service, programs, ['apply', file])).toMatchObject({ code: 0, errors: [] });
  };
  const shown = () => google.rules.classes.get(`${google.issuerId}.program-club`)?.hexBackgroundColor;

  const { classUpdates, events } = service.deps.collections;
  // In production, a schedule starts this workflow while Google is in real mode.
  const updateClasses = () =>
    service.client.workflow.execute('updateClasses', {
      workflowId: `update-classes:${randomUUID()}`,
      taskQueue: taskQueues.workflows,
      args: [{}],
    });

  await apply('#111111');
  expect(await classUpdates.find().toArray()).toMatchObject([{ _id: 'club', merchantId: merchant.id }]);
  expect(await updateClasses()).toEqual({ updated: 1 });
  expect(shown()).toBe('#111111');
  google.rules.approve(`${google.issuerId}.program-club`);
  google.fail({ on: 'classGet', how: { status: 503 }, times: 2 });
  await apply('#222222');
  const asked = google.requests.length;
  const running = updateClasses();
  await until(() => google.requests.length > asked);
  expect(await classUpdates.countDocuments()).toBe(1);
  await apply('#333333');
  await running;
  // The request of the second change may have come after the last check of the first one.
  await updateClasses();
  expect(shown()).toBe('#333333');
  expect(await classUpdates.find().toArray()).toEqual([]);
  expect(await events.find({ programId: 'club' }).toArray()).toEqual([]);
  await rm(folder, { recursive: true });
});

it('all workers share one request budget at Google in Redis', async () => {
  const workers = await Promise.all([startTestWorker(real.service), startTestWorker(real.service)]);
  const asks = workers.map(
    ({ deps }) =>
      () =>
        deps.wallets.google?.api.getObject(`${real.google.issuerId}.nobody`),
  );
  const booked = () => redis.commands.filter((name) => name === 'eval').length;
  for (const ask of asks) {
    // A worker that has not reached Redis yet paces its own requests only.
    await until(async () => {
      const before = booked();
      await ask();
      return booked() > before;
    });
  }
  const before = booked();
  await Promise.all(asks.flatMap((ask) => [ask(), ask(), ask()]));
  expect(booked() - before).toBe(6);
  for (const { close } of workers) await close();
});
