// The endpoint table: every endpoint of docs/interface.md#4-endpoints is in it, once, with consistent entries.
import { describe, expect, expectTypeOf, it } from 'vitest';
import type { z } from 'zod';
import { type BodyOf, type Endpoint, paging } from '../../../schemas/access/endpoint.schema.js';
import { errorTable } from '../../../schemas/shared/errors.js';
import { type Endpoints, endpoints } from '../../../schemas/tables/endpoints.js';

const table: [string, Endpoint][] = Object.entries(endpoints);

/** Method, path, permission, as in docs/interface.md#4-endpoints. */
const promised = [
  'post /auth/api-keys api-keys:create',
  'get /auth/api-keys api-keys:view',
  'delete /auth/api-keys/:id api-keys:delete',
  'get /merchants/me/programs merchants.programs:view',
  'get /merchants/me/programs/:id merchants.programs:view',
  'post /merchants/me/members merchants.members:create',
  'get /merchants/me/members merchants.members:view',
  'get /merchants/me/members/tags merchants.members:view',
  'post /merchants/me/members/import merchants.members:create',
  'get /merchants/me/members/:id merchants.members:view',
  'post /merchants/me/members/:id/tags merchants.members:edit',
  'delete /merchants/me/members/:id/tags merchants.members:edit',
  'patch /merchants/me/members/:id/points merchants.members:edit',
  'post /merchants/me/members/:id/redeem merchants.members:edit',
  'patch /merchants/me/members/:id/status merchants.members:edit',
  'post /merchants/me/members/:id/push merchants.members:edit',
  'get /merchants/me/members/:id/events merchants.members:view',
  'get /merchants/me/members/:id/events.csv merchants.members:view',
  'get /merchants/me/members/:id/transactions merchants.members:view',
  'get /merchants/me/webhooks merchants.campaigns:view',
  'post /merchants/me/webhooks merchants.campaigns:create',
  'get /merchants/me/webhooks/delivery-logs merchants.campaigns:view',
  'post /merchants/me/webhooks/delivery-logs/:logId/replay merchants.campaigns:edit',
  'get /merchants/me/webhooks/:id merchants.campaigns:view',
  'patch /merchants/me/webhooks/:id merchants.campaigns:edit',
  'delete /merchants/me/webhooks/:id merchants.campaigns:delete',
  'post /merchants/me/webhooks/:id/rotate-secret merchants.campaigns:edit',
  'post /merchants/me/webhooks/:id/test merchants.campaigns:edit',
];

describe('the table of endpoints', () => {
  it('has every endpoint of the interface, with its permission', () => {
    const lines = table.map(([, { method, path, access }]) => `${method} ${path} ${access}`);
    expect(lines).toEqual(expect.arrayContaining(promised));
  });

  it('has no method and path twice', () => {
    const lines = table.map(([, { method, path }]) => `${method} ${path.replace(/:\w+/g, ':')}`);
    expect(new Set(lines).size).toBe(lines.length);
  });

  it.each(table)('%s has a status and only known error codes', (_name, { statuses, errors }) => {
    expect(statuses.length).toBeGreaterThan(0);
    for (const code of errors) expect(errorTable).toHaveProperty(code);
  });

  it.each(table.filter(([, { example, body }]) => example !== undefined && body))(
    '%s has an example that its own body accepts',
    (_name, endpoint) => {
      expect(endpoint.body?.safeParse(endpoint.example).success).toBe(true);
    },
  );

  it.each(table.filter(([, { body }]) => body))(
    '%s refuses a body of another type, and an unknown field',
    (_name, { body }) => {
      for (const other of ['text', 7, null, true, ['x']]) expect(body?.safeParse(other).success).toBe(false);
      expect(body?.safeParse({ noSuchField: 1 }).success).toBe(false);
    },
  );

  it.each(table.filter(([, { query }]) => query))('%s refuses an unknown query parameter', (_name, { query }) => {
    expect(query?.safeParse({ $where: '1' }).success).toBe(false);
    expect(query?.safeParse({}).success).toBe(true);
  });

  it('types the input of a route', () => {
    expectTypeOf<BodyOf<Endpoints['changeStatus']>['status']>().toEqualTypeOf<'active' | 'voided' | 'expired'>();
    expectTypeOf<BodyOf<Endpoints['getMember']>>().toEqualTypeOf<undefined>();
  });
});

describe('paging', () => {
  const read = (query: unknown) => paging.safeParse(query);

  it('starts at page 1 with 25 items a page', () => {
    expect(paging.parse({})).toEqual({ page: 1, pageSize: 25 });
    expect(paging.parse({ page: '3', pageSize: '100' })).toEqual({ page: 3, pageSize: 100 });
    expectTypeOf<z.output<typeof paging>>().toEqualTypeOf<{ page: number; pageSize: number }>();
  });

  it.each([
    '0',
    '-1',
    '1.5',
    'one',
    '',
    ' 1',
    '1e2',
    '0x1',
    '1'.repeat(30),
    'NaN',
    'Infinity',
    ['1', '2'],
    { $gt: '' },
  ])('refuses page %j', (page) => {
    expect(read({ page }).success).toBe(false);
  });

  it.each(['0', '101', '-5', 'all'])('refuses a page size of %j', (pageSize) => {
    expect(read({ pageSize }).success).toBe(false);
  });
});
