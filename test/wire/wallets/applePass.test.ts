// A pass must be valid for independent tools: openssl, unzip, passkit-generator.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { PKPass } from 'passkit-generator';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  loadAppleCredentials,
  type RealAppleCredentials,
} from '../../../activities/wallets/apple/credentials.rules.js';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { buildPass, compileTemplate } from '../../../activities/wallets/apple/passPackage.view.js';
import {
  PassTemplateError,
  type TemplatedProgram,
  templateProblems,
} from '../../../activities/wallets/apple/templateCheck.rules.js';
import { zip, zipFile } from '../../../activities/wallets/apple/zip.rules.js';
import type { ApplePassView } from '../../../schemas/wallets/apple/pass.view.js';
import { languagesOf, shownIn } from '../../rig/checks/phoneLanguage.js';
import { BrokenPass, openPkpass, type PassJson, unzip } from '../../rig/checks/pkpass.js';
import { type AppleCertificates, makeAppleCertificates } from '../../rig/standins/appleCertificates.js';

const run = promisify(execFile);

let certificates: AppleCertificates;
let credentials: RealAppleCredentials;
let folder: string;

beforeAll(async () => {
  certificates = await makeAppleCertificates();
  const loaded = loadAppleCredentials(certificates.settings, new Date());
  if (loaded.mode === 'stub') throw new Error(loaded.reason);
  credentials = loaded;
  folder = await mkdtemp(join(tmpdir(), 'apple-pass-'));
});

afterAll(() => rm(folder, { recursive: true, force: true }));

const VIEW: ApplePassView = {
  serialNumber: '7a1c6e0a-64a7-4d0e-9c0f-3f1e8f0f0001',
  authenticationToken: 'an-authentication-token',
  memberCode: '0123456789',
  barcode: '0123456789',
  displayName: 'Ada Lovelace',
  label: 'POINTS',
  balance: 40,
  goal: 100,
  status: 'active',
  messageSequence: 0,
  webServiceURL: 'https://passes.example.com/wallet/apple',
  updatedAt: new Date('2026-11-21T10:00:00Z'),
};

const POINTS: TemplatedProgram = { name: 'Demo Points', style: 'points', goal: 100 };
const STAMPS: TemplatedProgram = { name: 'Demo Stamps', style: 'stamps', goal: 10 };
const TIERED: TemplatedProgram = { name: 'Demo Tiers', style: 'tiered', goal: 500 };

const picture = (width: number, height = width) =>
  encodePng(canvas(width, height), { paper: '#aa0000', ink: '#ffffff' }).toString('base64');

const RICH: TemplatedProgram = {
  ...TIERED,
  passTemplate: {
    colors: { background: '#102030', foreground: '#FFFFFF', label: '#a0b0c0' },
    organizationName: 'Example Ltd',
    description: 'A card',
    logoText: 'Example',
    images: { icon: picture(87), logo: { '2x': picture(320, 100) }, strip: picture(1125, 432) },
    backFields: [{ key: 'terms', label: 'Terms\u2064', value: 'Line one\nLine two' }],
    locations: [{ latitude: 51.5, longitude: -0.12, relevantText: 'Come in' }],
    locales: { de: { 'MEMBER ID': 'MITGLIEDS-NR.', Terms: 'Die "Regeln"' } },
    expirationDate: '2030-06-01T12:00:00+02:00',
  },
};

const POSTER: TemplatedProgram = {
  ...RICH,
  passTemplate: {
    ...RICH.passTemplate,
    poster: true,
    images: { artwork: picture(1074, 1344), primaryLogo: { '3x': picture(378, 90) } },
    links: { order: 'https://example.com/order', phone: '+442079460958' },
  },
};

const viewWith = (change: Partial<ApplePassView>): ApplePassView => ({ ...VIEW, ...change });

async function jsonOf(program: TemplatedProgram, view: ApplePassView): Promise<PassJson> {
  const pass = buildPass(credentials, compileTemplate(credentials, program), view);
  return (await openPkpass(pass, certificates.wwdrCert)).json;
}

