// The face of an Apple pass: lays out a pass view (passes.view.ts) as pass.json. Serial number and authentication token
// never change during the life of a pass. Everything else follows from the template and the view, so equal views give
// equal bytes, except for the opening hours of the days ahead.

import { type RewardState, rewardLines } from '../../points/rewards.rules.js';
import { appleFormats, type BarcodeFormat } from '../../programs/barcodes.rules.js';
import { rgb } from '../../programs/contrast.rules.js';
import { appleActions } from '../../programs/links.schema.js';
import { relevantDatesAt } from '../../programs/openingHours.schema.js';
import type { PassTemplate } from '../../programs/passTemplate.schema.js';
import type { Language } from '../../shared/languages/index.js';
import { type PassField, type PassParts, posterOf, storeCardOf } from './passFaces.rules.js';
import { type PassTexts, passTexts, untranslated } from './passStrings.rules.js';

/** The part of a program that its passes depend on. */
export interface PassProgram {
  name: string;
  style: 'points' | 'stamps' | 'tiered';
  goal?: number | undefined;
  /** Of the labels on phones of other languages than ours; English without one. */
  language?: Language | undefined;
  /** Of the opening hours; UTC without one. */
  timeZone?: string | undefined;
}

export interface ApplePassView {
  /** A UUID that never changes during the life of the pass. */
  serialNumber: string;
  /** At least 16 characters; never changes during the life of the pass. */
  authenticationToken: string;
  memberCode: string;
  /** What scanners read: the member code or the external id. */
  barcode: string;
  displayName?: string | undefined;
  /** The unit of the balance, e.g. POINTS. */
  label: string;
  balance: number;
  goal?: number | undefined;
  /** What the reward is that costs the goal. */
  rewardName?: string | undefined;
  /** Present when there are other rewards than the one that costs the goal. */
  rewards?: readonly RewardState[] | undefined;
  /** The next expiries, one line each. */
  expiring?: readonly string[] | undefined;
  tier?: string | undefined;
  /** `missing`: how many points the member lacks for this tier. */
  nextTier?: { name: string; missing: number } | undefined;
  status: 'active' | 'voided' | 'expired';
  /**
   * The newest message to the member, shown on the back of the pass. The lock screen shows it when its text or sequence
   * is new.
   */
  changeMessage?: string | undefined;
  /** Differs for each message of a pass, so that a repeated text still counts as new; 0 leaves the text unchanged. */
  messageSequence: number;
  /** Without `/v1`, which the phone adds. */
  webServiceURL: string;
  updatedAt: Date;
  /** Replaces the expiration date of the template. */
  expirationDate?: Date | undefined;
}

/** What all passes of a template have in common. */
export interface PassDesign {
  style: PassProgram['style'];
  texts: PassTexts;
  barcodeFormat: BarcodeFormat;
  isPoster: boolean;
  common: Record<string, unknown>;
  backFields: readonly PassField[];
  expirationDate: string | undefined;
  /** `relevantDates` of a pass that is built at this moment. */
  datesAt: (now: Date) => readonly object[];
}

export function passDesign(
  identity: { passTypeId: string; teamId: string },
  program: PassProgram,
  template: PassTemplate,
): PassDesign {
  const color = (hex: string) => `rgb(${rgb(hex).join(', ')})`;
  const featuredActions = appleActions(template.links ?? {});
  const texts = passTexts(program, template);
  const { say } = texts;
  return {
    style: program.style,
    texts,
    barcodeFormat: template.barcodeFormat ?? 'QR',
    isPoster: template.poster === true,
    common: {
      formatVersion: 1,
      passTypeIdentifier: identity.passTypeId,
      teamIdentifier: identity.teamId,
      organizationName: say(template.organizationName ?? program.name),
      description: texts.description,
      // Apple does not allow an empty text here, so a template with an empty `logoText` gets no key.
      ...(template.logoText !== '' && { logoText: say(template.logoText ?? program.name) }),
      backgroundColor: color(template.colors.background),
      foregroundColor: color(template.colors.foreground),
      labelColor: color(template.colors.label),
      ...(template.locations.length > 0 && {
        locations: template.locations.map(({ relevantText, ...at }) => ({
          ...at,
          ...(relevantText !== undefined && { relevantText: say(relevantText) }),
        })),
      }),
      ...(featuredActions.length > 0 && { featuredActions }),
    },
    // The prefix keeps a template from replacing a field of ours: all fields of a pass share one set of keys.
    backFields: template.backFields.map(({ key, label, value }) => text(`back-${key}`, say(label), say(value))),
    expirationDate: template.expirationDate,
    datesAt: template.locations.length > 0 ? relevantDatesAt(template.openingHours, program.timeZone) : () => [],
  };
}

/** Scanners that support only one encoding support this one. */
const isLatin = (text: string): boolean => Array.from(text).every((character) => character <= '\u00ff');

/** Returns the content of pass.json. */
export function passJson(design: PassDesign, view: ApplePassView, now: Date = new Date()): Record<string, unknown> {
  const relevant = view.status === 'active' ? design.datesAt(now) : [];
  const parts = partsOf(design, view);
  const expiration = view.expirationDate ?? (design.expirationDate && new Date(design.expirationDate));
  return {
    ...design.common,
    serialNumber: view.serialNumber,
    authenticationToken: view.authenticationToken,
    webServiceURL: view.webServiceURL,
    barcodes: appleFormats(design.barcodeFormat, view.barcode).map((format) => ({
      ...{ format, message: view.barcode, altText: view.barcode },
      messageEncoding: isLatin(view.barcode) ? 'iso-8859-1' : 'utf-8',
    })),
    ...(relevant.length > 0 && { relevantDates: relevant }),
    ...(view.status !== 'active' && { voided: true }),
    ...(expiration && { expirationDate: expiration.toISOString() }),
    ...(design.isPoster && { posterGeneric: posterOf(parts) }),
    storeCard: storeCardOf(parts),
  };
}

