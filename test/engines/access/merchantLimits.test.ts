// The operator's settings of a merchant: limits by setting and for one merchant, and a suspension, in which its
// requests are refused and its deliveries wait.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readDeliveries } from '../../../activities/events/outbox.reads.js';
import type { BatchRow } from '../../../schemas/batches/batches.rows.js';
import { newId } from '../../../schemas/shared/ids.js';
import { merchants } from '../../../stack/commands/merchants.js';
import { programs } from '../../../stack/commands/programs.js';
import { until } from '../../rig/checks/until.js';
import { noisePng } from '../../rig/standins/noisePng.js';
import { startReceiver } from '../../rig/standins/receiver.js';
import { batchRow } from '../../rig/start/batchRow.js';
import { runOn } from '../../rig/start/commandLine.js';
import { aDesigner } from '../../rig/start/designer.js';
import { type Answer, aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;

beforeAll(async () => {
  service = await startService({
    env: { MERCHANT_MAX_RUNNING_BATCHES: '3', MERCHANT_MAX_CAMPAIGNS_A_DAY: '2', MERCHANT_MAX_WAITING_ROWS: '100' },
  });
});
afterAll(() => service.stop());

const operator = (line: string) => runOn(service, merchants, line.split(' '));

function aBatch(merchant: TestMerchant, fields: Partial<BatchRow> = {}): Promise<unknown> {
  const upload = {
    merchantId: merchant.id,
    kind: 'members.import',
    phase: 'storing',
    uploadSeenAt: new Date(),
  } as const;
  return service.deps.collections.batches.insertOne(batchRow({ ...upload, ...fields }));
}

const csv = (rows: number): string =>
  `email\n${Array.from({ length: rows }, () => `${newId()}@example.com\n`).join('')}`;
const upload = (merchant: TestMerchant, { programId, rows }: { programId: string; rows: number }) =>
  merchant.call(`/merchants/me/imports?programId=${programId}`, {
    method: 'POST',
    body: csv(rows),
    headers: { 'Content-Type': 'text/csv' },
  });

function expectLimited(answer: Answer, limit: string, max: number): void {
  expect(outcome(answer)).toEqual([429, 'RATE_LIMITED']);
  expect(answer.body.error.details).toEqual({ limit, max, retryAfterSeconds: expect.any(Number) });
  expect(answer.body.error.message).toContain(limit);
  expect(answer.headers.get('Retry-After')).toBe(String(answer.body.error.details.retryAfterSeconds));
}

describe('running batches', () => {
  it('are limited for each merchant, and another merchant is not affected', async () => {
    const [busy, quiet] = [await aMerchant(service), await aMerchant(service)];
    for (let held = 0; held < 3; held += 1) await aBatch(busy);
    const programId = (await busy.program())._id;
    expectLimited(await upload(busy, { programId, rows: 1 }), 'MERCHANT_MAX_RUNNING_BATCHES', 3);
    const campaign = { programId, message: 'Hi' };
    expectLimited(await busy.call('/merchants/me/campaigns', { body: campaign }), 'MERCHANT_MAX_RUNNING_BATCHES', 3);
    expect((await upload(quiet, { programId: (await quiet.program())._id, rows: 1 })).status).toBe(202);
  });

  it('that have ended do not count, and a merchant may have a limit of its own', async () => {
    const merchant = await aMerchant(service);
    const programId = (await merchant.program())._id;
    for (let over = 0; over < 3; over += 1) await aBatch(merchant, { phase: 'completed' });
    expect((await upload(merchant, { programId, rows: 1 })).status).toBe(202);
    for (let held = 0; held < 3; held += 1) await aBatch(merchant);
    expect((await upload(merchant, { programId, rows: 1 })).status).toBe(429);
    expect((await operator(`limit ${merchant.id} --runningBatches 20`)).code).toBe(0);
    expect((await upload(merchant, { programId, rows: 1 })).status).toBe(202);
    expect((await operator(`limit ${merchant.id} --runningBatches default`)).code).toBe(0);
    expect((await upload(merchant, { programId, rows: 1 })).status).toBe(429);
  });

  it('never exceed the limit, also when they start at the same time', async () => {
    const merchant = await aMerchant(service);
    await operator(`limit ${merchant.id} --campaignsADay 50`);
    await aBatch(merchant);
    const body = { programId: (await merchant.program())._id, message: 'Hi' };
    await service.stopWorker();
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => merchant.call('/merchants/me/campaigns', { body })),
    );
    await service.startWorker();
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 202, 429, 429, 429, 429]);
  });
});