const cases: [string, TemplatedProgram, ApplePassView][] = [
  ['a points pass', POINTS, VIEW],
  ['an empty stamp card', STAMPS, viewWith({ label: 'STAMPS', balance: 0, goal: 10 })],
  ['a full stamp card', STAMPS, viewWith({ label: 'STAMPS', balance: 10, goal: 10 })],
  [
    'a tiered pass with everything',
    RICH,
    viewWith({ tier: 'Silver', nextTier: { name: 'Gold', missing: 160 }, changeMessage: 'Hi', messageSequence: 5 }),
  ],
  [
    'a poster',
    POSTER,
    viewWith({ tier: 'Silver', nextTier: { name: 'Gold', missing: 160 }, changeMessage: 'Hi', messageSequence: 5 }),
  ],
  ['a bare pass', { name: 'P', style: 'points' }, viewWith({ displayName: undefined, goal: undefined })],
  ['a voided pass', POINTS, viewWith({ status: 'voided' })],
];

describe.each(cases)('%s', (_, program, view) => {
  it('verifies with openssl, hash by hash and up to the WWDR certificate', async () => {
    const pass = buildPass(credentials, compileTemplate(credentials, program), view);
    await expect(openPkpass(pass, certificates.wwdrCert)).resolves.toMatchObject({
      json: { serialNumber: view.serialNumber, authenticationToken: view.authenticationToken },
    });
  });

  it('passes the integrity tests of unzip and Python', async () => {
    const file = join(folder, 'member.pkpass');
    await writeFile(file, buildPass(credentials, compileTemplate(credentials, program), view));
    await expect(run('unzip', ['-tq', file])).resolves.toMatchObject({ stdout: expect.stringContaining('No errors') });
    await expect(run('python3', ['-m', 'zipfile', '-t', file])).resolves.toMatchObject({
      stdout: expect.stringContaining('Done testing'),
    });
  });

  it('has the same pass.json and files as passkit-generator makes of the same input', async () => {
    const ours = unzip(buildPass(credentials, compileTemplate(credentials, program), view));
    const { signerCert, signerKey, wwdrCert } = certificates;
    const { 'manifest.json': _manifest, signature: _signature, ...sources } = Object.fromEntries(ours);
    const theirs = unzip(new PKPass(sources, { signerCert, signerKey, wwdr: wwdrCert }).getAsBuffer());
    const json = (files: Map<string, Buffer>) => JSON.parse(files.get('pass.json')?.toString() ?? '');
    expect(json(theirs)).toEqual(json(ours));
    expect([...theirs.keys()].toSorted()).toEqual([...ours.keys()].toSorted());
    for (const name of ours.keys()) {
      if (name.endsWith('.png')) expect(theirs.get(name)?.equals(ours.get(name) ?? Buffer.alloc(0))).toBe(true);
    }
  });
});

// Digest and signature as RFC 5754 names them for the kind of key.
describe.each([
  ['RSA', undefined, 'sha256', 'rsaEncryption'],
  ['P-256', 'prime256v1', 'sha256', 'ecdsa-with-SHA256'],
  ['P-384', 'secp384r1', 'sha384', 'ecdsa-with-SHA384'],
  ['P-521', 'secp521r1', 'sha512', 'ecdsa-with-SHA512'],
])('a pass certificate whose key is of %s', (_, curve, digest, signature) => {
  it('signs with the digest of its size, verified by openssl up to the WWDR certificate', async () => {
    const made = await makeAppleCertificates({ ...(curve && { curve }) });
    const loaded = loadAppleCredentials(made.settings, new Date());
    if (loaded.mode === 'stub') throw new Error(loaded.reason);
    const signedAt = new Date('2026-02-03T04:05:06Z');
    const pass = buildPass(loaded, compileTemplate(loaded, POINTS), VIEW, signedAt);
    const { files } = await openPkpass(pass, made.wwdrCert);
    const file = join(folder, `signature-${curve ?? 'rsa'}`);
    await writeFile(file, files.get('signature') ?? '');
    const { stdout } = await run('openssl', ['cms', '-cmsout', '-print', '-noout', '-inform', 'DER', '-in', file]);
    const of = (name: string) =>
      [...stdout.matchAll(new RegExp(`${name}: *\\n *algorithm: (\\S+)`, 'g'))].map(([, it]) => it);
    expect({ digest: of('digestAlgorithm'), signature: of('signatureAlgorithm') }).toEqual({
      digest: [digest],
      signature: [signature],
    });
    expect(stdout).toContain('UTCTIME:Feb  3 04:05:06 2026 GMT');
  });
});

