// Data from before slugs had their own collection: the migration moves the slugs once.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { migrate } from '../../../worker/migrate.js';
import { aDesigner } from '../../rig/start/designer.js';
import { aMerchant, outcome } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

it('programs keep their pages and their slugs, and a released slug can be taken', async () => {
  const { programs, slugs } = service.deps.collections;
  const merchant = await aMerchant(service);
  await programs.createIndex({ slug: 1 }, { unique: true, name: 'slug_1' });
  const [first, second] = [await merchant.program({ name: 'First' }), await merchant.program({ name: 'Second' })];
  for (const { slug } of [first, second]) await slugs.deleteOne({ _id: slug });

  for (let round = 0; round < 2; round += 1) {
    await migrate(service.deps);
    expect(await slugs.find({ merchantId: merchant.id }).sort({ programId: 1 }).toArray()).toEqual(
      [first, second]
        .map(({ _id, slug }) => ({ _id: slug, merchantId: merchant.id, programId: _id }))
        .toSorted((a, b) => (a.programId < b.programId ? -1 : 1)),
    );
    expect((await programs.indexes()).map(({ name }) => name)).not.toContain('slug_1');
  }
  const page = async () => (await fetch(`${service.publicUrl}/enroll/${first.slug}`)).text();
  expect(await page()).toContain('Join First');
  const designer = await aDesigner(merchant);
  expect(outcome(await designer.edit(second._id, { slug: first.slug }))).toEqual([409, 'SLUG_TAKEN']);
  await designer.edit(first._id, { slug: `${first.slug}-2` });
  await designer.publish(first._id);
  await designer.edit(second._id, { slug: first.slug });
  expect(outcome(await designer.publish(second._id))).toEqual([200, 'ok']);
  expect(await page()).toContain('Join Second');
});
