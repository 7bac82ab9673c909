// The language of a program brings the labels of its passes, and a code that is no language is refused.
import { describe, expect, it } from 'vitest';
import { SAMPLES } from '../../../activities/wallets/apple/templateCheck.rules.js';
import { passTemplate } from '../../../schemas/programs/passTemplate.schema.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { isLanguage, phoneLanguages } from '../../../schemas/shared/languages/codes.rules.js';
import { catalogues, type Language, languages } from '../../../schemas/shared/languages/index.js';
import { mistakesOf } from '../../../schemas/shared/mistakes.rules.js';
import { passDesign, passJson } from '../../../schemas/wallets/apple/pass.view.js';
import { shownBy } from '../../../schemas/wallets/apple/passStrings.rules.js';
import { loyaltyClassOf, loyaltyObjectOf } from '../../../schemas/wallets/google/pass.view.js';

/** Every label that the service puts on an Apple pass, of each style and state of a card. */
function appleLabels(language?: Language): string[] {
  const styles = ['points', 'stamps', 'tiered'] as const;
  const labels = styles.flatMap((style) => {
    const program = { name: 'P', style, goal: 10, language };
    const design = passDesign({ passTypeId: 'pass.x', teamId: 'T' }, program, passTemplate.parse({}));
    return SAMPLES.flatMap((view) => {
      const { storeCard } = shownBy(undefined, passJson(design, view));
      return Object.values(storeCard as Record<string, { label: string }[]>).flat();
    }).map(({ label }) => label);
  });
  return [...new Set(labels)].filter((label) => label !== 'POINTS');
}

function googleLabels(language?: Language): (string | null | undefined)[] {
  const own = language && { language };
  const loyaltyClass = loyaltyClassOf('1', { programId: 'p', name: 'P', issuerName: 'P', ...own });
  const view = { programId: 'p', memberId: 'm', memberCode: 'A', barcode: 'A', label: 'POINTS', balance: 1 };
  const rewards = [{ id: 'a', name: 'Tea', cost: 2, ready: false, missing: 1 }];
  const [withGoal, withTier] = [{ goal: 2 }, { tier: 'Gold' }].map((second) =>
    loyaltyObjectOf('1', { ...view, rewards, expiring: ['x'], status: 'active', ...second, ...own }),
  );
  return [
    loyaltyClass.accountIdLabel,
    loyaltyClass.accountNameLabel,
    withGoal?.secondaryLoyaltyPoints?.label,
    withTier?.secondaryLoyaltyPoints?.label,
    ...(withGoal?.textModulesData?.flatMap(({ header, body }) => [header, body]) ?? []).filter((text) => text !== 'x'),
  ];
}

it('a pass of a program without a language has English labels', () => {
  expect(appleLabels()).toEqual(expect.arrayContaining(['MEMBER', 'MEMBER ID', 'TO NEXT REWARD', 'STATUS', 'Updated']));
  expect(googleLabels()).toEqual(['Member ID', 'Name', 'Goal', 'Tier', 'Rewards', 'Tea (2): 1 to go', 'Expiring']);
});

it.each(languages.filter((language) => language !== 'en'))('a pass in %s has no English label', (language) => {
  expect(appleLabels(language)).toHaveLength(appleLabels().length);
  expect(appleLabels(language).filter((label) => appleLabels().includes(label))).toEqual([]);
  expect(googleLabels(language)).toHaveLength(7);
  expect(googleLabels(language).filter((label) => googleLabels().includes(label))).toEqual([]);
});

it.each(languages)(
  "Google shows a label of a program in %s in the phone's language, or else in the program's",
  (language) => {
    const said = (value: { language?: string | null; value?: string | null } | undefined) => [
      value?.language,
      value?.value,
    ];
    const { localizedAccountIdLabel: label } = loyaltyClassOf('1', {
      programId: 'p',
      name: 'P',
      issuerName: 'P',
      language,
    });
    expect(said(label?.defaultValue)).toEqual([language, catalogues[language].pass.memberIdBehind]);
    const others = languages.filter((one) => one !== language);
    expect(label?.translatedValues?.map(said)).toEqual(others.map((one) => [one, catalogues[one].pass.memberIdBehind]));
  },
);

describe('the code of a language', () => {
  const file = { _id: 'p', slug: 'p', name: 'Bar', style: 'points', fields: { primaryLabel: 'POINTS' } };
  const refusal = (fields: object) => {
    const { error } = programFile.safeParse({ ...file, ...fields });
    return error ? mistakesOf(programFile, error).map(({ path, message }) => `${path} ${message}`) : [];
  };

  it.each([
    ['Deutsch', 'de'],
    ['german', 'de'],
    ['ger', 'de'],
    ['DE', 'de'],
    ['de_AT', 'de'],
    ['Francais', 'fr'],
    ['Englisch', 'en'],
    ['español', 'es'],
  ])('%s is refused, and the nearest one is named', (written, near) => {
    expect(refusal({ language: written })).toEqual([
      `language must be one of en, de, fr, es, it; did you mean ${near}?`,
    ]);
    const [locale = ''] = refusal({ passTemplate: { locales: { [written]: { a: 'b' } } } });
    // This one is a code of a language, though another one is usual.
    if (written !== 'ger') expect(locale).toContain(`did you mean ${near}?`);
  });

  it('that has the form of one and is none is refused, and one that phones have is taken', () => {
    expect(refusal({ passTemplate: { locales: { qx: { a: 'b' } } } })).toHaveLength(1);
    expect(phoneLanguages.filter((code) => !isLanguage(code))).toEqual([]);
    for (const code of phoneLanguages)
      expect(refusal({ passTemplate: { locales: { [code]: { a: 'b' } } } })).toEqual([]);
    expect(refusal({ language: '' })).toEqual(['language must be one of en, de, fr, es, it']);
    expect(refusal({ language: 7 })).toEqual(['language must be one of en, de, fr, es, it']);
  });
});
