// A program as it is stored and as the read-only API shows it (docs/interface.md#21-program): the stored record with
// its `_id`.
import { z } from 'zod';
import { timeZone } from '../shared/calendar.rules.js';
import { lowerUuid } from '../shared/ids.js';
import { didYouMean } from '../shared/languages/codes.rules.js';
import { languages } from '../shared/languages/index.js';
import { country } from '../shared/phone.rules.js';
import { nameText, text } from '../shared/text.js';
import { earnMistakes, earnRule } from './earning.schema.js';
import { expiryMistakes, expiryRule } from './expiry.schema.js';
import { webAddress } from './links.schema.js';
import { passTemplate } from './passTemplate.schema.js';
import { rewardMistakes, rewards } from './rewards.schema.js';

export const maxBalance = Number.MAX_SAFE_INTEGER;

const identifier = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, _ or -');

export const tier = z.strictObject({ name: nameText(50), threshold: z.int().min(0).max(maxBalance) });

export const programStyle = z.enum(['points', 'stamps', 'tiered']);

const enrollmentFields = ['firstName', 'lastName', 'phone'] as const;

/** The content of a program file (`npm run programs -- apply`); the defaults give a presentable pass and page. */
export const programFile = z
  .strictObject({
    $schema: z.string().optional(),
    _id: identifier.overwrite(lowerUuid),
    merchantId: identifier.optional(),
    slug: z
      .string()
      .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be lower-case letters, digits and inner dashes'),
    name: nameText(100),
    style: programStyle,
    fields: z.strictObject({ primaryLabel: nameText(30).regex(/^[^.$]+$/, 'must not contain . or $') }),
    language: z
      .enum(languages, {
        error: ({ input }) => `must be one of ${languages.join(', ')}${didYouMean(input, languages)}`,
      })
      .optional(),
    goal: z.int().min(1).max(maxBalance).optional(),
    rewardName: nameText(100).optional(),
    tiers: z.array(tier).min(1).max(20).optional(),
    basis: z.enum(['balance', 'lifetime']).optional(),
    rewards: rewards.optional(),
    earn: earnRule.optional(),
    expiry: expiryRule.optional(),
    timeZone: timeZone.optional(),
    country: country.optional(),
    pushMessages: z.boolean().default(true),
    archived: z.boolean().default(false),
    passTemplate: passTemplate.prefault({}),
    enrollment: z
      .strictObject({
        open: z.boolean().default(true),
        fields: z.array(z.enum(enrollmentFields)).default(['firstName', 'lastName']),
        privacyUrl: webAddress.optional(),
        consentText: text(1, 500).optional(),
        marketingText: text(1, 500).optional(),
        confirmEmail: z.boolean().optional(),
      })
      .prefault({}),
  })
  .superRefine((program, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: 'custom', path, message });
    if (program.style === 'stamps' && program.goal === undefined) refuse(['goal'], 'is required for a stamps program');
    if (program.style === 'stamps' && program.goal !== undefined && program.goal > 100)
      refuse(['goal'], 'must be at most 100 on a stamps program');
    if (program.style === 'tiered' && !program.tiers) refuse(['tiers'], 'is required for a tiered program');
    if (program.style !== 'tiered' && program.tiers) refuse(['tiers'], 'belongs to tiered programs only');
    if (program.basis && !program.tiers) refuse(['basis'], 'belongs to tiered programs only');
    for (const { path, message } of [...rewardMistakes(program), ...earnMistakes(program), ...expiryMistakes(program)])
      refuse(path, message);
    program.tiers?.forEach((entry, index) => {
      const before = program.tiers?.[index - 1];
      if (before && before.threshold >= entry.threshold)
        refuse(['tiers', String(index), 'threshold'], 'must be above the tier before it');
    });
  });

export type ProgramFile = z.output<typeof programFile>;
export type Program = Omit<ProgramFile, 'merchantId' | '$schema'> & {
  merchantId: string;
  /** The live version; absent on a program from before programs had versions. */
  version?: number;
  /**
   * Since when its expiry rule applies; only with a rule. Not stored with the program
   * (activities/programs/expirySince.writes.ts).
   */
  expirySince?: Date;
};

export const versionOf = ({ version = 1 }: Pick<Program, 'version'>): number => version;

/** The key of the balance in a member's `fieldValues`. */
export const fieldOf = (program: Pick<Program, 'fields'>): string => program.fields.primaryLabel.toLowerCase();

const tiersOnly = z.array(tier).optional();

/**
 * The stored record (docs/interface.md#21-program) without passTemplate: its images are large, and no caller needs
 * them.
 */
export const programRecord = z.object({
  _id: z.string(),
  slug: z.string(),
  name: z.string(),
  style: programStyle,
  fields: z.object({ primaryLabel: z.string() }),
  language: z.enum(languages).optional().describe("absent: the customer's"),
  goal: z.int().optional(),
  rewardName: z.string().optional().describe('of the default reward'),
  tiers: tiersOnly,
  basis: z.enum(['balance', 'lifetime']).optional(),
  rewards: rewards.optional().describe('besides the default reward, whose price is `goal`'),
  earn: earnRule.optional(),
  expiry: expiryRule.optional().describe('absent: points do not expire'),
  timeZone: z.string().optional().describe('IANA; absent: UTC'),
  country: z.string().optional().describe('ISO 3166-1; of phone numbers that are written without one'),
  pushMessages: z.boolean(),
  archived: z.boolean(),
  version: z.int().describe('the version that is live; of a draft, the version of its last edit'),
});

/** The program in a list item (docs/interface.md#22-member). */
export const programSummary = programRecord.pick({
  _id: true,
  name: true,
  style: true,
  fields: true,
  goal: true,
  tiers: true,
});

/** The program in a single member (docs/interface.md#22-member). */
export const programSnapshot = programSummary.extend({
  slug: z.string(),
  archived: z.boolean(),
  pushMessages: z.boolean(),
});