it('a key that cannot sign passes makes Apple Wallet a stub that says so', async () => {
  const { settings } = await makeAppleCertificates({ curve: 'secp256k1' });
  expect(loadAppleCredentials(settings, new Date())).toEqual({
    mode: 'stub',
    reason: 'APPLE_SIGNER_KEY is neither an RSA key nor one of the curves P-256, P-384 and P-521.',
  });
});

describe('the content of a pass', () => {
  it('is exactly this for a tiered member', async () => {
    const view = viewWith({
      tier: 'Silver',
      nextTier: { name: 'Gold', missing: 160 },
      changeMessage: 'Hi',
      messageSequence: 1,
    });
    const style = { numberStyle: 'PKNumberStyleDecimal' };
    const pass = await openPkpass(buildPass(credentials, compileTemplate(credentials, RICH), view));
    expect(shownIn(pass)).toEqual({
      formatVersion: 1,
      passTypeIdentifier: certificates.passTypeId,
      teamIdentifier: certificates.teamId,
      organizationName: 'Example Ltd',
      description: 'A card',
      logoText: 'Example',
      backgroundColor: 'rgb(16, 32, 48)',
      foregroundColor: 'rgb(255, 255, 255)',
      labelColor: 'rgb(160, 176, 192)',
      locations: [{ latitude: 51.5, longitude: -0.12, relevantText: 'Come in' }],
      serialNumber: VIEW.serialNumber,
      authenticationToken: VIEW.authenticationToken,
      webServiceURL: VIEW.webServiceURL,
      barcodes: [
        { format: 'PKBarcodeFormatQR', message: '0123456789', altText: '0123456789', messageEncoding: 'iso-8859-1' },
      ],
      expirationDate: '2030-06-01T10:00:00.000Z',
      storeCard: {
        headerFields: [{ key: 'balance', label: 'POINTS', value: 40, ...style }],
        primaryFields: [{ key: 'tier', label: 'TIER', value: 'Silver' }],
        secondaryFields: [
          { key: 'nextTier', label: 'NEXT TIER', value: 'Gold' },
          { key: 'toNextTier', label: 'TO NEXT TIER', value: 160, ...style },
          { key: 'reward', label: 'TO NEXT REWARD', value: 60, ...style },
        ],
        auxiliaryFields: [{ key: 'memberCode', label: 'MEMBER ID', value: '0123456789' }],
        backFields: [
          { key: 'message', label: 'Latest message', value: 'Hi\u200c', changeMessage: '%@' },
          { key: 'member', label: 'MEMBER', value: 'Ada Lovelace' },
          { key: 'backMemberCode', label: 'Member ID', value: '0123456789' },
          {
            key: 'updatedAt',
            label: 'Updated',
            value: '2026-11-21T10:00:00.000Z',
            dateStyle: 'PKDateStyleMedium',
            timeStyle: 'PKDateStyleShort',
          },
          { key: 'back-terms', label: 'Terms\u2064', value: 'Line one\nLine two' },
        ],
      },
    });
  });

  it('has the card number in its code if the program says so, in an encoding that has its letters', async () => {
    const codeOf = async (barcode: string) => (await jsonOf(POINTS, { ...VIEW, barcode })).barcodes;
    const code = { format: 'PKBarcodeFormatQR', message: '4001-é', altText: '4001-é', messageEncoding: 'iso-8859-1' };
    expect(await codeOf('4001-é')).toEqual([code]);
    expect(await codeOf('карта')).toMatchObject([{ message: 'карта', messageEncoding: 'utf-8' }]);
  });

  it('is a poster besides the card of older phones, with at most one field at its head, four and one at its foot', async () => {
    const view = viewWith({ tier: 'Silver', nextTier: { name: 'Gold', missing: 160 }, status: 'voided' });
    const { posterGeneric, storeCard, featuredActions } = await jsonOf(POSTER, view);
    const keys = (fields: { key: string }[] = []) => fields.map(({ key }) => key);
    expect(keys(posterGeneric?.headerFields)).toEqual(['balance']);
    expect(keys(posterGeneric?.primaryFields)).toEqual(['status', 'tier', 'nextTier', 'toNextTier']);
    expect(keys(posterGeneric?.footerFields)).toEqual(['memberCode']);
    // What a face has no room for is on its back.
    expect(keys(posterGeneric?.backFields)).toEqual(keys(storeCard.backFields));
    expect(keys(storeCard.backFields).slice(0, 3)).toEqual(['message', 'reward', 'member']);
    expect(storeCard).toEqual((await jsonOf(RICH, view)).storeCard);
    expect(featuredActions).toEqual([
      { identifier: 'order', type: 'order', url: 'https://example.com/order' },
      { identifier: 'phone', type: 'call', url: 'tel://+442079460958' },
    ]);
    expect(Object.keys(await jsonOf(RICH, view))).not.toContain('posterGeneric');
  });

  it('never shows the serial number on its front', async () => {
    const { storeCard, barcodes } = await jsonOf(POINTS, VIEW);
    expect(JSON.stringify({ storeCard, barcodes })).not.toContain(VIEW.serialNumber);
  });

  it('is voided for a voided and for an expired member, and names the reason', async () => {
    for (const [status, word] of [
      ['voided', 'Voided'],
      ['expired', 'Expired'],
    ] as const) {
      const json = shownIn(
        await openPkpass(buildPass(credentials, compileTemplate(credentials, POINTS), viewWith({ status }))),
      );
      expect(json.voided).toBe(true);
      expect(json.storeCard.auxiliaryFields).toContainEqual({ key: 'status', label: 'STATUS', value: word });
    }
    expect(await jsonOf(POINTS, VIEW)).not.toHaveProperty('voided');
  });

  it("prefers the member's expiry to the template's", async () => {
    const expirationDate = new Date('2027-01-02T03:04:05Z');
    expect((await jsonOf(RICH, viewWith({ expirationDate }))).expirationDate).toBe('2027-01-02T03:04:05.000Z');
  });

  it('gives a repeated message a new value each time, and has a change message only with a message', async () => {
    const messages = await Promise.all(
      [1, 2, 3, 4].map(async (messageSequence) => {
        const { storeCard } = await jsonOf(POINTS, viewWith({ changeMessage: 'Thank you', messageSequence }));
        return storeCard.backFields?.[0];
      }),
    );
    expect(new Set(messages.map((field) => field?.value)).size).toBe(4);
    for (const field of messages)
      expect(field).toMatchObject({ key: 'message', changeMessage: '%@', value: expect.stringMatching(/^Thank you/) });
    const internal = await jsonOf(POINTS, VIEW);
    expect(JSON.stringify(internal.storeCard)).not.toContain('changeMessage');
  });

  it('is in the languages of its template, with quotes escaped', () => {
    const files = unzip(buildPass(credentials, compileTemplate(credentials, RICH), VIEW));
    const german = files.get('de.lproj/pass.strings')?.toString();
    expect(german).toContain('"MEMBER ID\u2063" = "MITGLIEDS-NR.";\n');
    expect(german).toContain('"Terms\u2064" = "Die \\"Regeln\\"";\n');
  });

  it('is built from a stored template with a code that is no language, without its texts', () => {
    const locales = { ...RICH.passTemplate?.locales, jp: { Terms: 'Rules' } };
    const stored = { ...RICH, passTemplate: { ...RICH.passTemplate, locales } };
    expect(templateProblems(stored)).toMatchObject([{ path: 'passTemplate.locales.jp' }]);
    const files = unzip(buildPass(credentials, compileTemplate(credentials, stored), VIEW));
    expect(languagesOf({ files })).not.toContain('jp');
    expect(languagesOf({ files })).toContain('de');
  });

  it('shows a new strip after each stamp, and always the strip of a template that has one', () => {
    const stripOf = (program: TemplatedProgram, balance: number) =>
      unzip(buildPass(credentials, compileTemplate(credentials, program), viewWith({ balance })))
        .get('strip@3x.png')
        ?.toString('base64');
    const drawn = [0, 1, 2, 9, 10].map((balance) => stripOf(STAMPS, balance));
    expect(new Set(drawn).size).toBe(5);
    const own = { ...STAMPS, passTemplate: { images: { strip: picture(1125, 432) } } };
    expect(stripOf(own, 1)).toBe(stripOf(own, 7));
    expect(stripOf(POINTS, 1)).toBeUndefined();
  });
});

