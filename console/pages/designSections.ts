// The designer's fields as a table: sections of fields by their path in the program.

import { languages } from '../language.js';
import type { Json } from '../merge.js';
import { languageTitle, optionsOf, texts } from '../texts.js';

const said = texts.design;

export interface ListColumn {
  key: string;
  label: string;
  kind: 'text' | 'integer' | 'decimal' | 'lines' | 'flag';
}

export type Field = { path: string; label: string; hint?: string; shown?: (program: Json) => boolean } & (
  | { kind: 'text' | 'lines' | 'integer' | 'color' | 'flag' | 'url' | 'moment' | 'zone' | 'locales' | 'week' }
  | { kind: 'select'; options: readonly (readonly [string, string])[] }
  | { kind: 'choices'; options: readonly (readonly [string, string])[] }
  | { kind: 'image'; width: number; height: number; how: 'cover' | 'contain'; exact?: boolean }
  | { kind: 'list'; add: string; columns: readonly ListColumn[]; fresh: (count: number) => Json }
  | { kind: 'rule'; rule: Json }
);

const isPoster = (program: Json) => (program.passTemplate as Json | undefined)?.poster === true;
const isTiered = (program: Json) => program.style === 'tiered';
const isStamps = (program: Json) => program.style === 'stamps';
const hasEarn = (program: Json) => program.earn !== undefined;
const earnsByAmount = (program: Json) => hasEarn(program) && !isStamps(program);
const currency = 'EUR';

