// Requests that need much memory are bounded by merchant: large bodies of programs, dry runs, and exports of members
// (docs/interface.md#81-limits). A body is not read before its request has a turn.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { type Answer, aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let other: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: false, env: { MERCHANT_MAX_LARGE_REQUESTS: '1' } });
  other = await aMerchant(service);
});
afterAll(() => service.stop());

const refused = {
  status: 429,
  body: { error: { code: 'RATE_LIMITED', details: { limit: 'MERCHANT_MAX_LARGE_REQUESTS', max: 1 } } },
};
const length = 200_000;
const preview = '/merchants/me/programs/preview';

/** A request that has sent half of its body. Returns how to send the rest, and the status of its answer. */
async function halfSent(by: TestMerchant, path: string, type: string, text: string) {
  const headers = {
    ...{ Authorization: `Bearer ${await by.token()}`, 'Content-Type': type },
    'Content-Length': Buffer.byteLength(text),
  };
  const sent = request(`${service.baseUrl}${path}`, { method: 'POST', headers });
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sent.on('response', ({ statusCode }) => resolve(statusCode));
    sent.on('error', reject);
  });
  await new Promise((resolve) => sent.write(text.slice(0, text.length / 2), resolve));
  return { end: () => sent.end(text.slice(text.length / 2)), answered };
}

const bodyOf = (size: number) => ({ program: { name: 'x'.repeat(size) } });
const send = async (by: TestMerchant, size: number): Promise<Answer> =>
  by.call(preview, { body: bodyOf(size), credential: { Authorization: `Bearer ${await by.token()}` } });

describe('a merchant whose large request is being read', () => {
  it.concurrent.each([
    ['the body of a program', preview, 'application/json', JSON.stringify(bodyOf(length))],
    [
      'a dry run',
      '/merchants/me/imports?dryRun=true&programId=',
      'text/csv',
      `firstName\n${'Ada\n'.repeat(length / 4)}`,
    ],
  ])(
    'waits for it with its next one, while small ones and other merchants go on: %s',
    async (_title, path, type, text) => {
      const merchant = await aMerchant(service);
      const programId = path.endsWith('=') ? (await merchant.program())._id : '';
      const first = await halfSent(merchant, `${path}${programId}`, type, text);
      // Until the first has its turn, the second may get it.
      const answer = await until(async () => {
        const second = await send(merchant, length);
        return second.status !== 200 && second;
      });
      expect(answer).toMatchObject(refused);
      expect([(await send(merchant, 100)).status, (await send(other, length)).status]).toEqual([200, 200]);
      first.end();
      expect(await first.answered).toBe(200);
      expect((await send(merchant, length)).status).toBe(200);
    },
  );
});

it.concurrent('a merchant has one export of a member at a time, until its reader is done or gone', async () => {
  const merchant = await aMerchant(service);
  const member = await merchant.enroll();
  const given = { merchantId: merchant.id, memberId: member.id, type: 'pass.scanned', outcome: 'success' as const };
  const rows = Array.from({ length: 2_000 }, () => ({
    ...{ _id: newId(), ...given, detail: 'x'.repeat(10_000), occurredAt: new Date() },
  }));
  for (let from = 0; from < rows.length; from += 100)
    await service.deps.collections.timeline.insertMany(rows.slice(from, from + 100));
  const path = `/merchants/me/members/${member.id}/export`;
  const reading = new AbortController();
  const headers = { Authorization: `Bearer ${await merchant.token()}` };
  const slow = await fetch(`${service.baseUrl}${path}`, { headers, signal: reading.signal });
  expect(slow.status).toBe(200);
  expect(await merchant.call(path)).toMatchObject(refused);
  expect((await send(merchant, length)).status).toBe(200);
  reading.abort();
  const { status, body } = await merchant.call(path);
  expect([status, body.data.kept.timeline.length]).toEqual([200, expect.any(Number)]);
  expect(body.data.kept.timeline.length).toBeGreaterThan(1_999);
});

it.concurrent('a merchant has one large dry run whose answer is being read, and no export meanwhile', async () => {
  const merchant = await aMerchant(service);
  const member = await merchant.enroll();
  const headers = { Authorization: `Bearer ${await merchant.token()}`, 'Content-Type': 'text/csv' };
  const reading = new AbortController();
  const slow = await fetch(`${service.baseUrl}/merchants/me/imports?dryRun=true&programId=${member.programId}`, {
    ...{ method: 'POST', headers, signal: reading.signal },
    body: `email,externalId,initialPoints\n${'x,1E+9,y\n'.repeat(100_000)}`,
  });
  expect([slow.status, slow.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  const path = `/merchants/me/members/${member.id}/export`;
  expect(await merchant.call(path)).toMatchObject(refused);
  expect((await send(merchant, length)).status).toBe(200);
  reading.abort();
  expect((await merchant.call(path)).status).toBe(200);
});

// Alone: the upload waits at most 5 s for an export that asks whether the upload has its turn.
it('a large dry run that is refused after its file was read leaves room for others', async () => {
  const merchant = await aMerchant(service);
  const member = await merchant.enroll();
  const part = (head: string, content: string) =>
    `--cut\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
  const file = `${part('name="file"; filename="a.csv"\r\nContent-Type: text/csv', 'email\nx\n')}--cut`;
  const late = part('name="quiet"', 'true').slice('--cut'.length);
  const text = `${file}${late}--cut--`;
  const refusedLate = await halfSent(
    merchant,
    `/merchants/me/imports?dryRun=true&programId=${member.programId}`,
    'multipart/form-data; boundary=cut',
    text + '\r\n'.padEnd(2 * file.length - text.length),
  );
  const path = `/merchants/me/members/${member.id}/export`;
  const early = refusedLate.answered.then((status) => ({ status }));
  const isHeld = await until(async () => {
    const { status } = await Promise.race([early, merchant.call(path)]);
    return status !== 200 && status;
  });
  expect(isHeld).toBe(429);
  refusedLate.end();
  expect(await refusedLate.answered).toBe(400);
  expect((await merchant.call(path)).status).toBe(200);
});
