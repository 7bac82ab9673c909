// Any card that a merchant can make through the API, with any member on it: for property tests of passes.
import fc from 'fast-check';
import { newMemberRows } from '../../../activities/members/newMember.rules.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { barcodeFormats, memberCodeProblem } from '../../../schemas/programs/barcodes.rules.js';
import { type Program, programFile } from '../../../schemas/programs/programs.schema.js';
import { catalogues, languages } from '../../../schemas/shared/languages/index.js';
import { nameText, prose, text, trimmedText } from '../../../schemas/shared/text.js';
import { codes } from './anyCode.js';
import { image } from './anyPicture.js';
import { names, taken, texts } from './anyText.js';

export interface AnyCard {
  /** As the merchant sends it. */
  file: Record<string, unknown>;
  program: Program;
  member: MemberRow;
}

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);
const colors = fc.record(
  { background: color, foreground: color, label: color.map((hex) => hex.toUpperCase()) },
  { requiredKeys: [] },
);
const address = fc.constantFrom(
  ...['https://example.com', 'https://example.com/a?b=c&d="e"#f', 'https://пример.example/ä', 'https://[::1]:8443/x'],
);
const links = fc
  .record(
    { website: address, order: address, phone: fc.constantFrom('+442079460958', '+12025550123', '+49301234567') },
    { requiredKeys: [] },
  )
  .filter((given) => Object.keys(given).length <= 2);
const place = fc.record(
  {
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
    relevantText: texts(trimmedText(1, 200), 200),
  },
  { requiredKeys: ['latitude', 'longitude'] },
);
const hours = fc.dictionary(
  fc.constantFrom('monday', 'wednesday', 'saturday', 'sunday'),
  fc.constantFrom('09:00-18:00', '09:00-12:30, 14:00-18:00', '22:00-02:00', '00:00-00:00', '02:30-02:45'),
);
const backField = fc.record({
  key: texts(trimmedText(1, 64), 64),
  label: names(64),
  value: fc.oneof(texts(prose(4000), 4000), fc.constant('Line one\n\n\tLine "two"\n')),
});

/** Translations of texts that the service and the merchant write. */
const ownLabels = languages.flatMap((language) =>
  Object.values(catalogues[language].pass).filter((word): word is string => typeof word === 'string'),
);
const translations = fc.dictionary(
  // Objects of JSON drop this key.
  fc.oneof(fc.constantFrom(...ownLabels), texts(trimmedText(1, 200), 200)).filter((key) => key !== '__proto__'),
  texts(prose(1000), 1000),
  { minKeys: 1, maxKeys: 5 },
);

const passTemplate = fc
  .record(
    {
      colors,
      barcode: fc.constantFrom('memberCode' as const, 'externalId' as const),
      barcodeFormat: fc.constantFrom(...barcodeFormats),
      organizationName: names(100),
      description: texts(trimmedText(1, 200), 200),
      logoText: fc.oneof(fc.constant(''), names(40)),
      images: fc.record(
        {
          icon: image('icon'),
          logo: image('logo'),
          strip: image('strip'),
          artwork: image('artwork'),
          primaryLogo: image('primaryLogo'),
        },
        { requiredKeys: [] },
      ),
      backFields: fc.uniqueArray(backField, { maxLength: 20, selector: ({ key }) => key.trim().normalize('NFC') }),
      locations: fc.array(place, { maxLength: 10 }),
      links,
      openingHours: hours,
      poster: fc.boolean(),
      locales: fc.dictionary(fc.constantFrom('de', 'fr', 'zh-Hans', 'pt-BR', 'ar'), translations, { maxKeys: 2 }),
      expirationDate: fc.constantFrom('2030-06-01T12:00:00+02:00', '2020-01-01T00:00:00Z', '2031-12-31T23:59:59.999Z'),
    },
    { requiredKeys: [] },
  )
  .map((template) => ({
    ...template,
    // What the API refuses: a poster without artwork, and a format that cannot hold member codes.
    ...(template.poster && { poster: template.images?.artwork !== undefined }),
    ...(memberCodeProblem(template) !== undefined && { barcode: 'externalId' as const }),
  }));