export const sections: readonly { title: string; fields: readonly Field[] }[] = [
  {
    title: said.basics,
    fields: [
      { path: 'name', label: said.name, kind: 'text' },
      { path: 'slug', label: said.slug, hint: said.slugHint, kind: 'text' },
      { path: 'style', label: said.style, kind: 'select', options: optionsOf(texts.programs.styles) },
      { path: 'fields.primaryLabel', label: said.unit, hint: said.unitHint, kind: 'text' },
      { path: 'rewardName', label: said.goalReward, hint: said.goalRewardHint, kind: 'text' },
      { path: 'goal', label: said.goal, hint: said.goalHint, kind: 'integer' },
      {
        path: 'language',
        label: said.language,
        hint: said.languageHint,
        kind: 'select',
        options: [
          ['', said.anyLanguage],
          ...Object.keys(languages).map((code) => [code, languageTitle(code)] as const),
        ],
      },
      {
        path: 'passTemplate.expirationDate',
        label: said.expirationDate,
        hint: said.expirationDateHint,
        kind: 'moment',
      },
      { path: 'pushMessages', label: said.pushMessages, kind: 'flag' },
    ],
  },
  {
    title: said.look,
    fields: [
      { path: 'passTemplate.colors.background', label: said.background, kind: 'color' },
      { path: 'passTemplate.colors.foreground', label: said.foreground, kind: 'color' },
      { path: 'passTemplate.colors.label', label: said.labels, kind: 'color' },
      { path: 'passTemplate.logoText', label: said.logoText, kind: 'text' },
      { path: 'passTemplate.organizationName', label: said.issuer, hint: said.issuerHint, kind: 'text' },
      { path: 'passTemplate.description', label: said.description, hint: said.descriptionHint, kind: 'text' },
      {
        path: 'passTemplate.images.logo',
        label: said.logo,
        hint: said.logoHint,
        ...{ kind: 'image', width: 480, height: 150, how: 'contain' },
      },
      {
        path: 'passTemplate.images.icon',
        label: said.icon,
        hint: said.iconHint,
        ...{ kind: 'image', width: 180, height: 180, how: 'cover', exact: true },
      },
      {
        path: 'passTemplate.images.strip',
        label: said.strip,
        hint: said.stripHint,
        ...{ kind: 'image', width: 1_125, height: 432, how: 'cover' },
      },
      { path: 'passTemplate.barcode', label: said.barcode, kind: 'select', options: optionsOf(said.barcodes) },
      {
        path: 'passTemplate.barcodeFormat',
        label: said.barcodeFormat,
        hint: said.barcodeFormatHint,
        ...{ kind: 'select', options: optionsOf(said.barcodeFormats) },
      },
      { path: 'passTemplate.poster', label: said.poster, kind: 'flag' },
      {
        path: 'passTemplate.images.artwork',
        label: said.artwork,
        hint: said.artworkHint,
        shown: isPoster,
        ...{ kind: 'image', width: 1_074, height: 1_344, how: 'cover' },
      },
      {
        path: 'passTemplate.images.primaryLogo',
        label: said.primaryLogo,
        hint: said.primaryLogoHint,
        shown: isPoster,
        ...{ kind: 'image', width: 378, height: 90, how: 'contain' },
      },
      {
        path: 'passTemplate.backFields',
        label: said.back,
        add: said.addBack,
        kind: 'list',
        columns: [
          { key: 'label', label: said.backLabel, kind: 'text' },
          { key: 'value', label: said.backText, kind: 'lines' },
        ],
        fresh: () => ({ key: crypto.randomUUID().slice(0, 8), label: '', value: '' }),
      },
    ],
  },
  {
    title: said.places,
    fields: [
      { path: 'passTemplate.links.website', label: said.website, hint: said.linksHint, kind: 'url' },
      { path: 'passTemplate.links.order', label: said.orderLink, kind: 'url' },
      { path: 'passTemplate.links.phone', label: said.phoneLink, hint: said.phoneLinkHint, kind: 'text' },
      {
        path: 'passTemplate.locations',
        label: said.locations,
        add: said.addLocation,
        kind: 'list',
        columns: [
          { key: 'latitude', label: said.latitude, kind: 'decimal' },
          { key: 'longitude', label: said.longitude, kind: 'decimal' },
          { key: 'relevantText', label: said.relevantText, kind: 'text' },
        ],
        fresh: () => ({}),
      },
      { path: 'passTemplate.openingHours', label: said.openingHours, hint: said.openingHoursHint, kind: 'week' },
    ],
  },
  {
    title: said.rewards,
    fields: [
      {
        path: 'rewards',
        label: said.moreRewards,
        add: said.addReward,
        kind: 'list',
        columns: [
          { key: 'name', label: said.reward, kind: 'text' },
          { key: 'cost', label: said.cost, kind: 'integer' },
          { key: 'active', label: said.active, kind: 'flag' },
        ],
        fresh: () => ({ id: crypto.randomUUID().slice(0, 8), name: '', cost: 1, active: true }),
      },
      {
        path: 'tiers',
        label: said.tiers,
        add: said.addTier,
        shown: isTiered,
        kind: 'list',
        columns: [
          { key: 'name', label: said.tier, kind: 'text' },
          { key: 'threshold', label: said.threshold, kind: 'integer' },
        ],
        fresh: () => ({ name: '', threshold: 0 }),
      },
      { path: 'basis', label: said.basis, shown: isTiered, kind: 'select', options: optionsOf(said.bases) },
    ],
  },
  {
    title: said.earning,
    fields: [
      {
        path: 'earn',
        label: said.earnRule,
        shown: (program) => !isStamps(program),
        ...{ kind: 'rule', rule: { per: 100, points: 1, currency } },
      },
      { path: 'earn', label: said.earnStampRule, shown: isStamps, kind: 'rule', rule: {} },
      { path: 'earn.per', label: said.per, hint: said.perHint, shown: earnsByAmount, kind: 'integer' },
      { path: 'earn.points', label: said.points, shown: earnsByAmount, kind: 'integer' },
      { path: 'earn.currency', label: said.currency, shown: earnsByAmount, kind: 'text' },
      { path: 'earn.dailyLimit', label: said.dailyLimit, shown: hasEarn, kind: 'integer' },
      { path: 'earn.cooldownSeconds', label: said.cooldown, shown: hasEarn, kind: 'integer' },
    ],
  },
  {
    title: said.expiry,
    fields: [
      { path: 'expiry.afterDays', label: said.afterDays, hint: said.afterDaysHint, kind: 'integer' },
      { path: 'expiry.inactiveDays', label: said.inactiveDays, hint: said.inactiveDaysHint, kind: 'integer' },
      { path: 'timeZone', label: said.timeZone, hint: said.timeZoneHint, kind: 'zone' },
    ],
  },
  {
    title: said.enrollment,
    fields: [
      { path: 'enrollment.open', label: said.isOpen, kind: 'flag' },
      { path: 'enrollment.fields', label: said.asks, kind: 'choices', options: optionsOf(said.askable) },
      { path: 'country', label: said.country, hint: said.countryHint, kind: 'text' },
      { path: 'enrollment.privacyUrl', label: said.privacyUrl, kind: 'url' },
      { path: 'enrollment.confirmEmail', label: said.confirmEmail, hint: said.confirmEmailHint, kind: 'flag' },
      { path: 'enrollment.consentText', label: said.consent, hint: said.consentHint, kind: 'lines' },
      { path: 'enrollment.marketingText', label: said.marketing, hint: said.marketingHint, kind: 'lines' },
    ],
  },
  {
    title: said.translations,
    fields: [{ path: 'passTemplate.locales', label: said.translations, hint: said.translationsHint, kind: 'locales' }],
  },
];

/** The paths of all controls, to find mistakes without a control. */
export const fieldPaths: readonly string[] = sections.flatMap(({ fields }) => fields.map(({ path }) => path));