describe('a signature', () => {
  it("contains the signer's and the WWDR certificate and its time, but not the manifest", async () => {
    const signedAt = new Date(Date.now() - 1000);
    const pass = buildPass(credentials, compileTemplate(credentials, POINTS), VIEW, signedAt);
    const file = join(folder, 'signature');
    await writeFile(file, unzip(pass).get('signature') ?? '');
    const { stdout } = await run('openssl', ['cms', '-cmsout', '-print', '-inform', 'DER', '-in', file]);
    const subjects = stdout.match(/subject: .*/g) ?? [];
    expect(subjects).toEqual([
      expect.stringContaining('CN=Apple Worldwide Developer Relations Certification Authority'),
      expect.stringContaining(`UID=${certificates.passTypeId}`),
    ]);
    expect(stdout).toContain('eContent: <ABSENT>');
    const [, time = ''] = /UTCTIME:(.*)/.exec(stdout) ?? [];
    expect(Date.parse(time)).toBe(Math.floor(signedAt.getTime() / 1000) * 1000);
  });
});

describe('a template that no phone would accept', () => {
  it('is refused with all its errors', () => {
    const broken = { ...POINTS, passTemplate: { images: { icon: 'icon.png' }, colors: { label: 'red' } } };
    expect(() => compileTemplate(credentials, broken)).toThrow(PassTemplateError);
    expect(() => compileTemplate(credentials, broken)).toThrow(
      'passTemplate.colors.label: a colour is written #rrggbb; passTemplate.images.icon: the image is not base64',
    );
  });
});

