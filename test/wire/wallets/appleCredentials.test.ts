// Real mode requires that all credentials fit each other. Otherwise the mode is stub with a reason, never an exception.
import { randomUUID, X509Certificate } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  loadAppleCredentials,
  type RealAppleCredentials,
} from '../../../activities/wallets/apple/credentials.rules.js';
import type { AppleSettings } from '../../../activities/wallets/apple/pemSettings.rules.js';
import { type AppleCertificates, makeAppleCertificates } from '../../rig/standins/appleCertificates.js';

/** A minute ahead, so that certificates made during the test are valid at that time. */
const NOW = new Date(Date.now() + 60_000);
const DAY_MS = 24 * 60 * 60 * 1000;

let ours: AppleCertificates;
let others: AppleCertificates;
let folder: string;

beforeAll(async () => {
  [ours, others] = await Promise.all([makeAppleCertificates(), makeAppleCertificates({ wwdrGeneration: 'G3' })]);
  folder = await mkdtemp(join(tmpdir(), 'apple-settings-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const load = (change: AppleSettings, now = NOW) => loadAppleCredentials({ ...ours.settings, ...change }, now);

function real(change: AppleSettings, now = NOW): RealAppleCredentials {
  const credentials = load(change, now);
  if (credentials.mode === 'stub') throw new Error(credentials.reason);
  return credentials;
}

describe('Apple credentials that fit each other', () => {
  it('are real, without a warning, and push to Apple', () => {
    expect(real({})).toMatchObject({
      passTypeId: ours.passTypeId,
      teamId: ours.teamId,
      wwdrGeneration: 'G4',
      warnings: [],
      apnsOrigin: 'https://api.push.apple.com',
      expiresAt: new Date(new X509Certificate(ours.signerCert).validTo),
    });
    expect(real({})).not.toHaveProperty('apnsKey');
  });

  it('may be files, in PEM or DER, with an encrypted key', async () => {
    const file = async (name: string, bytes: string | Buffer) => {
      await writeFile(join(folder, name), bytes);
      return join(folder, name);
    };
    const settings = {
      APPLE_SIGNER_CERT: await file('signer.cer', new X509Certificate(ours.signerCert).raw),
      APPLE_WWDR_CERT: await file('wwdr.pem', ours.wwdrCert),
      APPLE_SIGNER_KEY: await file('signer.key', ours.encryptedSignerKey),
      APPLE_SIGNER_KEY_PASSPHRASE: ours.passphrase,
    };
    expect(load(settings).mode).toBe('real');
  });

  it('may be on one line, as environment files write them', () => {
    const onOneLine = (pem: string) => pem.replaceAll('\n', '\\n');
    const settings = {
      APPLE_SIGNER_CERT: onOneLine(ours.signerCert),
      APPLE_SIGNER_KEY: onOneLine(ours.signerKey),
      APPLE_WWDR_CERT: onOneLine(ours.wwdrCert),
    };
    expect(load(settings).mode).toBe('real');
  });

  it('warn in the last 30 days, and about an unknown WWDR generation', async () => {
    const inAYear = new Date(NOW.getTime() + 340 * DAY_MS);
    expect(real({}, inAYear).warnings).toEqual([expect.stringMatching(/^The Apple Wallet certificates expire on \d/)]);
    const odd = await makeAppleCertificates({ wwdrGeneration: 'Test' });
    expect(real(odd.settings)).toMatchObject({
      wwdrGeneration: null,
      warnings: ['APPLE_WWDR_CERT is of no WWDR generation that is known here.'],
    });
  });

  it('accept a push key, and work without a wrong one', () => {
    const key = { APNS_KEY: ours.apnsKey, APNS_KEY_ID: ours.apnsKeyId };
    expect(real(key).apnsKey).toMatchObject({ keyId: ours.apnsKeyId, teamId: ours.teamId });
    expect(real(key).warnings).toEqual([]);
    const instead = 'pushes use the pass certificate instead.';
    expect(real({ APNS_KEY: ours.apnsKey }).warnings).toEqual([`APNS_KEY_ID is missing; ${instead}`]);
    expect(real({ APNS_KEY_ID: 'K' }).warnings).toEqual([`APNS_KEY is missing; ${instead}`]);
    expect(real({ ...key, APNS_KEY: ours.signerKey }).warnings).toEqual([`APNS_KEY is not a P-256 key; ${instead}`]);
    const unreadable = real({ ...key, APNS_KEY: join(folder, 'no.p8') });
    expect(unreadable.warnings).toEqual([`APNS_KEY is neither PEM text nor a readable file (ENOENT); ${instead}`]);
    expect(unreadable).not.toHaveProperty('apnsKey');
  });

  it('push to the configured address', () => {
    const configured = { APNS_ORIGIN: 'https://127.0.0.1:8443/', APNS_CA: ours.server.cert };
    expect(real(configured)).toMatchObject({ apnsOrigin: 'https://127.0.0.1:8443', apnsCa: ours.server.cert });
    expect(real({ APNS_ORIGIN: 'http://127.0.0.1:8080' }).apnsOrigin).toBe('http://127.0.0.1:8080');
  });
});

describe('Apple credentials that do not fit', () => {
  const refusals: [string, () => AppleSettings, RegExp][] = [
    ['one is missing', () => ({ APPLE_TEAM_ID: undefined }), /not fully configured: APPLE_TEAM_ID missing/],
    ['one is empty', () => ({ APPLE_WWDR_CERT: '' }), /not fully configured: APPLE_WWDR_CERT missing/],
    [
      'a file is not there',
      () => ({ APPLE_SIGNER_CERT: join(folder, randomUUID()) }),
      /APPLE_SIGNER_CERT is neither PEM text nor a readable file \(ENOENT\)/,
    ],
    ['a folder stands for a file', () => ({ APPLE_SIGNER_KEY: folder }), /APPLE_SIGNER_KEY is neither .* \(EISDIR\)/],
    [
      'a certificate is garbage',
      () => ({ APPLE_WWDR_CERT: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }),
      /APPLE_WWDR_CERT holds no certificate/,
    ],
    [
      'a key stands for a certificate',
      () => ({ APPLE_SIGNER_CERT: ours.signerKey }),
      /APPLE_SIGNER_CERT holds no certificate/,
    ],
    [
      'a certificate stands for a key',
      () => ({ APPLE_SIGNER_KEY: ours.signerCert }),
      /APPLE_SIGNER_KEY holds no private key/,
    ],
    [
      'the passphrase is missing',
      () => ({ APPLE_SIGNER_KEY: ours.encryptedSignerKey }),
      /APPLE_SIGNER_KEY is encrypted and APPLE_SIGNER_KEY_PASSPHRASE is missing/,
    ],
    [
      'the passphrase is wrong',
      () => ({ APPLE_SIGNER_KEY: ours.encryptedSignerKey, APPLE_SIGNER_KEY_PASSPHRASE: 'no' }),
      /APPLE_SIGNER_KEY_PASSPHRASE is wrong/,
    ],
    [
      'the key is of another certificate',
      () => ({ APPLE_SIGNER_KEY: others.signerKey }),
      /APPLE_SIGNER_KEY is not the key of APPLE_SIGNER_CERT/,
    ],
    [
      'the pass type is another',
      () => ({ APPLE_PASS_TYPE_ID: 'pass.com.example.other' }),
      /is for pass type pass\.com\.example\.loyalty, not for pass\.com\.example\.other/,
    ],
    ['the team is another', () => ({ APPLE_TEAM_ID: 'TEAM999999' }), /is of team TEAM123456, not of TEAM999999/],
    [
      'the WWDR certificate is of another generation',
      () => ({ APPLE_WWDR_CERT: others.wwdrCert }),
      /APPLE_WWDR_CERT \(G3\) did not issue APPLE_SIGNER_CERT/,
    ],
    ['APNs has no TLS', () => ({ APNS_ORIGIN: 'http://push.example.com' }), /APNS_ORIGIN is not an https: address/],
    [
      "APNs' authority is unreadable",
      () => ({ APNS_CA: join(folder, 'no.pem') }),
      /APNS_CA is neither PEM text nor a readable file/,
    ],
    [
      "one of APNs' authorities is garbage",
      () => ({ APNS_CA: `${ours.server.cert}\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----` }),
      /APNS_CA holds no certificate/,
    ],
  ];

  it.each(refusals)('are in stub mode with a reason when %s', (_, change, reason) => {
    expect(load(change())).toEqual({ mode: 'stub', reason: expect.stringMatching(reason) });
  });

  it('reveal no key in their reason', () => {
    const secret = '-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----';
    expect(JSON.stringify(load({ APPLE_SIGNER_KEY: secret }))).not.toContain('c2VjcmV0');
  });

  it('are in stub mode when none are configured', () => {
    expect(loadAppleCredentials({}, NOW)).toEqual({
      mode: 'stub',
      reason: 'No Apple Wallet credentials are configured.',
    });
  });

  it('are in stub mode before they are valid and from the moment they expire', () => {
    const expiry = new Date(new X509Certificate(ours.signerCert).validTo);
    expect(load({}, new Date(expiry.getTime() - 1)).mode).toBe('real');
    expect(load({}, expiry)).toMatchObject({ reason: expect.stringMatching(/^APPLE_SIGNER_CERT expired on \d{4}-/) });
    const early = new Date(NOW.getTime() - DAY_MS);
    expect(load({}, early)).toMatchObject({
      reason: expect.stringMatching(/^APPLE_SIGNER_CERT is valid only from \d/),
    });
  });
});
