// What phones did since a request (docs/interface.md#412-requests).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { type Customers, startCustomers } from '../../rig/start/customers.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';

let real: RealWallets;
let customers: Customers;

beforeAll(async () => {
  real = await startRealWallets();
  customers = await startCustomers(real);
});
afterAll(async () => {
  await real.stop();
  await customers.stop();
});

it('a request shows when each phone with the pass was told, asked for news and fetched', async () => {
  const customer = await customers.join();
  const phone = await customers.install(customer);
  const points = `/merchants/me/members/${customer.member._id}/points`;
  phone.goOffline();
  const answer = await real.merchant.call(points, { method: 'PATCH', body: { delta: 3 } });
  const trace = async () => {
    const requestId = answer.headers.get('x-request-id');
    return (await real.merchant.call(`/merchants/me/requests/${requestId}`)).body.data;
  };
  const told = await trace();
  expect(told.event.passUpdate).toEqual(answer.body.data.passUpdate);
  expect(told.devices).toMatchObject([{ pushStatus: 200, listedAt: null, fetchedAt: null }]);
  await phone.goOnline();
  const { devices, deliveries } = await until(async () => {
    const read = await trace();
    const types = new Set(read.deliveries.map(({ eventType }: { eventType: string }) => eventType));
    return read.devices[0]?.fetchedAt !== null && types.has('pass.updated') && types.has('points.changed') && read;
  });
  const { pushedAt, listedAt, fetchedAt } = devices[0];
  expect(pushedAt <= listedAt && listedAt <= fetchedAt).toBe(true);
  expect(deliveries.length).toBeGreaterThanOrEqual(2);
});