const text = (key: string, label: string, value: string): PassField => ({ key, label, value });
const number = (key: string, label: string, value: number): PassField => ({
  key,
  label,
  value,
  numberStyle: 'PKNumberStyleDecimal',
});

const partsOf = (design: PassDesign, view: ApplePassView): PassParts => ({
  header: [number('balance', design.texts.say(view.label), view.balance)],
  front: frontFields(design, view),
  message: message(design.texts.words, view),
  back: backFields(design, view),
});

function backFields({ texts: { words, plain }, backFields: own }: PassDesign, view: ApplePassView): PassField[] {
  return [
    ...(view.rewards ? [text('rewards', words.rewardsBehind, rewardLines(view.rewards, plain))] : []),
    ...(view.expiring?.length ? [text('expiring', words.expiring, view.expiring.join('\n'))] : []),
    text('backMemberCode', words.memberIdBehind, view.memberCode),
    {
      ...text('updatedAt', words.updated, view.updatedAt.toISOString()),
      dateStyle: 'PKDateStyleMedium',
      timeStyle: 'PKDateStyleShort',
    },
    ...own,
  ];
}

function frontFields({ style, texts }: PassDesign, view: ApplePassView): PassParts['front'] {
  const { words, say } = texts;
  const member = view.displayName ? [text('member', words.member, untranslated(view.displayName))] : [];
  const rewards = rewardsOf(texts, view);
  const reward = rewardFields(words, rewards);
  const { name: nextName } = rewards.next ?? {};
  // A tiered card has no room for the name.
  const isNamed = nextName !== undefined && style !== 'tiered' && view.status === 'active';
  const auxiliaryFields = [
    text('memberCode', words.memberId, view.memberCode),
    ...(isNamed ? [text('nextReward', words.nextReward, say(nextName))] : []),
    ...(view.status === 'active' ? [] : [text('status', words.status, words[view.status])]),
  ];
  if (style === 'stamps') {
    // A primary field would cover the stamps of the strip.
    return { primaryFields: [], secondaryFields: [...reward, ...member], auxiliaryFields };
  }
  if (style === 'tiered') {
    const tier = view.tier ? [text('tier', words.tier, say(view.tier))] : [];
    return {
      primaryFields: tier,
      secondaryFields: [...nextTierFields(texts, view), ...reward],
      auxiliaryFields: [...member, ...auxiliaryFields],
    };
  }
  return {
    primaryFields: reward.length > 0 ? reward : member,
    secondaryFields: reward.length > 0 ? member : [],
    auxiliaryFields,
  };
}

interface Rewards {
  /** The names of those that can be redeemed now; one name is translated, several in one text are not. */
  ready: string[];
  /** The one that lacks the least; undefined while one is ready, and without rewards. */
  next: { name: string | undefined; missing: number } | undefined;
}

function rewardsOf({ words, plain, say }: PassTexts, { goal, balance, rewardName, rewards }: ApplePassView): Rewards {
  const atGoal = goal === undefined ? [] : [{ name: rewardName, ready: balance >= goal, missing: goal - balance }];
  const states = rewards ?? atGoal;
  const names = states.filter((state) => state.ready).map(({ name }) => name);
  const ready =
    names.length === 1
      ? names.map((name) => (name === undefined ? words.ready : say(name)))
      : names.map((name) => untranslated(name ?? plain.ready));
  const [next] = states.toSorted((one, other) => one.missing - other.missing);
  return { ready, next: ready.length > 0 ? undefined : next };
}

function rewardFields(words: PassTexts['words'], { ready, next }: Rewards): PassField[] {
  if (ready.length > 0) return [text('reward', ready.length === 1 ? words.reward : words.rewards, ready.join(', '))];
  return next === undefined ? [] : [number('reward', words.toNextReward, next.missing)];
}

function nextTierFields({ words, say }: PassTexts, { nextTier }: ApplePassView): PassField[] {
  if (nextTier === undefined) return [];
  return [
    text('nextTier', words.nextTier, say(nextTier.name)),
    number('toNextTier', words.toNextTier, nextTier.missing),
  ];
}

/**
 * The lock screen shows a field's new value when the field has a `changeMessage` and its value differs from that of the
 * installed pass. Two such fields would be reduced to "pass changed". So messages have a field of their own, the only
 * one with a `changeMessage`, and invisible characters make a repeated text differ from the one before.
 */
function message(words: PassTexts['words'], { changeMessage, messageSequence }: ApplePassView): PassField {
  if (!changeMessage) return text('message', words.message, words.noMessage);
  return {
    ...text('message', words.message, untranslated(changeMessage) + invisible(messageSequence)),
    changeMessage: '%@',
  };
}

/** Returns the binary digits of the sequence as zero-width characters. */
function invisible(sequence: number): string {
  if (sequence <= 0) return '';
  return sequence.toString(2).replace(/./g, (digit) => (digit === '1' ? '\u200c' : '\u200b'));
}
