// The log of requests (docs/interface.md#412-requests): from the id of a request to its answer and what followed.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWriteRequests, numbersAtOnce } from '../../../activities/stats/requests.writes.js';
import { newId, newToken } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { status } from '../../rig/standins/responders.js';
import { type Answer, addKey, aMerchant, type Call, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  const env = { CHANGE_WORKFLOWS_PER_SECOND: '1' };
  subscribed = await startSubscribedService(['*'], { retryPolicy: { maxAttempts: 2, backoffMs: 10 } }, { env });
  ({ service, merchant } = subscribed);
});
afterAll(async () => {
  await subscribed.stop();
});

const requestIdOf = (answer: Answer): string => answer.headers.get('x-request-id') ?? '';
const readOf = (requestId: string, of = merchant) => of.call(`/merchants/me/requests/${requestId}`);
const traceOf = async (requestId: string, of = merchant) => (await readOf(requestId, of)).body.data;
const list = async (query = '', of = merchant) => (await of.call(`/merchants/me/requests${query}`)).body.data;
const patchPoints = (id: string, body: unknown, given: Call = {}) =>
  merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body, ...given });

/** The trace once the deliveries of its event have ended. */
const delivered = (requestId: string) =>
  until(async () => {
    const trace = await traceOf(requestId);
    const open = trace.deliveries.some(({ success }: { success: boolean }) => !success);
    return trace.deliveries.length > 0 && !open && trace.event.publishedAt !== null && trace;
  });

