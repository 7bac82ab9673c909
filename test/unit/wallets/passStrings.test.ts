// The phone translates the words of the service and the texts that a merchant has translated, and nothing else.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compileTemplate, passContent } from '../../../activities/wallets/apple/passPackage.view.js';
import { SAMPLES, type TemplatedProgram } from '../../../activities/wallets/apple/templateCheck.rules.js';
import { catalogues, type Language, languages } from '../../../schemas/shared/languages/index.js';
import { prose } from '../../../schemas/shared/text.js';
import type { ApplePassView } from '../../../schemas/wallets/apple/pass.view.js';
import { passStrings, stringsFile } from '../../../schemas/wallets/apple/passStrings.rules.js';
import { readStrings } from '../../rig/checks/passStrings.js';
import { languagesOf, shownIn, shownWith } from '../../rig/checks/phoneLanguage.js';
import type { PassJson, Pkpass, PkpassField } from '../../rig/checks/pkpass.js';

const identity = { passTypeId: 'pass.x', teamId: 'T' };
const [plain] = SAMPLES;
if (!plain) throw new Error('no sample');

function passOf(program: TemplatedProgram, view: Partial<ApplePassView> = {}): Pkpass {
  const { json, files } = passContent(compileTemplate(identity, program), { ...plain, ...view } as ApplePassView);
  return { json: JSON.parse(JSON.stringify(json)), files };
}

const fieldsOf = ({ storeCard }: PassJson): PkpassField[] => Object.values(storeCard).flat();
const shownValue = (json: PassJson, key: string) => fieldsOf(json).find((field) => field.key === key)?.value;
const shownLabel = (json: PassJson, key: string) => fieldsOf(json).find((field) => field.key === key)?.label;
const marks = /[\u2063\u2064]/;

const styles = ['points', 'stamps', 'tiered'] as const;
const faces = styles.flatMap((style) => SAMPLES.map((view) => ({ style, view })));

const passesIn = (language: Language) =>
  faces.map(({ style, view }) => passOf({ name: 'Bar', style, goal: 10, language }, view));
const passes = new Map(languages.map((language) => [language, passesIn(language)]));

/** The labels of these passes on a phone, by their fields. */
const labelsOn = (phone: string, program: Language) =>
  (passes.get(program) ?? []).map((pass) =>
    fieldsOf(shownIn(pass, [phone])).map(({ key, label }) => [key, label?.replace(marks, '')]),
  );

describe('a label of the service', () => {
  it.each(languages)('of a program in %s is in the language of the phone', (language) => {
    for (const phone of languages) expect(labelsOn(`${phone}-XX`, language)).toEqual(labelsOn(phone, phone));
  });

  it.each(languages)('of a program in %s is in that language on phones of other languages', (language) => {
    for (const phone of ['nl', 'pt-BR', 'zh-Hans', 'ar'])
      expect(labelsOn(phone, language)).toEqual(labelsOn(language, language));
  });

  it('of the merchant comes from the language without script or country, where it has none of its own', () => {
    const locales = { zh: { Coffee: '咖啡', Tea: '茶' }, 'zh-Hant': { Tea: '茶水' }, no: { Coffee: 'Kaffe' } };
    const tables = passStrings({ name: 'Bar' }, { locales });
    const said = (language: string) => ['Coffee', 'Tea'].map((text) => tables.get(language)?.get(`${text}\u2064`));
    expect(said('zh-Hans')).toEqual(['咖啡', '茶']);
    expect(said('zh-Hant')).toEqual(['咖啡', '茶水']);
    expect(said('nb')).toEqual(['Kaffe', undefined]);
    expect(said('de')).toEqual([undefined, undefined]);
  });

  it('is a word of the catalogue, with nothing else to see, whichever file Wallet takes or if it takes none', () => {
    const words = new Set(
      languages.flatMap((language) => [
        ...Object.values(catalogues[language].pass),
        catalogues[language].pass.description('Bar'),
      ]),
    );
    for (const pass of passesIn('de')) {
      const files = languagesOf(pass).map((language) => pass.files.get(`${language}.lproj/pass.strings`));
      for (const file of [undefined, ...files]) {
        const shown = shownWith(pass.json, file);
        const labels = fieldsOf(shown).flatMap(({ label = '' }) =>
          label === 'POINTS' ? [] : label.replace(marks, ''),
        );
        expect([...labels, shown.description.replace(marks, '')].filter((label) => !words.has(label))).toEqual([]);
      }
    }
  });

  it('has one meaning for one word, in every language', () => {
    for (const language of languages)
      for (const [key, word] of Object.entries(catalogues[language].pass))
        for (const [other, same] of Object.entries(catalogues[language].pass))
          if (typeof word === 'string' && word === same)
            for (const { pass } of Object.values(catalogues))
              expect(pass[key as 'tier'], `${language}: ${key}, ${other}`).toBe(pass[other as 'tier']);
  });
});

