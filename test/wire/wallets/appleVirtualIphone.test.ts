// Tests of the virtual iPhone, because other tests rely on it: against a small web service that follows Apple's
// documentation, and against common mistakes of web services.
import { pino } from 'pino';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Apns, createApns } from '../../../activities/wallets/apple/apns.client.js';
import {
  loadAppleCredentials,
  type RealAppleCredentials,
} from '../../../activities/wallets/apple/credentials.rules.js';
import {
  buildPass,
  type CompiledTemplate,
  compileTemplate,
} from '../../../activities/wallets/apple/passPackage.view.js';
import type { ApplePassView } from '../../../schemas/wallets/apple/pass.view.js';
import { type ApnsServer, startApnsServer } from '../../rig/standins/apnsServer.js';
import { type AppleCertificates, makeAppleCertificates } from '../../rig/standins/appleCertificates.js';
import {
  createVirtualIphone,
  type VirtualIphone,
  type VirtualIphoneOptions,
} from '../../rig/standins/virtualIphone.js';
import { startTinyWalletService, type TinyWalletService } from '../../rig/start/tinyWalletService.js';

let certificates: AppleCertificates;
let credentials: RealAppleCredentials;
let compiled: CompiledTemplate;
let server: ApnsServer;
let apns: Apns;
let wallet: TinyWalletService;
const closing: (() => Promise<void> | void)[] = [];

beforeAll(async () => {
  certificates = await makeAppleCertificates();
  const loaded = loadAppleCredentials(certificates.settings, new Date(Date.now() + 1000));
  if (loaded.mode === 'stub') throw new Error(loaded.reason);
  credentials = loaded;
  compiled = compileTemplate(credentials, { name: 'Demo', style: 'points', goal: 100 });
});

beforeEach(async () => {
  server = await startApnsServer(certificates);
  apns = createApns({ origin: server.origin, ca: server.ca, credentials, log: pino({ level: 'silent' }) });
  wallet = await startTinyWalletService((view) => buildPass(credentials, compiled, view));
  closing.push(server.close, apns.close, wallet.close);
});

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

function phoneWith(options: Partial<VirtualIphoneOptions> = {}): VirtualIphone {
  const phone = createVirtualIphone({
    apns: server,
    wwdrCert: certificates.wwdrCert,
    retryWaitsMs: [10, 20],
    ...options,
  });
  closing.push(phone.close);
  return phone;
}

/** A change as the service makes it: a new version, then a push to each registered device. */
async function change(serialNumber: string, next: Partial<ApplePassView>): Promise<void> {
  wallet.change(serialNumber, next);
  await apns.push(wallet.pushTokens(serialNumber));
}

async function installed(phone: VirtualIphone): Promise<string> {
  const serialNumber = wallet.issue();
  await phone.install(`${wallet.origin}/${serialNumber}.pkpass`);
  return serialNumber;
}

