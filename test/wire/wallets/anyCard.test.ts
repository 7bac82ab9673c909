// Cards that a merchant can make: the pass of each obeys Apple's rules, is signed, and shows the same texts in
// the same places on the virtual phones, in the console and by the rules. Google takes the object of each.
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { newMemberRows } from '../../../activities/members/newMember.rules.js';
import {
  loadAppleCredentials,
  type RealAppleCredentials,
} from '../../../activities/wallets/apple/credentials.rules.js';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { buildPass, compileTemplate } from '../../../activities/wallets/apple/passPackage.view.js';
import { scaleImages } from '../../../activities/wallets/apple/scaleImages.client.js';
import { zip, zipFile } from '../../../activities/wallets/apple/zip.rules.js';
import { type ApplePass, appleFace, type GooglePass, type System } from '../../../console/parts/faces.js';
import { type BarcodeFormat, barcodeFormats } from '../../../schemas/programs/barcodes.rules.js';
import { imageWarnings } from '../../../schemas/programs/imageSlots.rules.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { catalogues, languageOf, languages } from '../../../schemas/shared/languages/index.js';
import { loyaltyClassOf, loyaltyObjectOf, loyaltyObjectPatchOf } from '../../../schemas/wallets/google/pass.view.js';
import { applePassView, googlePassView, googleProgramView } from '../../../schemas/wallets/passes.view.js';
import { consolePhones, type Drawn } from '../../rig/checks/drawnTexts.js';
import { passFindings } from '../../rig/checks/passRules.js';
import { shownIn } from '../../rig/checks/phoneLanguage.js';
import { openPkpass, openQuickly, type PassJson, unzip } from '../../rig/checks/pkpass.js';
import { drawCard, ofApple, ofGoogle } from '../../rig/phones/screen.js';
import { type AnyCard, anyCard } from '../../rig/standins/anyCard.js';
import { type AppleCertificates, makeAppleCertificates } from '../../rig/standins/appleCertificates.js';
import { createGoogleRules } from '../../rig/standins/googleRules.js';

/** The long suite has a thousand. */
const numRuns = Number(process.env.ANY_CARDS ?? 100);
const config = { PUBLIC_URL: 'https://passes.example.com' };
const issuer = '3388000000012345678';

let certificates: AppleCertificates;
let credentials: RealAppleCredentials;
let drawn: Awaited<ReturnType<typeof consolePhones>>;

beforeAll(async () => {
  certificates = await makeAppleCertificates();
  const loaded = loadAppleCredentials(certificates.settings, new Date());
  if (loaded.mode === 'stub') throw new Error(loaded.reason);
  credentials = loaded;
  drawn = await consolePhones();
});

const passOf = ({ program, member }: AnyCard): Buffer =>
  buildPass(credentials, compileTemplate(credentials, program), applePassView(config, { program, member }));

type Fields = PassJson['storeCard'][string];
const at = (place: string, fields: Fields = []): Drawn[] =>
  fields.flatMap(({ label = '', value }) => [label, String(value)].map((text): Drawn => [place, text]));
const visible = (texts: Drawn[]) => texts.filter(([, text]) => text !== '');
const words: Readonly<Record<string, string>> = {
  membershipBenefits: 'View Membership Benefits',
  order: 'Order Delivery and Pickup',
  call: 'Call',
};

/** What a phone of this age shows of a pass that obeys the rules: every field of its face. */
function byTheRules(json: PassJson, system: System): Drawn[] {
  const { posterGeneric: poster, storeCard: card } = json;
  const code = json.barcodes?.find(({ format }) => system === 'newer' || !/39|Codabar|EAN|I2of5/.test(format));
  const actions = system === 'newer' ? (json.featuredActions ?? []) : [];
  const face =
    poster && system === 'newer'
      ? [
          ...at('pass-header', poster.headerFields),
          ...at('pass-row', poster.primaryFields),
          ...at('pass-row', poster.footerFields),
        ]
      : [
          ...at('pass-header', card.headerFields),
          ...at('pass-primary', card.primaryFields),
          ...at('pass-row', card.secondaryFields),
          ...at('pass-row', card.auxiliaryFields),
        ];
  return visible([
    ['pass-logo', json.logoText ?? ''],
    ...face,
    ['qr', code?.altText ?? ''],
    ...actions.map(({ type }): Drawn => ['pass-actions', words[type] ?? type]),
  ]);
}

