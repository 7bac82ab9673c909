// Members in requests and answers (docs/interface.md, sections 2.2, 2.3, 2.4 and 4.3).
import { z } from 'zod';
import { expiring, memberBalance } from '../points/ledger.schema.js';
import { rewardState } from '../points/rewards.rules.js';
import { programSnapshot, programSummary } from '../programs/programs.schema.js';
import { email } from '../shared/email.rules.js';
import { passUpdate, platform, walletMode } from '../shared/passUpdate.schema.js';
import { phone } from '../shared/phone.rules.js';
import { codeText, idText, nameText, plainText, text } from '../shared/text.js';

export const memberStatus = z.enum(['active', 'voided', 'expired']);
export type MemberStatus = z.infer<typeof memberStatus>;

/** What created a member. */
export const memberSource = z.enum(['api', 'console', 'import', 'public']);
export type MemberSource = z.infer<typeof memberSource>;

export const consent = z.object({ at: z.iso.datetime(), programVersion: z.int(), text: z.string() });

export const name = nameText(100);

const initialPoints = z.int().min(0).max(1_000_000_000);

/** The number of an existing card, as a scanner reads it. */
const externalId = codeText(64);

/** The data of one person, the same for every kind of enrollment. */
export const person = z.strictObject({
  firstName: name.exactOptional(),
  lastName: name.exactOptional(),
  email: email.exactOptional(),
  phone: phone.exactOptional(),
  initialPoints: initialPoints.exactOptional(),
  externalId: externalId
    .exactOptional()
    .describe('the number of a card that the person already has; unique in the program'),
});
export type Person = z.output<typeof person>;

export const enrollRequest = person.extend({ programId: idText() });

export const memberPatch = z
  .strictObject({
    firstName: name.nullable().optional(),
    lastName: name.nullable().optional(),
    email: email.nullable().optional(),
    phone: phone.nullable().optional(),
    externalId: externalId.nullable().optional(),
  })
  .refine((patch) => Object.keys(patch).length > 0, 'must change at least one field')
  .meta({ minProperties: 1 });

export const statusRequest = z.strictObject({
  status: memberStatus,
  reason: text(0, 500).optional().describe('a note; the web card of a voided or expired card shows it'),
});

/** The form in which tags are stored and compared: trimmed, inner white space collapsed, lower-cased. */
export const tag = plainText()
  .overwrite((value) => value.trim().replace(/\s+/g, ' ').toLowerCase())
  .pipe(text(1, 50))
  .meta({ minLength: 1, maxLength: 50, description: 'trimmed, lower-cased, inner spaces collapsed' });
export const tagsRequest = z.strictObject({ tags: z.array(tag).min(1).max(25) });
export const maxTags = 25;

export const applePass = z.object({
  passUrl: z.string().describe('the web card, which works at once'),
  mode: walletMode,
});
export const googlePass = z.object({ mode: walletMode, saveUrl: z.string().optional() });

export const member = z.object({
  id: memberBalance.shape.id,
  memberCode: memberBalance.shape.memberCode,
  serialNumber: z.uuid().describe('the serial of the pass; never shown to staff or customers'),
  programId: z.string(),
  firstName: z.string().optional(),
  lastName: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
  externalId: z.string().optional().describe('the number of a card that the person had before'),
  fieldValues: memberBalance.shape.fieldValues,
  balance: memberBalance.shape.balance,
  tier: z.string().optional(),
  tags: z.array(z.string()).max(maxTags),
  status: memberStatus,
  apple: applePass,
  google: googlePass,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  deduped: z.boolean().optional().describe('true: the email was in the program already'),
  unchanged: z.boolean().optional().describe('true: nothing had to change'),
});

const lastVisitAt = z.iso.datetime().optional().describe('absent when none is known');

export const memberWithProgram = member.extend({ program: programSummary, lastVisitAt });
export const memberDetail = member.extend({
  program: programSnapshot,
  lastVisitAt,
  deviceCount: z.int().min(0).describe('registered wallet devices'),
  redeemedCount: z.int().min(0).describe('redeems ever, without those that were reversed'),
  rewards: z.array(rewardState).describe('what the balance buys'),
  expiring: z.array(expiring).max(3).describe('what expires next; empty where no points expire'),
  consent: consent.optional().describe('what the member agreed to on the public page'),
  marketing: consent.optional().describe('what the member agreed to in the second, optional box of the public page'),
  statusReason: z.string().optional().describe('the reason of the last change of the status; the web card shows it'),
});

export const erasure = z.object({ id: z.uuid(), erasedAt: z.iso.datetime() });

export const memberExport = z.object({
  id: z.uuid(),
  exportedAt: z.iso.datetime(),
  leftOut: z.array(z.string()).describe('the collections that the caller may not see: `audit` without `audit:view`'),
  kept: z
    .record(z.string(), z.array(z.record(z.string(), z.unknown())))
    .describe('by collection (docs/customers-data.md), the rows as they are stored, without secrets'),
});

export const statusResult = z.object({
  member,
  passUpdate: passUpdate.nullable(),
  unchanged: z.boolean().optional(),
});

export const pushResult = z.object({ member: memberBalance, passUpdate: passUpdate.nullable() });

export const timelineOutcome = z.enum(['success', 'failure', 'skipped']);

/** docs/interface.md#27-timeline-item */
export const timelineItem = z.object({
  id: z.string(),
  type: z.string(),
  outcome: timelineOutcome,
  platform: platform.optional(),
  occurredAt: z.iso.datetime(),
  detail: z.string().optional(),
});

export const cardLinkRequest = z
  .strictObject({
    replaceToken: z
      .boolean()
      .default(false)
      .describe('also replaces the token of the pass: phones update it no more until it is added again'),
  })
  .prefault({});