describe('a virtual iPhone', () => {
  it('installs a pass that verifies, and registers it', async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    expect(phone.history()).toMatchObject([{ balance: 0, label: 'POINTS', voided: false }]);
    expect(phone.history()[0]).not.toHaveProperty('lockScreen');
    expect(wallet.pushTokens(serialNumber)).toEqual([phone.pushToken()]);
  });

  it('refuses a pass of another authority and registers nothing', async () => {
    const { wwdrCert } = await makeAppleCertificates();
    const serialNumber = wallet.issue();
    await expect(phoneWith({ wwdrCert }).install(wallet.pass(serialNumber))).rejects.toThrow(
      /signature does not verify/,
    );
    expect(wallet.pushTokens(serialNumber)).toEqual([]);
  });

  it('shows ten changes, each with its message and balance, though two come within a second', async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    for (let turn = 1; turn <= 10; turn += 1) {
      await change(serialNumber, { balance: turn, changeMessage: 'Thank you', messageSequence: turn });
      await phone.settled();
    }
    const expected = Array.from({ length: 10 }, (_, index) => ({ balance: index + 1, lockScreen: 'Thank you' }));
    expect(phone.history().slice(1)).toMatchObject(expected);
  });

  it('shows nothing on its lock screen when a change brings no message', async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    await change(serialNumber, { balance: 3, changeMessage: 'Hello', messageSequence: 1 });
    await phone.settled();
    await change(serialNumber, { balance: 4 });
    await phone.settled();
    expect(phone.history().map(({ balance, lockScreen }) => [balance, lockScreen])).toEqual([
      [0, undefined],
      [3, 'Hello'],
      [4, undefined],
    ]);
    expect(phone.history().at(-1)?.message).toBe('Hello');
  });

  it('fetches only the changed ones of its passes, and lists with the tag it was given', async () => {
    const phone = phoneWith();
    const [first, second] = [await installed(phone), await installed(phone)];
    await change(first, { balance: 1 });
    await phone.settled();
    await change(second, { balance: 2 });
    await phone.settled();
    const asked = phone.requests.filter(({ method }) => method === 'GET').map(({ url }) => new URL(url));
    const fetched = asked
      .filter(({ pathname }) => pathname.includes('/v1/passes/'))
      .map(({ pathname }) => pathname.split('/').at(-1));
    expect(fetched).toEqual([first, second]);
    const tags = asked
      .filter(({ pathname }) => pathname.includes('/v1/devices/'))
      .map(({ searchParams }) => searchParams.get('passesUpdatedSince'));
    expect(tags).toEqual([null, '1']);
  });

  it('sends Last-Modified back and keeps its version on 304', async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    await change(serialNumber, { balance: 5 });
    await phone.settled();
    wallet.forgetTags();
    await phone.refresh();
    expect(phone.requests.at(-1)).toMatchObject({ status: 304 });
    expect(phone.history()).toHaveLength(2);
  });

  it('receives pushes to its newest token only', async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    const old = phone.pushToken();
    await phone.rotatePushToken();
    expect(wallet.pushTokens(serialNumber)).toEqual([phone.pushToken()]);
    wallet.change(serialNumber, { balance: 1 });
    await apns.push([old]);
    await phone.settled();
    expect(phone.history()).toHaveLength(1);
    await apns.push([phone.pushToken()]);
    await phone.settled();
    expect(phone.history()).toHaveLength(2);
  });

  it('shows the newest version after it was offline, without the versions between', async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    phone.goOffline();
    await change(serialNumber, { balance: 1 });
    await change(serialNumber, { balance: 2 });
    await phone.settled();
    expect(phone.history()).toHaveLength(1);
    await phone.goOnline();
    expect(phone.history().map(({ balance }) => balance)).toEqual([0, 2]);
  });

  it('unregisters a pass that is deleted', async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    await phone.remove();
    expect(wallet.pushTokens(serialNumber)).toEqual([]);
    expect(phone.serialNumbers()).toEqual([]);
  });

  it("repeats requests after a failure, and posts to the service's log when the failure lasts", async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    wallet.failNext(2);
    await change(serialNumber, { balance: 1 });
    await phone.settled();
    expect(phone.history().at(-1)?.balance).toBe(1);
    wallet.failNext(3);
    await change(serialNumber, { balance: 2 });
    await phone.settled();
    expect(phone.history().at(-1)?.balance).toBe(1);
    expect(wallet.logs).toEqual([expect.stringContaining('listing failed: 500')]);
  });

  it('keeps its version and posts to the log when the next one is not signed or not its own', async () => {
    const phone = phoneWith();
    const serialNumber = await installed(phone);
    await change(serialNumber, { balance: 1, authenticationToken: 'another-authentication-token' });
    await phone.settled();
    expect(phone.history()).toHaveLength(1);
    expect(wallet.logs).toEqual([expect.stringContaining('authentication token changed')]);
  });
});
