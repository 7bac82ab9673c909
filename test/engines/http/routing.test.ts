// Routing: unknown paths, and a literal path next to one with a parameter.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
});
afterAll(() => service.stop());

describe('a path', () => {
  it.each([
    ['PATCH', '/merchants/me/members/tags', 'GET, HEAD'],
    ['DELETE', '/merchants/me/webhooks/delivery-logs', 'GET, HEAD'],
    ['PUT', '/merchants/me/members', 'GET, HEAD, POST'],
    ['GET', '/merchants/me/members/1/points', 'PATCH'],
  ])('that is known refuses %s %s and names the allowed methods', async (method, path, allow) => {
    const { status, headers, body } = await merchant.call(path, { method });
    expect([status, body.error.code, headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', allow]);
    expect(headers.get('ratelimit-limit')).toBe('1000000');
  });

  it.each(['/merchants', '/merchants/me/members/', '/merchants/me/members/a/b', '/Merchants/me/members', '/%E0%A4%A'])(
    'that is unknown is 404: %s',
    async (path) => {
      const { status, body } = await merchant.call(path);
      expect([status, body.error.code]).toEqual([404, 'ROUTE_NOT_FOUND']);
    },
  );

  it('with a malformed id is a 404 of the resource', async () => {
    for (const id of ['tag', '%E0%A4%A', '%00', '..%2F..', 'x'.repeat(2_000)]) {
      const { status, body } = await merchant.call(`/merchants/me/members/${id}`);
      expect([id, status, body.error.code]).toEqual([id, 404, 'MEMBER_NOT_FOUND']);
    }
  });
});
