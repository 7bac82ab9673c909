// Builds the pass views, which determine what a member's pass shows at Apple and at Google, from the same data.
import { isDeepStrictEqual } from 'node:util';
import type { MemberRow } from '../members/members.rows.js';
import { tierOf } from '../points/balance.rules.js';
import { expiryLines } from '../points/expiry.rules.js';
import { hasOwnRewards, type RewardState, rewardStates } from '../points/rewards.rules.js';
import { googleLinks } from '../programs/links.schema.js';
import { type Program, versionOf } from '../programs/programs.schema.js';
import type { Config } from '../shared/config.schema.js';
import { catalogues, languageOf, localeOf } from '../shared/languages/index.js';
import type { ApplePassView } from './apple/pass.view.js';
import type { GooglePassView, GoogleProgramView } from './google/pass.view.js';

export interface Pair {
  member: MemberRow;
  program: Program;
}

export function displayName({ firstName, lastName }: Pick<MemberRow, 'firstName' | 'lastName'>): string | undefined {
  return [firstName, lastName].filter(Boolean).join(' ') || undefined;
}

/** The address of the member's web card. */
export const passUrlOf = (
  { config }: { config: Pick<Config, 'PUBLIC_URL'> },
  { pass }: Pick<MemberRow, 'pass'>,
): string => `${config.PUBLIC_URL}/passes/${pass.token}`;

/** The next tier above the member's points, and the number of missing points. */
export function nextTierOf({ member, program }: Pair): { name: string; missing: number } | undefined {
  const points = program.basis === 'lifetime' ? member.lifetimePoints : member.balance;
  const next = program.tiers?.find((tier) => tier.threshold > points);
  return next && { name: next.name, missing: next.threshold - points };
}

/** Undefined when the default reward is the only one, because the pass shows it anyway. */
const ownRewards = ({ member, program }: Pair): RewardState[] | undefined =>
  hasOwnRewards(program)
    ? rewardStates(program, member.balance, catalogues[languageOf(program)].pass.rewardName)
    : undefined;

function expiringOf({ member, program }: Pair): string[] {
  const language = languageOf(program);
  return expiryLines(program, member, { locale: localeOf(language), until: catalogues[language].card.until });
}

type Ranked = Pick<MemberRow, 'programVersion' | 'tier' | 'balance' | 'lifetimePoints'>;

/** The tier of the member's last change; by the live tiers if they are newer than that change. */
export const tierNow = ({ member, program }: { member: Ranked; program: Program }): string | undefined =>
  (member.programVersion ?? 1) === versionOf(program)
    ? member.tier
    : tierOf(program, member.balance, member.lifetimePoints);

/** The barcode value: the member code for a member without an external id. */
export const barcodeOf = ({ member, program }: Pair): string =>
  (program.passTemplate.barcode === 'externalId' ? member.externalId : undefined) ?? member.memberCode;

export function applePassView(config: Pick<Config, 'PUBLIC_URL'>, { member, program }: Pair): ApplePassView {
  return {
    serialNumber: member.serialNumber,
    authenticationToken: member.pass.authenticationToken,
    memberCode: member.memberCode,
    barcode: barcodeOf({ member, program }),
    displayName: displayName(member),
    label: program.fields.primaryLabel,
    balance: member.balance,
    goal: program.goal,
    rewardName: program.rewardName,
    rewards: ownRewards({ member, program }),
    expiring: expiringOf({ member, program }),
    tier: tierNow({ member, program }),
    nextTier: nextTierOf({ member, program }),
    status: member.status,
    changeMessage: member.pass.message,
    messageSequence: member.pass.messageSequence,
    webServiceURL: `${config.PUBLIC_URL}/wallet/apple`,
    updatedAt: member.pass.modifiedAt,
  };
}

export function googlePassView({ member, program }: Pair): GooglePassView {
  const accountName = displayName(member);
  const rewards = ownRewards({ member, program });
  const tier = tierNow({ member, program });
  const expiring = expiringOf({ member, program });
  const { barcodeFormat } = program.passTemplate;
  return {
    programId: program._id,
    ...(program.language && { language: program.language }),
    memberId: member._id,
    memberCode: member.memberCode,
    barcode: barcodeOf({ member, program }),
    ...(barcodeFormat !== undefined && { barcodeFormat }),
    ...(accountName !== undefined && { accountName }),
    label: program.fields.primaryLabel,
    balance: member.balance,
    ...(tier !== undefined && { tier }),
    ...(program.goal !== undefined && { goal: program.goal }),
    ...(rewards && { rewards }),
    ...(expiring.length > 0 && { expiring }),
    status: member.status,
  };
}

/** Whether a wallet shows a difference between the two states of a member. */
export function showsChange(
  config: Pick<Config, 'PUBLIC_URL'>,
  { program, before, after }: { program: Program; before: MemberRow; after: MemberRow },
): boolean {
  const shown = (member: MemberRow) => {
    // The token is not shown, and a phone that holds an earlier one cannot fetch the pass.
    const { authenticationToken: _, ...apple } = applePassView(config, { member, program });
    return { apple, google: googlePassView({ member, program }) };
  };
  return !isDeepStrictEqual(shown(before), shown(after));
}

export function googleProgramView(config: Pick<Config, 'PUBLIC_URL'>, program: Program): GoogleProgramView {
  return {
    programId: program._id,
    ...(program.language && { language: program.language }),
    name: program.name,
    issuerName: program.passTemplate.organizationName ?? program.name,
    hexBackgroundColor: program.passTemplate.colors.background,
    logoUrl: `${config.PUBLIC_URL}/wallet/images/${encodeURIComponent(program._id)}/logo.png`,
    links: googleLinks(program.passTemplate.links ?? {}),
    places: program.passTemplate.locations.map(({ latitude, longitude }) => ({ latitude, longitude })),
    callbackUrl: `${config.PUBLIC_URL}/wallet/google/callback`,
  };
}