describe("the virtual phone's check", () => {
  const built = () => buildPass(credentials, compileTemplate(credentials, POINTS), VIEW);

  it('refuses a pass signed under another authority', async () => {
    const { wwdrCert } = await makeAppleCertificates();
    await expect(openPkpass(built(), wwdrCert)).rejects.toThrow(/signature does not verify/);
  });

  it('refuses a pass with one changed byte in its signature', async () => {
    const files = unzip(built());
    const signature = Buffer.from(files.get('signature') ?? '');
    signature[signature.length - 1] = (signature.at(-1) ?? 0) ^ 1;
    const pass = zip([...files.set('signature', signature)].map(([name, bytes]) => zipFile(name, bytes)));
    await expect(openPkpass(pass, certificates.wwdrCert)).rejects.toThrow(/signature does not verify/);
  });

  it('refuses a pass with a file that differs from the signed one', async () => {
    const files = unzip(built()).set('icon.png', Buffer.from(picture(29), 'base64'));
    const pass = zip([...files].map(([name, bytes]) => zipFile(name, bytes)));
    await expect(openPkpass(pass, certificates.wwdrCert)).rejects.toThrow('icon.png is not what the manifest says');
  });

  it('refuses a pass for another pass type than its certificate', async () => {
    const compiled = compileTemplate({ passTypeId: 'pass.com.example.other', teamId: credentials.teamId }, POINTS);
    await expect(openPkpass(buildPass(credentials, compiled, VIEW))).rejects.toThrow(BrokenPass);
  });
});
