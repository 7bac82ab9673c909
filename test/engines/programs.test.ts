// Programs over the API (docs/interface.md, sections 2.1 and 4.2): read-only, as raw records, only the merchant's own.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aMerchant, type TestMerchant } from '../rig/merchant.js';
import { startService, type TestService } from '../rig/service.js';

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

  it('cannot be written: other methods are 405 and name the allowed ones', async () => {
    for (const path of ['/merchants/me/programs', '/merchants/me/programs/x']) {
      for (const method of ['POST', 'PATCH', 'PUT', 'DELETE']) {
        const { status, body, headers } = await merchant.call(path, { method });
        expect([status, body.error.code]).toEqual([405, 'METHOD_NOT_ALLOWED']);
        expect(headers.get('Allow')).toBe('GET, HEAD');
      }
    }
  });
});
