// What a program and a member look like at Google. Colours, logo and names belong to the program's class; the object
// holds only the data of one member (docs/protocols/google-wallet.md, sections 2 and 3).
import type { walletobjects_v1 } from '@googleapis/walletobjects';
import { type RewardState, rewardLines } from '../../points/rewards.rules.js';
import { type BarcodeFormat, googleFormat } from '../../programs/barcodes.rules.js';
import { catalogues, type Language, languages, type PassWords } from '../../shared/languages/index.js';
import { makeGoogleClassId, makeGoogleObjectId } from './googleIds.rules.js';

export interface GoogleProgramView {
  programId: string;
  /** Of the labels; English without one. */
  language?: Language;
  name: string;
  /** The name at the top of the card; Google shows up to 20 characters. */
  issuerName: string;
  /** `#rrggbb` */
  hexBackgroundColor?: string;
  /** A public URL from which Google fetches the logo. Google refuses a new class without a logo (400). */
  logoUrl?: string;
  heroImageUrl?: string;
  homepageUrl?: string;
  links?: { id: string; uri: string; description: string }[];
  /** Where the card is offered on the lock screen. */
  places?: { latitude: number; longitude: number }[];
  /** Where Google posts saves and deletions of this program's passes. */
  callbackUrl?: string;
}

export interface GooglePassView {
  programId: string;
  /** Of the labels; English without one. */
  language?: Language;
  memberId: string;
  memberCode: string;
  /** What scanners read: the member code or the external id. */
  barcode: string;
  /** Default: QR. */
  barcodeFormat?: BarcodeFormat;
  accountName?: string;
  /** The unit of the balance, as the program names it: POINTS, STAMPS. */
  label: string;
  /** 0 to 2^53-1 */
  balance: number;
  tier?: string;
  /** Shown next to the balance when the member has no tier, as in stamp programs. */
  goal?: number;
  /** Present when there are other rewards than the one that costs the goal. */
  rewards?: readonly RewardState[];
  /** The next expiries, one line each. */
  expiring?: readonly string[];
  status: 'active' | 'voided' | 'expired';
}

type LoyaltyClass = walletobjects_v1.Schema$LoyaltyClass;
type LoyaltyObject = walletobjects_v1.Schema$LoyaltyObject;
type Points = walletobjects_v1.Schema$LoyaltyPoints;

/** Voided is INACTIVE, expired is EXPIRED (docs/interface.md#101-modes). */
const states = { active: 'ACTIVE', voided: 'INACTIVE', expired: 'EXPIRED' } as const;

/** Google's `int` has 32 bits. */
const maxInt = 2 ** 31 - 1;

export function loyaltyClassOf(issuerId: string, program: GoogleProgramView): LoyaltyClass & { id: string } {
  return {
    id: makeGoogleClassId(issuerId, program.programId),
    issuerName: program.issuerName,
    programName: program.name,
    // Google accepts changes of an approved class only with this status, and reviews a new class only with it
    // (docs/protocols/google-wallet.md#3-classes).
    reviewStatus: 'UNDER_REVIEW',
    accountIdLabel: wordsOf(program).memberIdBehind,
    localizedAccountIdLabel: inEachLanguage(program, 'memberIdBehind'),
    accountNameLabel: wordsOf(program).name,
    localizedAccountNameLabel: inEachLanguage(program, 'name'),
    ...(program.hexBackgroundColor !== undefined && { hexBackgroundColor: program.hexBackgroundColor }),
    ...(program.logoUrl !== undefined && { programLogo: image(program.logoUrl, program.name) }),
    ...(program.heroImageUrl !== undefined && { heroImage: image(program.heroImageUrl, program.name) }),
    ...(program.homepageUrl !== undefined && { homepageUri: { uri: program.homepageUrl, description: program.name } }),
    ...(program.links?.length && { linksModuleData: { uris: program.links } }),
    ...(program.places?.length && { merchantLocations: program.places }),
    ...(program.callbackUrl !== undefined && { callbackOptions: { url: program.callbackUrl } }),
  };
}

function image(uri: string, description: string): walletobjects_v1.Schema$Image {
  return { sourceUri: { uri }, contentDescription: { defaultValue: { language: 'en', value: description } } };
}

