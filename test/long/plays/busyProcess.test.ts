// All kinds of writes and reads at the same time on the real engines: no request fails, and every collection takes
// writes afterwards. With a statement that changed many rows outside of a transaction the embedded engine stopped
// taking writes after some seconds of this load.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { unwritableCollections } from '../../../platform/mongodb/probeWrites.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { runMixedLoad } from '../../rig/start/mixedLoad.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';

let real: RealWallets;
let receiver: Receiver;

beforeAll(async () => {
  receiver = await startReceiver();
  // With few workflows for single changes the relay publishes most events.
  real = await startRealWallets({ env: { CHANGE_WORKFLOWS_PER_SECOND: '5', REPLAY_PER_SECOND: '500' } });
});
afterAll(async () => {
  await real.stop();
  await receiver.stop();
});

it('the service accepts changes, imports, replays, registrations and feed readers at the same time', async () => {
  const { service, merchant, certificates } = real;
  const { collections, mongo, config } = service.deps;
  const programs = [await merchant.program(), await merchant.program({ pushMessages: false })];
  const { body } = await merchant.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['*'] } });
  const result = await runMixedLoad(
    {
      ...service,
      apiKey: merchant.apiKey,
      programs: programs.map(({ _id, slug }) => ({ id: _id, slug })),
      subscriptionId: body.data.id,
      passTypeId: certificates.passTypeId,
      async passOf(memberId) {
        const member = await collections.members.findOne({ _id: memberId });
        if (!member) throw new Error('There is no such member.');
        return { serialNumber: member.serialNumber, authenticationToken: member.pass.authenticationToken };
      },
    },
    { callers: 12, ms: 12_000 },
  );
  expect(result.failures).toEqual([]);
  expect(Object.keys(result.answers).length).toBeGreaterThan(25);
  expect(await unwritableCollections(mongo.db(config.MONGODB_DATABASE), 5_000)).toEqual([]);
  await until(async () => (await collections.events.findOne({ merchantId: merchant.id, state: 'new' })) === null);
}, 180_000);