describe('campaigns', () => {
  it('are limited in 24 hours, and the answer says when the next one may start', async () => {
    const merchant = await aMerchant(service);
    const body = { programId: (await merchant.program())._id, message: 'Hi' };
    const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    await aBatch(merchant, { kind: 'campaign', phase: 'completed', startedAt: ago(25) });
    await aBatch(merchant, { kind: 'campaign', phase: 'completed', startedAt: ago(23) });
    expect((await merchant.call('/merchants/me/campaigns', { body })).status).toBe(202);
    const refused = await merchant.call('/merchants/me/campaigns', { body });
    expectLimited(refused, 'MERCHANT_MAX_CAMPAIGNS_A_DAY', 2);
    const { retryAfterSeconds } = refused.body.error.details;
    expect(retryAfterSeconds).toBeGreaterThan(3_000);
    expect(retryAfterSeconds).toBeLessThanOrEqual(3_600);
  });
});

describe('rows of imports that wait', () => {
  it('are limited over all imports of a merchant; a refused import leaves no rows', async () => {
    const merchant = await aMerchant(service);
    const programId = (await merchant.program())._id;
    const counts = { total: 90, created: 0, deduped: 0, failed: 0 };
    await aBatch(merchant, { counts, done: 20 });
    const before = await service.deps.collections.batches.countDocuments({ merchantId: merchant.id });
    expectLimited(await upload(merchant, { programId, rows: 31 }), 'MERCHANT_MAX_WAITING_ROWS', 100);
    expect(await service.deps.collections.batches.countDocuments({ merchantId: merchant.id })).toBe(before);
    expect(await service.deps.collections.importChunks.countDocuments({ merchantId: merchant.id })).toBe(0);
    expect((await upload(merchant, { programId, rows: 30 })).status).toBe(202);
  });
});

describe('images', () => {
  it('are limited over all programs of a merchant', async () => {
    const merchant = await aMerchant(service);
    const icon = noisePng(160, 50, 10_000).toString('base64');
    const bytes = Buffer.byteLength(icon, 'base64');
    const folder = mkdtempSync(join(tmpdir(), 'loyalty-images-'));
    const apply = async (_id: string) => {
      const file = `${folder}/${_id}.json`;
      const program = { _id, slug: _id, name: 'Café', style: 'points', fields: { primaryLabel: 'POINTS' } };
      writeFileSync(file, JSON.stringify({ ...program, passTemplate: { images: { logo: icon } } }));
      return runOn(service, programs, ['apply', file, '--merchant', merchant.id]);
    };
    const max = bytes * 2;
    await operator(`limit ${merchant.id} --imageBytes ${max}`);
    const ids = Array.from({ length: 3 }, () => `image-${newId()}`);
    for (const id of ids.slice(0, 2)) expect(await apply(id)).toMatchObject({ code: 0 });
    expect(await apply(ids[2] ?? '')).toMatchObject({
      code: 1,
      errors: [
        `merchant ${merchant.id} would store ${bytes * 3} bytes of images, more than ${max} (MERCHANT_MAX_IMAGE_BYTES)`,
        'nothing was changed',
      ],
    });
    expect(await apply(ids[0] ?? '')).toMatchObject({ code: 0 });
    rmSync(folder, { recursive: true });
  });
});