describe('one request', () => {
  it('leads from its id to its answer, ledger entry, event and deliveries', async () => {
    const ada = await merchant.enroll({ email: 'ada@example.com', initialPoints: 5 });
    const key = newToken();
    const answer = await patchPoints(
      ada.id,
      { delta: 10, reference: 'R-17', changeMessage: 'Thanks, Ada' },
      { headers: { 'Idempotency-Key': key } },
    );
    const requestId = requestIdOf(answer);
    const trace = await delivered(requestId);
    expect(trace).toMatchObject({
      ...{ requestId, method: 'PATCH', path: `/merchants/me/members/${ada.id}/points`, status: 200, errorCode: null },
      ...{ body: { delta: 10, reference: 'R-17', changeMessage: '***' }, query: null, isCut: false },
      ...{ idempotencyKey: key, isReplayed: false, sameId: 1, memberId: ada.id },
      actor: { type: 'api-key', name: 'test key' },
      transaction: answer.body.data.transaction,
      event: { type: 'points.changed' },
      devices: [],
    });
    expect(trace.deliveries).toHaveLength(1);
    expect(trace.deliveries[0]).toMatchObject({ eventId: trace.event.id, statusCode: 204, attempts: 1 });
    expect(trace.deliveries[0].url).toBeUndefined();
    expect(Date.parse(trace.createdAt)).toBeLessThanOrEqual(Date.now() + 1_000);
    expect(trace.ms).toBeGreaterThanOrEqual(0);
  });

  it('finds a change in the same way when a workflow of its own processed it and when the relay did', async () => {
    const ada = await merchant.enroll();
    const kindOf = async (answer: Answer): Promise<string> => {
      const { transaction, event, workflow } = await delivered(requestIdOf(answer));
      expect([transaction, event.type]).toEqual([answer.body.data.transaction, 'points.changed']);
      expect(workflow.id).toMatch(workflow.kind === 'own' ? /^points:/ : /^relay:0$/);
      return workflow.kind;
    };
    const burst = await Promise.all(Array.from({ length: 10 }, () => patchPoints(ada.id, { delta: 1 })));
    expect(await Promise.all(burst.map(kindOf))).toContain('relay');
    // A workflow of its own as soon as there is a token.
    await until(async () => (await kindOf(await patchPoints(ada.id, { delta: 1 }))) === 'own', { everyMs: 1_500 });
  });

  it('leads from an enrollment to its member, first entry and passes', async () => {
    const { programId } = await merchant.enroll();
    const person = { programId, email: 'grace@example.com', firstName: 'Grace', phone: '+48600700800' };
    const answer = await merchant.call('/merchants/me/members', { body: { ...person, initialPoints: 7 } });
    expect(answer.status).toBe(201);
    const trace = await until(async () => {
      const read = await delivered(requestIdOf(answer));
      return read.deliveries.length === 3 && read;
    });
    expect(trace).toMatchObject({
      ...{ status: 201, memberId: answer.body.data.id, transaction: { type: 'initial', delta: 7 } },
      ...{ event: { type: 'member.created' } },
      body: { programId, email: 'g***', firstName: 'G***', phone: '+***', initialPoints: 7 },
    });
    const types = trace.deliveries.map(({ eventType }: { eventType: string }) => eventType);
    expect(types.sort()).toEqual(['member.created', 'pass.created', 'pass.created']);
  });

  it('shows a change without a key, and what a subscriber was asked to receive', async () => {
    const ada = await merchant.enroll();
    const answer = await merchant.call(`/merchants/me/members/${ada.id}`, {
      method: 'PATCH',
      body: { firstName: 'Eve' },
    });
    expect(await delivered(requestIdOf(answer))).toMatchObject({
      ...{ body: { firstName: 'E***' }, transaction: null, event: { type: 'member.updated' }, memberId: ada.id },
    });
    const test = await merchant.call(`/merchants/me/webhooks/${subscribed.subscriptionId}/test`, { method: 'POST' });
    expect((await delivered(requestIdOf(test))).event.id).toBe(test.body.data.eventId);
  });

  it('shows the attempts of a receiver that fails', async () => {
    const ada = await merchant.enroll();
    await until(() => subscribed.envelopes(ada.id).length === 3);
    subscribed.receiver.setResponder(status(500));
    const answer = await patchPoints(ada.id, { delta: 1 });
    const trace = await until(async () => {
      const read = await traceOf(requestIdOf(answer));
      return read.deliveries[0]?.state === 'exhausted' && read;
    });
    subscribed.receiver.setResponder(status(204));
    const statuses = trace.deliveries[0].history.map(({ statusCode }: { statusCode: number }) => statusCode);
    expect(statuses).toEqual([500, 500]);
  });

  it('shows a refusal with its code, and nothing that followed', async () => {
    const ada = await merchant.enroll();
    const refusals: [Answer, string][] = [
      [await merchant.call(`/merchants/me/members/${ada.id}/redeem`, { body: {} }), 'CARD_NOT_FULL'],
      [await patchPoints(ada.id, { dleta: 5, email: 'a@example.com' }), 'VALIDATION_FAILED'],
      [await patchPoints(newId(), { delta: 5 }), 'MEMBER_NOT_FOUND'],
      [
        await merchant.call('/auth/api-keys', { body: { name: 'Mine', roleIds: ['viewer'] } }),
        'CONSOLE_SESSION_REQUIRED',
      ],
      [await merchant.call('/merchants/me/members?q=ada@example.com&pagesize=3'), 'VALIDATION_FAILED'],
    ];
    for (const [answer, code] of refusals) {
      const trace = await traceOf(requestIdOf(answer));
      expect([trace.status, trace.errorCode]).toEqual([answer.status, code]);
      expect([trace.transaction, trace.event, trace.workflow, trace.deliveries]).toEqual([null, null, null, []]);
      expect(JSON.stringify(trace)).not.toContain('example.com');
    }
    expect((await traceOf(requestIdOf(refusals[1]?.[0] as Answer))).body).toEqual({ dleta: 5, email: 'a***' });
  });

  it('is found by the caller’s own id; of several with one id, the newest is shown', async () => {
    const ada = await merchant.enroll();
    const headers = { 'X-Request-Id': `order_${newToken(6)}` };
    const key = { 'Idempotency-Key': newToken() };
    await patchPoints(ada.id, { delta: 1 }, { headers: { ...headers, ...key } });
    const again = await patchPoints(ada.id, { delta: 1 }, { headers: { ...headers, ...key } });
    expect(requestIdOf(again)).toBe(headers['X-Request-Id']);
    expect(await traceOf(headers['X-Request-Id'])).toMatchObject({
      ...{ sameId: 2, isReplayed: true, transaction: again.body.data.transaction, event: { type: 'points.changed' } },
    });
    const uuid = newId().toUpperCase();
    await patchPoints(ada.id, { delta: 1 }, { headers: { 'X-Request-Id': uuid } });
    expect((await traceOf(uuid)).status).toBe(200);
  });

  it('is nobody else’s, also when both used the same id', async () => {
    const stranger = await aMerchant(service);
    const ada = await merchant.enroll();
    const headers = { 'X-Request-Id': `shared_${newToken(6)}` };
    await patchPoints(ada.id, { delta: 1 }, { headers });
    expect(outcome(await readOf(headers['X-Request-Id'], stranger))).toEqual([404, 'REQUEST_NOT_FOUND']);
    await stranger.call('/merchants/me/programs/none', { headers });
    expect(await traceOf(headers['X-Request-Id'], stranger)).toMatchObject({ status: 404, sameId: 1 });
    expect(await traceOf(headers['X-Request-Id'])).toMatchObject({ status: 200, sameId: 1 });
    const { items } = await list('', stranger);
    expect(items.map(({ path }: { path: string }) => path)).not.toContain(`/merchants/me/members/${ada.id}/points`);
    expect(items).toHaveLength(2);
  });

  it('needs the permission to see members', async () => {
    const { id: merchantId } = merchant;
    const apiKey = await addKey(service.deps, { merchantId, roleIds: ['till'] });
    for (const path of ['', '/some-request'])
      expect(
        outcome(await merchant.call(`/merchants/me/requests${path}`, { credential: { 'X-API-Key': apiKey } })),
      ).toEqual([403, 'PERMISSION_DENIED']);
  });
});

