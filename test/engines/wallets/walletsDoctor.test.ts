// The pass doctor reports what is wrong with a pass: with healthy wallets, with wrong credentials, and with phones that
// do not follow the protocol.
import { Writable } from 'node:stream';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createWallets } from '../../../activities/wallets/wallets.client.js';
import { catalogues, languages } from '../../../schemas/shared/languages/index.js';
import { passReport } from '../../../schemas/wallets/passReport.schema.js';
import { unzip } from '../../rig/checks/pkpass.js';
import { until } from '../../rig/checks/until.js';
import { makeAppleCertificates } from '../../rig/standins/appleCertificates.js';
import { type Customer, type Customers, startCustomers } from '../../rig/start/customers.js';
import { addKey, aMerchant, manyMembers } from '../../rig/start/merchant.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startService, type TestService } from '../../rig/start/service.js';

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

const examine = async ({ member }: Pick<Customer, 'member'>) => {
  const { status, body } = await real.merchant.call(`/merchants/me/members/${member._id}/pass`);
  expect(status).toBe(200);
  return passReport.parse(body.data);
};

describe('the pass doctor', () => {
  it('reports for a healthy pass what was pushed, listed and fetched, and how long it took', async () => {
    const ada = await customers.join();
    const phone = await customers.install(ada);
    await real.customer.save(ada.googleUrl ?? '');
    await customers.received(ada, 'pass.installed', 2);
    await customers.points(ada, { delta: 3 });
    await until(() => phone.history().at(-1)?.balance === 3);
    const report = await until(async () => {
      const found = await examine(ada);
      return found.apple.devices[0]?.lastFetch && found;
    });
    const { tag } = report.version;
    expect(report).toMatchObject({
      serialNumber: ada.member.serialNumber,
      apple: {
        mode: 'real',
        certificates: {
          passTypeId: real.certificates.passTypeId,
          teamId: real.certificates.teamId,
          wwdrGeneration: 'G4',
          daysToExpiry: 364,
          pushesBy: 'certificate',
          warnings: [],
        },
        build: { ok: true },
        devices: [
          {
            registeredAt: expect.any(String),
            lastPush: { at: expect.any(String), status: 200, version: tag },
            lastListAt: expect.any(String),
            lastFetch: { version: tag, isNewest: true },
            nextLookAt: null,
            stale: false,
          },
        ],
        logs: [],
      },
      google: {
        mode: 'real',
        objectId: `${real.google.issuerId}.member-${ada.member._id}`,
        saved: true,
        saveUrl: ada.googleUrl,
        lastPatch: { outcome: 'success' },
      },
    });
    const [chain] = [report.apple.certificates?.chain ?? []];
    expect(chain.map(({ subject }) => subject)).toEqual([
      expect.stringContaining(`UID=${real.certificates.passTypeId}`),
      expect.stringContaining('OU=G4'),
    ]);
    expect(chain[0]?.issuer).toBe(chain[1]?.subject);
    const latency = report.apple.devices[0]?.lastFetch?.latencyMs ?? -1;
    expect(latency).toBeGreaterThanOrEqual(0);
    expect(latency).toBeLessThan(30_000);
    // A phone has registered, so it reaches the service.
    expect(report.findings).toEqual([]);
    const secrets = [phone.pushToken(), phone.deviceLibraryIdentifier, ada.member.pass.authenticationToken];
    for (const secret of secrets) expect(JSON.stringify(report)).not.toContain(secret);
  });

  it('reports a pass that is not installed, refusals by APNs, and log lines of phones', async () => {
    const ada = await customers.join();
    expect((await examine(ada)).findings).toEqual([
      expect.stringContaining('https only'),
      expect.stringContaining('No phone is registered'),
    ]);
    const phone = await customers.install(ada);
    real.apns.answer(phone.pushToken(), { status: 400, reason: 'BadDeviceToken' });
    await customers.points(ada, { delta: 1 });
    const log = { logs: [`the pass ${ada.member.serialNumber} cannot be read`] };
    await real.merchant.call(`${real.service.publicUrl}/wallet/apple/v1/log`, { body: log });
    const report = await examine(ada);
    expect(report.apple.devices[0]?.lastPush).toMatchObject({ status: 400, reason: 'BadDeviceToken' });
    expect(report.apple.logs).toMatchObject([{ message: log.logs[0] }]);
    expect(report.findings).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Phone [0-9a-f]{8}: APNs answered 400 BadDeviceToken$/),
        expect.stringContaining('Phones complained'),
      ]),
    );
  });

  it('reports a program that pushes nothing, and a template that cannot be a pass', async () => {
    const quiet = await customers.join({ pushMessages: false });
    const report = await examine(quiet);
    expect(report.apple).toMatchObject({
      mode: 'stub',
      reason: "The program's push messages are off.",
      build: { ok: true },
    });
    const broken = await customers.join();
    await real.service.deps.collections.programs.updateOne(
      { _id: broken.program._id },
      { $set: { 'passTemplate.images.logo': Buffer.from('no picture').toString('base64') } },
    );
    const refused = await until(async () => {
      const found = await examine(broken);
      return found.apple.build?.ok === false && found;
    });
    expect(refused.apple.build?.error).toContain('passTemplate.images.logo');
    expect(refused.findings).toContainEqual(expect.stringContaining('cannot be built'));
    const { passUpdate } = await customers.points(broken, { delta: 1 });
    expect(passUpdate).toBeDefined();
  });

  it("needs the permission to read members, and answers 404 for another merchant's", async () => {
    const ada = await customers.join();
    const path = `/merchants/me/members/${ada.member._id}/pass`;
    const viewer = await addKey(real.service.deps, { merchantId: real.merchant.id, roleIds: ['viewer'] });
    const stranger = await aMerchant(real.service);
    expect((await real.merchant.call(path, { credential: { 'X-API-Key': viewer } })).status).toBe(200);
    expect((await real.merchant.call(path, { credential: null })).status).toBe(401);
    expect((await stranger.call(path)).body.error.code).toBe('MEMBER_NOT_FOUND');
    expect((await real.merchant.call('/merchants/me/members/nobody/pass')).status).toBe(404);
  });
});