/** A phone without sight: the lines of the terminal have the texts in the same order. */
function mustBeIn(screen: string, texts: readonly Drawn[]): void {
  let from = 0;
  for (const [, text] of texts) {
    from = screen.indexOf(text, from);
    expect([text, from >= 0]).toEqual([text, true]);
  }
}

function checkApple(card: AnyCard, phoneLanguage = languageOf(card.program)): PassJson {
  const pass = openQuickly(passOf(card), certificates.wwdrCert);
  const findings = passFindings(pass);
  expect(findings.filter(({ rule }) => rule !== 'sizes')).toEqual([]);
  // What the service warns of is what the rules find.
  for (const { path } of imageWarnings(card.program.passTemplate.images)) {
    const [, , name = ''] = path.split('.');
    expect(findings.filter(({ message }) => message.startsWith(name))).not.toEqual([]);
  }
  const json = shownIn(pass, [phoneLanguage]);
  for (const [system, view] of [
    ['newer', 'front'],
    ['older', 'older'],
  ] as const) {
    const texts = byTheRules(json, system);
    expect(visible(drawn.iphone(json as ApplePass, view))).toEqual(texts);
    mustBeIn(
      drawCard(ofApple(appleFace(json, system), json.voided === true)),
      texts.filter(([place]) => place !== 'pass-actions'),
    );
  }
  const face = json.posterGeneric ?? json.storeCard;
  expect(visible(drawn.iphone(json as ApplePass, 'back'))).toEqual(visible(at('pass-back', face.backFields)));
  return json;
}

const google = createGoogleRules(issuer);
const send = (method: string, path: string, body: unknown) => google.handle(method, `/walletobjects/v1/${path}`, body);

function checkGoogle({ program, member }: AnyCard): void {
  const loyaltyClass = loyaltyClassOf(issuer, googleProgramView(config, program));
  const view = googlePassView({ program, member });
  const object = loyaltyObjectOf(issuer, view);
  google.classes.clear();
  expect(send('POST', 'loyaltyClass', loyaltyClass)).toMatchObject({ status: 200 });
  expect(send('POST', 'loyaltyObject', object)).toMatchObject({ status: 200 });
  expect(send('PATCH', `loyaltyObject/${object.id}`, loyaltyObjectPatchOf(view))).toMatchObject({ status: 200 });
  const pass = { class: loyaltyClass, object } as GooglePass;
  const points = [object.loyaltyPoints, object.secondaryLoyaltyPoints].flatMap((one): Drawn[] =>
    one
      ? [
          ['pass-row', one.label ?? ''],
          ['pass-row', String(one.balance?.string ?? one.balance?.int)],
        ]
      : [],
  );
  const texts = visible([
    ['pass-logo', loyaltyClass.issuerName ?? ''],
    ['google-name', loyaltyClass.programName ?? ''],
    ...points,
    ['qr', object.barcode?.alternateText ?? ''],
  ]);
  expect(visible(drawn.android(pass, 'front'))).toEqual(texts);
  mustBeIn(drawCard(ofGoogle(pass)), texts);
}

/** The card with its pictures as passes have them. */
async function scaled({ program, ...card }: AnyCard): Promise<AnyCard> {
  const { passTemplate } = program;
  const images = await scaleImages(passTemplate.images);
  return { ...card, program: { ...program, passTemplate: { ...passTemplate, images } } };
}

it('any card that a merchant can make is a pass that both phones show', async () => {
  await fc.assert(
    fc.asyncProperty(anyCard, async (given) => {
      const card = await scaled(given);
      checkApple(card);
      checkGoogle(card);
    }),
    { numRuns },
  );
});

const numbers: Partial<Record<BarcodeFormat, string>> = {
  ...{ Code39: 'ABC-123', Codabar: '123-45', EAN13: '4006381333931', I2of5: '12345678' },
};
const picture = (width: number, height: number) =>
  encodePng(canvas(width, height), { paper: '#aa3300', ink: '#ffffff' }).toString('base64');