describe('the list', () => {
  it('has writes, refusals and reads of a key, newest first, but not those of the log and of a session', async () => {
    const other = await aMerchant(service);
    const ada = await other.enroll();
    const enrolled = await until(async () => (await list(`?memberId=${ada.id}`, other)).items[0]);
    const since = new Date(Date.parse(enrolled.createdAt) + 1).toISOString();
    await other.call(`/merchants/me/members/${ada.id}/tags`, { body: { tags: ['vip'] } });
    await other.call(`/merchants/me/members/${ada.id}`);
    const credential = { Authorization: `Bearer ${await other.token()}` };
    await other.call(`/merchants/me/members/${ada.id}`, { credential });
    await other.call('/merchants/me/programs/none', { credential });
    const { items, total } = await until(async () => {
      const read = await list(`?since=${since}`, other);
      return read.items.length >= 3 && read;
    });
    expect(items.map(({ method, path, status }: Record<string, unknown>) => [method, path, status])).toEqual([
      ['GET', '/merchants/me/programs/none', 404],
      ['GET', `/merchants/me/members/${ada.id}`, 200],
      ['POST', `/merchants/me/members/${ada.id}/tags`, 200],
    ]);
    expect(total).toBe(3);
    expect((await list(`?memberId=${ada.id}&pageSize=1`, other)).items).toHaveLength(1);
  });

  it('finds the requests of a ledger entry', async () => {
    const ada = await merchant.enroll();
    const given = { headers: { 'Idempotency-Key': newToken() } };
    const { body } = await patchPoints(ada.id, { delta: 1 }, given);
    await patchPoints(ada.id, { delta: 1 }, given);
    await patchPoints(ada.id, { delta: 1 });
    const query = `?memberId=${ada.id}&transactionId=${body.data.transaction.id}`;
    expect(await until(async () => (await list(query)).total === 2)).toBe(true);
  });

  it('keeps the newest requests of a merchant, whichever process wrote them', async () => {
    const kept = 150;
    const { id: merchantId } = await aMerchant(service);
    const processes = [createWriteRequests(service.deps, { kept }), createWriteRequests(service.deps, { kept })];
    const rowAt = (index: number) => ({
      ...{ merchantId, requestId: `request-${index}`, createdAt: new Date(1_700_000_000_000 + index), ms: 1 },
      ...{ method: 'POST', path: '/', actor: { type: 'api-key' as const, id: 'key' }, status: 200 },
    });
    for (let index = 0; index < 600; index += 50) {
      const rows = Array.from({ length: 50 }, (_, offset) => rowAt(index + offset));
      await processes[(index / 50) % 2]?.(rows);
    }
    const rows = await service.deps.collections.requests.find({ merchantId }).toArray();
    expect(rows.length).toBeLessThanOrEqual(kept + 2 * numbersAtOnce);
    const ids = new Set(rows.map(({ requestId }) => requestId));
    for (let index = 500; index < 600; index += 1) expect(ids).toContain(`request-${index}`);
  });
});

it('an erasure removes the requests about a member, and its export has them', async () => {
  const ada = await merchant.enroll({ email: 'gone@example.com' });
  const requestId = requestIdOf(await patchPoints(ada.id, { delta: 1 }));
  expect((await traceOf(requestId)).memberId).toBe(ada.id);
  const owner = { credential: { Authorization: `Bearer ${await merchant.token()}` } };
  const exported = await merchant.call(`/merchants/me/members/${ada.id}/export`, owner);
  expect(exported.text).toContain(requestId);
  await merchant.call(`/merchants/me/members/${ada.id}`, { method: 'DELETE', ...owner });
  await until(async () => (await readOf(requestId)).status === 404);
  await until(async () => (await service.deps.collections.requests.countDocuments({ memberId: ada.id })) === 0);
});
