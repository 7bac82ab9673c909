// What a program and a member look like at Google. Colours, logo and names belong to the class and so to the program;
// the object holds only the member's own state (facts-wallets 5.2, 5.3).
import type { walletobjects_v1 } from '@googleapis/walletobjects';
import { makeGoogleClassId, makeGoogleObjectId } from '../../schemas/googleIds.js';

export interface GoogleProgram {
  programId: string;
  name: string;
  /** Who stands above the card; Google shows 20 characters. */
  issuerName: string;
  /** `#rrggbb` */
  hexBackgroundColor?: string;
  /** A public URL that Google fetches. Google refuses a new class without one (400). */
  logoUrl?: string;
  heroImageUrl?: string;
  homepageUrl?: string;
  /** Where Google posts saves and deletions of this program's passes. */
  callbackUrl?: string;
}

export interface GoogleFace {
  programId: string;
  memberId: string;
  memberCode: string;
  accountName?: string;
  /** Of the balance, as the program names it: POINTS, STAMPS. */
  label: string;
  /** 0 to 2^53-1 */
  balance: number;
  tier?: string;
  /** Shown beside the balance where there is no tier, as with stamps. */
  goal?: number;
  status: 'active' | 'voided' | 'expired';
}

type LoyaltyClass = walletobjects_v1.Schema$LoyaltyClass;
type LoyaltyObject = walletobjects_v1.Schema$LoyaltyObject;
type Points = walletobjects_v1.Schema$LoyaltyPoints;

/** decisions.md "Wallets": voided is INACTIVE, expired is EXPIRED. */
const states = { active: 'ACTIVE', voided: 'INACTIVE', expired: 'EXPIRED' } as const;

/** Google's `int` has 32 bits. */
const maxInt = 2 ** 31 - 1;

export function loyaltyClassOf(issuerId: string, program: GoogleProgram): LoyaltyClass & { id: string } {
  return {
    id: makeGoogleClassId(issuerId, program.programId),
    issuerName: program.issuerName,
    programName: program.name,
    // An approved class takes changes only with this word, a new one needs it to be reviewed at all (facts 5.3).
    reviewStatus: 'UNDER_REVIEW',
    accountIdLabel: 'Member ID',
    accountNameLabel: 'Name',
    ...(program.hexBackgroundColor !== undefined && { hexBackgroundColor: program.hexBackgroundColor }),
    ...(program.logoUrl !== undefined && { programLogo: image(program.logoUrl, program.name) }),
    ...(program.heroImageUrl !== undefined && { heroImage: image(program.heroImageUrl, program.name) }),
    ...(program.homepageUrl !== undefined && { homepageUri: { uri: program.homepageUrl, description: program.name } }),
    ...(program.callbackUrl !== undefined && { callbackOptions: { url: program.callbackUrl } }),
  };
}

function image(uri: string, description: string): walletobjects_v1.Schema$Image {
  return { sourceUri: { uri }, contentDescription: { defaultValue: { language: 'en', value: description } } };
}

/** The whole object, for an insert: what a member doesn't have is left out. */
export function loyaltyObjectOf(issuerId: string, face: GoogleFace): LoyaltyObject & { id: string; classId: string } {
  const second = secondLine(face);
  return {
    id: makeGoogleObjectId(issuerId, face.memberId),
    classId: makeGoogleClassId(issuerId, face.programId),
    state: states[face.status],
    accountId: face.memberCode,
    ...(face.accountName !== undefined && { accountName: face.accountName }),
    barcode: { type: 'QR_CODE', value: face.memberCode, alternateText: face.memberCode },
    loyaltyPoints: { label: face.label, balance: balanceOf(face.balance) },
    ...(second !== null && { secondaryLoyaltyPoints: second }),
  };
}

/** The member's changeable part, for a PATCH: that merges, so what a member no longer has is sent as null. */
export function loyaltyObjectPatchOf(face: GoogleFace): Record<string, unknown> {
  const second = secondLine(face);
  return {
    state: states[face.status],
    accountName: face.accountName ?? null,
    loyaltyPoints: { label: face.label, balance: onlyKind(balanceOf(face.balance)) },
    secondaryLoyaltyPoints: second === null ? null : { ...second, balance: onlyKind(second.balance) },
  };
}

function secondLine(face: GoogleFace): (Points & { label: string; balance: Balance }) | null {
  if (face.tier !== undefined) return { label: 'Tier', balance: { string: face.tier } };
  if (face.goal !== undefined) return { label: 'Goal', balance: balanceOf(face.goal) };
  return null;
}

type Balance = { int: number } | { string: string };

function balanceOf(value: number): Balance {
  return value <= maxInt ? { int: value } : { string: String(value) };
}

/** Exactly one kind may be set, and a merge would keep the other one beside it. */
function onlyKind(balance: Balance): Record<string, unknown> {
  return 'int' in balance ? { int: balance.int, string: null } : { int: null, string: balance.string };
}