const amount = fc.oneof(fc.constantFrom(0, 1, 9, 10, 2 ** 31 - 1, 2 ** 31, Number.MAX_SAFE_INTEGER), fc.nat(200));
const rewardsUpTo = (cost: number) =>
  fc.uniqueArray(
    fc.record({
      id: fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_-]{0,10}$/).filter((id) => id !== 'default'),
      name: names(100),
      cost: fc.integer({ min: 1, max: cost }),
      active: fc.boolean(),
    }),
    { maxLength: 20, selector: ({ id }) => id },
  );
const tiers = fc
  .uniqueArray(fc.record({ name: names(50), threshold: fc.integer({ min: 0, max: 1e12 }) }), {
    ...{ minLength: 1, maxLength: 20, selector: ({ threshold }) => threshold },
  })
  .map((given) => given.toSorted((one, other) => one.threshold - other.threshold));

const byStyle = fc.oneof(
  fc
    .integer({ min: 1, max: 100 })
    .chain((goal) =>
      fc.record({ style: fc.constant('stamps'), goal: fc.constant(goal), rewards: maybe(rewardsUpTo(goal)) }),
    ),
  fc.record({
    style: fc.constant('tiered'),
    tiers,
    basis: maybe(fc.constantFrom('balance', 'lifetime')),
    goal: maybe(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
    rewards: maybe(rewardsUpTo(1e12)),
  }),
  fc.record({
    style: fc.constant('points'),
    goal: maybe(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
    rewards: maybe(rewardsUpTo(1e12)),
  }),
);

const anyFile = fc
  .record({
    name: names(100),
    primaryLabel: taken(nameText(30), names(30)).filter((label) => !/[.$]/.test(label)),
    language: maybe(fc.constantFrom(...languages)),
    rewardName: maybe(names(100)),
    expiry: maybe(fc.constantFrom({ afterDays: 30 }, { inactiveDays: 365 })),
    timeZone: maybe(fc.constantFrom('Europe/Berlin', 'Pacific/Auckland', 'UTC')),
    own: byStyle,
    passTemplate,
  })
  .map(({ primaryLabel, own, ...rest }) => ({
    ...{ _id: 'any-card', slug: 'any-card', merchantId: 'any-merchant', fields: { primaryLabel } },
    ...rest,
    ...own,
  }));

const createdAt = new Date('2026-11-21T10:00:00Z');
const actor = { type: 'user', id: 'any-user' } as const;

const anyMember = (program: Program) =>
  fc
    .record({
      person: fc.record({ firstName: names(100), lastName: names(100) }, { requiredKeys: [] }),
      balance: amount,
      lifetimePoints: amount,
      memberCode: fc.string({
        unit: fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
        minLength: 10,
        maxLength: 10,
      }),
      // The format may be newer than the card's number.
      externalId: maybe(fc.oneof(codes[program.passTemplate.barcodeFormat ?? 'QR'], ...Object.values(codes))),
      status: fc.constantFrom('active' as const, 'voided' as const, 'expired' as const),
      message: maybe(fc.oneof(texts(text(0, 200), 200), fc.constant(''))),
      messageSequence: fc.nat(1_000_000),
    })
    .map(({ person, externalId, message, messageSequence, balance, ...given }): MemberRow => {
      const { member } = newMemberRows(
        { now: () => createdAt },
        { program, person: { ...person, initialPoints: balance }, source: 'console', attribution: {}, actor },
      );
      return {
        ...member,
        ...given,
        ...(externalId !== undefined && { externalId }),
        pass: { ...member.pass, messageSequence, ...(message !== undefined && { message }) },
      };
    });

export const anyCard: fc.Arbitrary<AnyCard> = anyFile.chain((file) => {
  const { $schema: _, merchantId = '', ...given } = programFile.parse(file);
  const program: Program = { ...given, merchantId, ...(given.expiry && { expirySince: createdAt }) };
  return anyMember(program).map((member) => ({ file, program, member }));
});