/** The whole object, for an insert. Fields that the member does not have are omitted. */
export function loyaltyObjectOf(
  issuerId: string,
  view: GooglePassView,
): LoyaltyObject & { id: string; classId: string } {
  const second = secondLine(view);
  const modules = textModules(view);
  return {
    id: makeGoogleObjectId(issuerId, view.memberId),
    classId: makeGoogleClassId(issuerId, view.programId),
    state: states[view.status],
    accountId: view.memberCode,
    ...(view.accountName !== undefined && { accountName: view.accountName }),
    barcode: barcodeOf(view),
    loyaltyPoints: { label: view.label, balance: balanceOf(view.balance) },
    ...(second !== null && { secondaryLoyaltyPoints: second }),
    ...(modules.length > 0 && { textModulesData: modules }),
  };
}

const barcodeOf = ({ barcode, barcodeFormat = 'QR' }: Pick<GooglePassView, 'barcode' | 'barcodeFormat'>) => ({
  type: googleFormat(barcodeFormat, barcode),
  value: barcode,
  alternateText: barcode,
});

/**
 * The fields that can change, for a PATCH. A PATCH merges, so a field that the member no longer has is sent as null.
 */
export function loyaltyObjectPatchOf(view: GooglePassView): Record<string, unknown> {
  const second = secondLine(view);
  const modules = textModules(view);
  return {
    state: states[view.status],
    accountName: view.accountName ?? null,
    barcode: barcodeOf(view),
    loyaltyPoints: { label: view.label, balance: onlyKind(balanceOf(view.balance)) },
    secondaryLoyaltyPoints: second === null ? null : { ...second, balance: onlyKind(second.balance) },
    textModulesData: modules.length > 0 ? modules : null,
  };
}

/** A PATCH merges, so the unit of the balance stays. */
export const clearedObject: Record<string, unknown> = {
  state: states.voided,
  accountName: null,
  barcode: barcodeOf({ barcode: '' }),
  loyaltyPoints: { balance: onlyKind({ int: 0 }) },
  secondaryLoyaltyPoints: null,
  textModulesData: null,
  messages: null,
};

const wordsOf = ({ language = 'en' }: { language?: Language }) => catalogues[language].pass;

type Word = { [Key in keyof PassWords]: PassWords[Key] extends string ? Key : never }[keyof PassWords];

/** Google shows the language of the phone, or else that of the program. */
function inEachLanguage(
  { language = 'en' }: { language?: Language },
  word: Word,
): walletobjects_v1.Schema$LocalizedString {
  const text = (one: Language) => ({ language: one, value: catalogues[one].pass[word] });
  return {
    defaultValue: text(language),
    translatedValues: languages.filter((one) => one !== language).map(text),
  };
}

function secondLine(view: GooglePassView): (Points & { label: string; balance: Balance }) | null {
  const labelled = (word: Word, balance: Balance) => ({
    label: wordsOf(view)[word],
    localizedLabel: inEachLanguage(view, word),
    balance,
  });
  if (view.tier !== undefined) return labelled('tierBehind', { string: view.tier });
  return view.goal === undefined ? null : labelled('goal', balanceOf(view.goal));
}

function textModules(view: GooglePassView) {
  const { rewards, expiring } = view;
  const words = wordsOf(view);
  const under = (word: Word) => ({ header: words[word], localizedHeader: inEachLanguage(view, word) });
  return [
    ...(rewards ? [{ id: 'rewards', ...under('rewardsBehind'), body: rewardLines(rewards, words) }] : []),
    ...(expiring?.length ? [{ id: 'expiring', ...under('expiring'), body: expiring.join('\n') }] : []),
  ];
}

type Balance = { int: number } | { string: string };

function balanceOf(value: number): Balance {
  return value <= maxInt ? { int: value } : { string: String(value) };
}

/** Google allows exactly one kind of balance. A PATCH merges, so the other kind must be set to null. */
function onlyKind(balance: Balance): Record<string, unknown> {
  return 'int' in balance ? { int: balance.int, string: null } : { int: null, string: balance.string };
}
