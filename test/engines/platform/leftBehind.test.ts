// What a service of a test leaves in the process, which all files of a fork share.
import { AsyncResource } from 'node:async_hooks';
import { expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { startService } from '../../rig/start/service.js';

/** The storages of contexts that are in use: before Node 24, each new resource and promise is given one field for each. */
const storages = (): number => Object.getOwnPropertySymbols(new AsyncResource('probe')).length;

async function startAndStop(): Promise<number> {
  const service = await startService();
  const merchant = await aMerchant(service);
  await merchant.enroll();
  const { events } = service.deps.collections;
  await until(async () => (await events.countDocuments({ merchantId: merchant.id, state: { $ne: 'new' } })) > 0);
  await service.stop();
  return storages();
}

it('a stopped service leaves nothing that later promises carry on', async () => {
  const before = await startAndStop();
  expect(await startAndStop()).toBe(before);
});