describe('credentials that expire while the service runs', () => {
  it('switch to stub mode from that moment on', async () => {
    const { config } = real.service.deps;
    let now = new Date();
    const wallets = await createWallets({ config, log: pino({ level: 'silent' }), now: () => now });
    const before = wallets.modes.apple;
    now = new Date(Date.now() + 366 * 86_400_000);
    expect([before, wallets.modes.apple, wallets.modes.google]).toEqual(['real', 'stub', 'real']);
    await wallets.close();
  });
});

it('passes of programs that differ in their language alone have the labels of each', async () => {
  const { config } = real.service.deps;
  const wallets = await createWallets({ config, log: pino({ level: 'silent' }) });
  const program = await real.merchant.program();
  const [member] = await manyMembers(real.service.deps, { program, count: 1 });
  if (!member) throw new Error('There is no member.');
  for (const language of languages) {
    const pass = (await wallets.apple?.build(member, { ...program, language })) ?? Buffer.alloc(0);
    const content = unzip(pass).get('pass.json')?.toString();
    expect([language, content]).toEqual([language, expect.stringContaining(catalogues[language].pass.memberId)]);
  }
  await wallets.close();
});

describe('credentials that do not fit', () => {
  let service: TestService;
  afterAll(() => service.stop());

  it('cause stub mode, with the reason in /readyz, in the log and in the report, and everything else works', async () => {
    const other = await makeAppleCertificates();
    const mistaken = {
      ...real.certificates.settings,
      APPLE_SIGNER_KEY: other.signerKey,
      GOOGLE_WALLET_ISSUER_ID: '3388000000012345678',
      GOOGLE_WALLET_CREDENTIALS: '{"client_email":',
    };
    const env = Object.fromEntries(Object.entries(mistaken).map(([name, value]) => [name, value ?? '']));
    service = await startService({ env });
    const wallets = {
      apple: { mode: 'stub', reason: 'APPLE_SIGNER_KEY is not the key of APPLE_SIGNER_CERT.' },
      google: { mode: 'stub', reason: 'GOOGLE_WALLET_CREDENTIALS is not JSON.' },
    };
    const ready = await fetch(`${service.publicUrl}/readyz`);
    expect([ready.status, await ready.json()]).toEqual([200, expect.objectContaining({ wallets })]);

    const lines: string[] = [];
    const stream = new Writable({
      write(chunk, _, done) {
        lines.push(String(chunk));
        done();
      },
    });
    const log = pino({ level: 'info' }, stream);
    await (await createWallets({ config: service.deps.config, log })).close();
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, apple: wallets.apple.reason, google: wallets.google.reason },
    ]);

    const merchant = await aMerchant(service);
    const member = await merchant.enroll();
    const { body } = await merchant.call(`/merchants/me/members/${member.id}/points`, {
      method: 'PATCH',
      body: { delta: 1 },
    });
    expect(body.data.passUpdate).toMatchObject({ rebuilt: false, apple: { mode: 'stub' }, google: { mode: 'stub' } });
    const report = await merchant.call(`/merchants/me/members/${member.id}/pass`);
    expect(report.body.data).toMatchObject({
      apple: { ...wallets.apple, certificates: null, build: null },
      google: { ...wallets.google, objectId: null },
    });
    const row = await service.deps.collections.members.findOne({ _id: member.id });
    const card = `${service.publicUrl}/passes/${row?.pass.token}`;
    expect((await fetch(`${card}.pkpass`)).status).toBe(404);
    const shown = await (await fetch(card)).text();
    expect(shown).toContain(`Code of Member ID ${row?.memberCode}`);
    expect(shown).not.toContain('Add to a');
  });
});