describe("a member's own words", () => {
  const locales = { de: { Terms: 'Bedingungen', Coffee: 'Kaffee', POINTS: 'PUNKTE' }, nl: { Terms: 'Voorwaarden' } };
  const program: TemplatedProgram = {
    name: 'Bar',
    style: 'points',
    goal: 10,
    language: 'en',
    passTemplate: { locales, backFields: [{ key: 'terms', label: 'Terms', value: 'Be kind' }] },
  };
  const words = languages.flatMap((language) =>
    Object.values(catalogues[language].pass).filter((text) => typeof text === 'string'),
  );
  const likeOurs = fc
    .tuple(
      fc.constantFrom(...words, 'Terms', 'Coffee', 'POINTS', 'Bar loyalty card'),
      fc.constantFrom('', '\u2063', '\u2064', '\u2063\u2063', '\u2064\u2063'),
    )
    .map(([word, mark]) => word + mark);

  it('are never translated, in any language, also where they equal a label, a reward or a text of the merchant', () => {
    fc.assert(
      fc.property(likeOurs, likeOurs, (displayName, changeMessage) => {
        const pass = passOf(program, { displayName, changeMessage });
        for (const phone of languagesOf(pass)) {
          const shown = shownIn(pass, [phone]);
          expect(shownValue(shown, 'member')).toBe(displayName.replace(new RegExp(marks, 'g'), ''));
          expect(shownValue(shown, 'message')).toBe(changeMessage.replace(new RegExp(marks, 'g'), ''));
        }
      }),
      { numRuns: 50 },
    );
  });

  it('stay as they are, when a reward of the same name is translated', () => {
    const shown = shownIn(passOf(program, { displayName: 'Coffee', goal: 1, balance: 3, rewardName: 'Coffee' }), [
      'de',
    ]);
    expect([shownValue(shown, 'member'), shownValue(shown, 'reward')]).toEqual(['Coffee', 'Kaffee']);
  });
});

describe("a merchant's text", () => {
  const template = {
    organizationName: 'Rewards',
    backFields: [{ key: 'a', label: 'Rewards', value: 'STATUS' }],
    locations: [{ latitude: 1, longitude: 2, relevantText: 'Ready' }],
  };

  it('is not translated for equalling a word of the service', () => {
    const pass = passOf({ name: 'Bar', style: 'tiered', passTemplate: template }, { tier: 'TIER', label: 'MEMBER' });
    for (const phone of languagesOf(pass)) {
      const shown = shownIn(pass, [phone]);
      expect(shownLabel(shown, 'back-a')).toBe('Rewards');
      expect(shownValue(shown, 'back-a')).toBe('STATUS');
      expect(shownValue(shown, 'tier')).toBe('TIER');
      expect(shownLabel(shown, 'balance')).toBe('MEMBER');
      expect(shown.organizationName).toBe('Rewards');
      expect(shown).toMatchObject({ locations: [{ relevantText: 'Ready' }] });
    }
  });

  it('is translated by the program, as is a word of the service', () => {
    const locales = {
      'de-AT': { Rewards: 'Gschenke', STATUS: 'Stand' },
      nl: { Rewards: 'Beloningen', 'MEMBER ID': 'LIDNUMMER', Ready: 'Klaar' },
    };
    const pass = passOf({ name: 'Bar', style: 'points', passTemplate: { ...template, locales } }, { status: 'voided' });
    const texts = (phone: string) => {
      const shown = shownIn(pass, [phone]);
      return [
        shown.organizationName,
        shownLabel(shown, 'back-a'),
        shownLabel(shown, 'memberCode'),
        shownLabel(shown, 'status'),
      ];
    };
    expect(texts('nl')).toEqual(['Beloningen', 'Beloningen', 'LIDNUMMER', 'STATUS\u2063']);
    expect(texts('de-AT')).toEqual(['Gschenke', 'Gschenke', 'MITGLIEDSNUMMER', 'Stand']);
    expect(texts('de')).toEqual(['Rewards\u2064', 'Rewards\u2064', 'MITGLIEDSNUMMER', 'KARTENSTATUS']);
  });

  it('that describes the card is not replaced by our words', () => {
    const own = passOf({ name: 'Bar', style: 'points', passTemplate: { description: 'Card of the Bar' } });
    expect(shownIn(own, ['fr']).description).toBe('Card of the Bar');
    expect(shownIn(passOf({ name: 'Bar', style: 'points' }), ['fr']).description).toBe('Carte de fidélité Bar');
  });
});

it('a pass.strings is read as it was written, with any texts', () => {
  const text = fc
    .oneof(
      fc.string({ unit: 'binary' }),
      fc.string({ unit: fc.constantFrom('"', '\\', '\n', '\t', ';', '=', '/*', '//', '%@', 'é', '\u2063') }),
    )
    // The parser refuses one key of JavaScript's own.
    .filter((value) => value !== '__proto__' && (value === '' || prose(1_000).safeParse(value).data === value));
  fc.assert(
    fc.property(fc.array(fc.tuple(text, text), { maxLength: 8 }), (entries) => {
      const table = new Map(entries);
      expect(readStrings(Buffer.from(stringsFile(table)))).toEqual(table);
    }),
  );
});