describe('images of one program', () => {
  const logos = Array.from({ length: 6 }, () => noisePng(160, 50, 10_000).toString('base64'));
  const bytes = Math.max(...logos.map((logo) => Buffer.byteLength(logo, 'base64')));

  async function aProgramWithin(imageBytes: number) {
    const merchant = await aMerchant(service);
    await operator(`limit ${merchant.id} --imageBytes ${imageBytes}`);
    const its = await aDesigner(merchant);
    const images = (logo: string | undefined) => ({ passTemplate: { images: { logo } } });
    const { _id } = (await its.create(images(logos[0]))).body.data;
    const stored = () => service.deps.collections.programVersions.find({ programId: _id }).toArray();
    return { its, images, _id, stored };
  }

  it('count in its newest edit and in its live version, once where they are the same', async () => {
    const { its, images, _id } = await aProgramWithin(Math.floor(bytes * 1.5));
    expect((await its.publish(_id)).status).toBe(200);
    expect((await its.edit(_id, { name: 'Renamed' })).status).toBe(200);
    const { status, body } = await its.edit(_id, images(logos[1]));
    expect([status, body.error.details[0].path]).toEqual([400, 'passTemplate.images']);
    expect((await its.edit(_id, images(logos[0]))).status).toBe(200);
  });

  it('let older versions go that do not fit, and nothing is refused because of them', async () => {
    const { its, images, _id, stored } = await aProgramWithin(bytes * 3);
    for (const logo of logos) {
      await its.edit(_id, images(logo));
      expect((await its.publish(_id)).status).toBe(200);
    }
    const kept = (await stored()).map(({ content }) => content.passTemplate.images.logo).toSorted();
    expect(kept).toEqual(logos.slice(-3).toSorted());
  });
});

describe('a suspended merchant', () => {
  it('gets 403 with every credential, takes no new members, and its deliveries wait until it is resumed', async () => {
    const [merchant, other] = [await aMerchant(service), await aMerchant(service)];
    const receiver = await startReceiver();
    await merchant.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['points.changed'] } });
    const member = await merchant.enroll();
    const { slug } = await merchant.program();
    const points = `/merchants/me/members/${member.id}/points`;
    // Committed shortly before the suspension, published after it.
    await service.stopWorker();
    expect((await merchant.call(points, { method: 'PATCH', body: { delta: 5 } })).status).toBe(200);
    expect(await operator(`suspend ${merchant.id}`)).toMatchObject({ code: 0 });
    await until(async () => (await merchant.call('/merchants/me/programs')).status === 403);
    await service.startWorker();

    const token = { Authorization: `Bearer ${await merchant.token()}` };
    for (const credential of [{ 'X-API-Key': merchant.apiKey }, token])
      expect(outcome(await merchant.call('/merchants/me/programs', { credential }))).toEqual([
        403,
        'MERCHANT_SUSPENDED',
      ]);
    const joined = await merchant.call(`/enroll/${slug}/submit`, {
      body: { email: 'a@example.com' },
      credential: null,
    });
    expect(outcome(joined)).toEqual([404, 'PROGRAM_NOT_FOUND']);
    expect((await other.call('/merchants/me/programs')).status).toBe(200);
    expect((await operator('list')).lines.find((line) => line.startsWith(merchant.id))).toContain('suspended');

    const { deliveries, events } = service.deps.collections;
    const delivery = await until(() => deliveries.findOne({ merchantId: merchant.id }));
    const state = { state: 'pending', attempts: 0 };
    await until(async () => (await events.findOne({ _id: delivery.eventId }))?.state === 'published');
    expect(delivery.dueGroup).toBe(delivery.subscriptionId);
    // The queue is read every second.
    const since = performance.now();
    await until(() => performance.now() - since > 3_000);
    expect(receiver.requests).toHaveLength(0);
    expect(await deliveries.findOne({ _id: delivery._id })).toMatchObject(state);
    const queue = await readDeliveries(service.deps);
    expect(queue.count).toBe(1);
    expect(queue.ageSeconds).toBeGreaterThan(3);

    expect(await operator(`resume ${merchant.id}`)).toMatchObject({ code: 0 });
    await receiver.waitFor((requests) => requests.length === 1);
    await until(async () => (await deliveries.findOne({ _id: delivery._id }))?.state === 'succeeded');
    expect(await deliveries.findOne({ _id: delivery._id })).toMatchObject({ attempts: 1 });
    await until(async () => (await readDeliveries(service.deps)).count === 0);
    await until(async () => (await merchant.call('/merchants/me/programs')).status === 200);
    await receiver.stop();
  });
});
