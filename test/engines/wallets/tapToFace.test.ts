// How long a change takes to its face in a wallet, as the metric for operators counts it.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import { until } from '../../rig/checks/until.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
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

interface Counted {
  faces: number;
  seconds: number;
}

async function counted(wallet: 'apple' | 'google'): Promise<Counted> {
  const name = 'lps_wallet_face_seconds';
  const text = await real.service.deps.metrics.registry.getSingleMetricAsString(name);
  const figure = (of: string) =>
    Number(new RegExp(`^${name}_${of}{wallet="${wallet}"} (.*)$`, 'm').exec(text)?.[1] ?? 0);
  return { faces: figure('count'), seconds: figure('sum') };
}

/** What was counted since `before`, once it is anything. */
const countedSince = (before: Counted, wallet: 'apple' | 'google'): Promise<Counted> =>
  until(async () => {
    const { faces, seconds } = await counted(wallet);
    return faces > before.faces && { faces: faces - before.faces, seconds: seconds - before.seconds };
  });

async function saved(customer: Customer): Promise<void> {
  const { objectId } = await real.customer.save(customer.googleUrl ?? '');
  expect(objectId).toBe(makeGoogleObjectId(real.google.issuerId, customer.member._id));
  // Google is told of the state at the save, too.
  await until(() => Number(real.google.rules.objects.get(objectId)?.version) > 1);
}

it('counts a change once for each wallet, from its commit until the wallet has the face', async () => {
  const ada = await customers.join();
  const phone = await customers.install(ada);
  await saved(ada);
  const before = { apple: await counted('apple'), google: await counted('google') };
  const startedAt = Date.now();
  await customers.points(ada, { delta: 5 });
  await until(() => phone.history().at(-1)?.balance === 5);
  for (const wallet of ['apple', 'google'] as const) {
    const { faces, seconds } = await countedSince(before[wallet], wallet);
    expect(faces).toBe(1);
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThan((Date.now() - startedAt) / 1_000);
  }
});

it('counts no version that the phone added or has', async () => {
  const ada = await customers.join();
  const phone = real.phone();
  await phone.install(Buffer.from(await (await fetch(ada.appleUrl ?? '')).arrayBuffer()));
  const before = await counted('apple');
  await phone.refresh();
  const fetches = () => phone.requests.filter(({ url }) => url.includes('/v1/passes/')).map(({ status }) => status);
  expect(fetches()).toEqual([200]);
  await customers.points(ada, { delta: 1 });
  await until(() => phone.history().at(-1)?.balance === 1);
  const { json } = phone.history().at(-1) ?? { json: undefined };
  const again = await fetch(`${json?.webServiceURL}/v1/passes/${json?.passTypeIdentifier}/${json?.serialNumber}`, {
    headers: { authorization: `ApplePass ${json?.authenticationToken}` },
  });
  expect(again.status).toBe(200);
  await again.arrayBuffer();
  expect((await countedSince(before, 'apple')).faces).toBe(1);
});

it('counts the whole time when a phone or Google is told late', async () => {
  const ada = await customers.join();
  const phone = await customers.install(ada);
  await saved(ada);
  const before = { apple: await counted('apple'), google: await counted('google') };
  const pushed = () => real.apns.pushes.filter(({ pushToken }) => pushToken === phone.pushToken()).length;
  const pushedBefore = pushed();
  phone.goOffline();
  real.google.fail({ on: 'objectUpdate', how: { status: 503 }, times: 1_000 });
  await customers.points(ada, { delta: 5 }, { waitMs: 1_000 });
  const changed = await real.service.deps.collections.members.findOne({ _id: ada.member._id });
  await until(() => pushed() > pushedBefore);
  const mendedAt = Date.now();
  real.google.mend();
  await phone.goOnline();
  await until(() => phone.history().at(-1)?.balance === 5);
  for (const wallet of ['apple', 'google'] as const) {
    const { faces, seconds } = await countedSince(before[wallet], wallet);
    expect(faces).toBe(1);
    expect(seconds * 1_000).toBeGreaterThanOrEqual(mendedAt - Number(changed?.updatedAt));
  }
});