const images = { artwork: picture(1074, 1344), strip: picture(1125, 432) };

function cardOf(fields: object, barcodeFormat: BarcodeFormat, poster: boolean): AnyCard {
  const file = {
    ...{
      _id: 'card',
      slug: 'card',
      merchantId: 'merchant',
      name: 'Café',
      fields: { primaryLabel: 'PUNKTE' },
      goal: 10,
    },
    ...fields,
    rewards: [{ id: 'cake', name: 'Cake', cost: 5 }],
    passTemplate: {
      ...{ barcode: 'externalId', barcodeFormat, poster, ...(poster && { images }) },
      ...{
        links: { website: 'https://example.com', phone: '+442079460958' },
        locations: [{ latitude: 51.5, longitude: 0 }],
      },
      backFields: [{ key: 'terms', label: 'Terms', value: 'One\nTwo' }],
    },
  };
  const { $schema: _, merchantId = '', ...given } = programFile.parse(file);
  const program = { ...given, merchantId };
  const { member } = newMemberRows(
    { now: () => new Date() },
    {
      ...{ program, source: 'console', attribution: {}, actor: { type: 'user', id: 'user' } },
      person: {
        firstName: 'Ada',
        lastName: 'Lovelace',
        externalId: numbers[barcodeFormat] ?? '4001',
        initialPoints: 7,
      },
    },
  );
  return { file, program, member };
}

describe.each([
  ['points', {}],
  ['stamps', {}],
  [
    'tiered',
    {
      tiers: [
        { name: 'Silver', threshold: 0 },
        { name: 'Gold', threshold: 100 },
      ],
    },
  ],
] as const)('a card of %s', (style, more) => {
  it.each(languages)('is such a pass in %s, with each format, as a poster and without', async (language) => {
    for (const format of barcodeFormats) {
      for (const poster of [true, false]) {
        const card = cardOf({ style, language, ...more }, format, poster);
        checkGoogle(card);
        const json = checkApple(card);
        expect(json.barcodes?.[0]?.format).toBe(`PKBarcodeFormat${format}`);
        expect(json.posterGeneric !== undefined).toBe(poster);
      }
    }
    const pass = await openPkpass(passOf(cardOf({ style, language, ...more }, 'EAN13', true)), certificates.wwdrCert);
    const labels = Object.values(shownIn(pass, [language]).storeCard).flatMap((fields) =>
      fields.map(({ label }) => label),
    );
    expect(labels).toContain(catalogues[language].pass.memberId);
  });
});

describe('the check of signatures in this process', () => {
  const card = cardOf({ style: 'points' }, 'QR', false);
  const changed = (name: string, change: (bytes: Buffer) => Buffer): Buffer => {
    const files = unzip(passOf(card));
    files.set(name, change(Buffer.from(files.get(name) ?? '')));
    return zip([...files].map(([file, bytes]) => zipFile(file, bytes)));
  };

  it.each([
    ['of another content', 'manifest.json', (bytes: Buffer) => Buffer.concat([bytes, Buffer.from(' ')])],
    [
      'with a changed byte',
      'signature',
      (bytes: Buffer) => Buffer.from(bytes).fill((bytes.at(-1) ?? 0) ^ 1, bytes.length - 1),
    ],
    ['that is cut off', 'signature', (bytes: Buffer) => bytes.subarray(0, -9)],
    ['that is empty', 'signature', () => Buffer.alloc(0)],
  ])('refuses a signature %s, as openssl does', async (_, name, change) => {
    const pass = changed(name, change);
    expect(() => openQuickly(pass, certificates.wwdrCert)).toThrow(/signature does not verify/);
    await expect(openPkpass(pass, certificates.wwdrCert)).rejects.toThrow(/signature does not verify/);
  });

  it('refuses another authority', async () => {
    const { wwdrCert } = await makeAppleCertificates();
    expect(() => openQuickly(passOf(card), wwdrCert)).toThrow('signature does not verify');
  });
});
