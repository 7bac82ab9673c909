// Programs over the API as every caller reads them (docs/interface.md, sections 2.1 and 4.2): raw records, only the
// merchant's own. An API key cannot write them.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { programSchemaText } from '../../../schemas/programs/programFile.schema.js';
import { addKey, aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
});

afterAll(async () => {
  await service.stop();
});

describe('programs', () => {
  it('are listed as records with _id, including archived ones, for this merchant only', async () => {
    const stranger = await aMerchant(service);
    const tiers = [
      { name: 'Bronze', threshold: 0 },
      { name: 'Gold', threshold: 100 },
    ];
    const [points, tiered] = [
      await merchant.program(),
      await merchant.program({ style: 'tiered', tiers, basis: 'lifetime', archived: true, goal: undefined }),
    ];
    await stranger.program();
    const { status, body } = await merchant.call('/merchants/me/programs');
    expect(status).toBe(200);
    expect(body.data).toHaveLength(2);
    expect(body.data).toEqual(
      expect.arrayContaining([
        {
          _id: points._id,
          slug: points.slug,
          name: 'Test program',
          style: 'points',
          fields: { primaryLabel: 'POINTS' },
          goal: 100,
          pushMessages: true,
          archived: false,
          version: 1,
        },
        {
          _id: tiered._id,
          slug: tiered.slug,
          name: 'Test program',
          style: 'tiered',
          fields: { primaryLabel: 'POINTS' },
          tiers,
          basis: 'lifetime',
          pushMessages: true,
          archived: true,
          version: 1,
        },
      ]),
    );
  });

  it('are read one by one as the same records', async () => {
    const program = await merchant.program();
    const one = await merchant.call(`/merchants/me/programs/${program._id}`);
    const all = await merchant.call('/merchants/me/programs');
    expect(one.status).toBe(200);
    expect(all.body.data).toContainEqual(one.body.data);
  });

  it('that do not exist or are of another merchant get the same 404', async () => {
    const theirs = await (await aMerchant(service)).program();
    const answers = await Promise.all(
      [theirs._id, 'no-such-program', '%00', 'x'.repeat(500), '$ne'].map((id) =>
        merchant.call(`/merchants/me/programs/${id}`),
      ),
    );
    for (const answer of answers) {
      expect([answer.status, answer.body]).toEqual([404, answers[0]?.body]);
      expect(answer.body.error.code).toBe('PROGRAM_NOT_FOUND');
    }
  });

  it('cannot be replaced or deleted: other methods are 405 and name the allowed ones', async () => {
    for (const [path, allowed] of [
      ['/merchants/me/programs', 'GET, HEAD, POST'],
      ['/merchants/me/programs/x', 'GET, HEAD, PATCH'],
    ] as const) {
      for (const method of ['PUT', 'DELETE']) {
        const { status, body, headers } = await merchant.call(path, { method });
        expect([status, body.error.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
        expect(headers.get('Allow')).toBe(allowed);
      }
    }
  });

  it('cannot be written by an API key, whatever its roles', async () => {
    const { _id } = await merchant.program();
    const credential = { 'X-API-Key': await addKey(service.deps, { merchantId: merchant.id, roleIds: ['owner'] }) };
    for (const [method, path] of [
      ['POST', ''],
      ['PATCH', `/${_id}`],
      ['POST', `/${_id}/publish`],
      ['POST', `/${_id}/archive`],
    ] as const) {
      const { status, body } = await merchant.call(`/merchants/me/programs${path}`, { method, body: {}, credential });
      expect([status, body.error.code]).toEqual([403, 'CONSOLE_SESSION_REQUIRED']);
    }
  });

  it('have a JSON Schema of their file, which needs no credential', async () => {
    const { status, headers, text } = await merchant.call('/program.schema.json', { credential: null });
    expect(status).toBe(200);
    expect(headers.get('content-type')).toMatch(/^application\/schema\+json/);
    expect(text).toBe(programSchemaText());
  });
});
