// Members in requests and answers (docs/interface.md, sections 2.2, 2.3, 2.4 and 4.3).
import { z } from 'zod';
import { amount, currency, maxQuantity } from '../points/earning.rules.js';
import { rewardState } from '../points/rewards.rules.js';
import { maxBalance, programSnapshot, programSummary } from '../programs/programs.schema.js';
import { email } from '../shared/email.rules.js';
import { phone } from '../shared/phone.rules.js';
import { codeText, idText, nameText, plainText, text } from '../shared/text.js';
import { passUpdate, walletMode } from '../wallets/passUpdate.schema.js';

const memberStatuses = ['active', 'voided', 'expired'] as const;
export const memberStatus = z.enum(memberStatuses);
export type MemberStatus = z.infer<typeof memberStatus>;

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

const point = z.int().min(-1_000_000_000).max(1_000_000_000);
const changeMessage = text(0, 200);

/** The details of a sale from the till. */
export const reference = text(1, 100);

const sale = {
  reference: reference.optional().describe('of the till, such as the number of the receipt'),
  location: text(1, 100).optional(),
  occurredAt: z.iso
    .datetime({ offset: true })
    .optional()
    .describe('at most 72 hours old; up to 5 minutes ahead counts as the time of the request'),
};
export type SaleFacts = z.output<z.ZodObject<typeof sale>>;

/** Exactly one of delta and value (docs/interface.md#24-points-request). */
export const pointsRequest = z
  .strictObject({
    delta: point.optional().describe('relative; the balance ends at 0 or more'),
    value: point.min(0).optional().describe('the new balance'),
    changeMessage: changeMessage.optional().describe('shown on the lock screen'),
    ...sale,
  })
  .refine(
    (body) => (body.delta === undefined) !== (body.value === undefined),
    'exactly one of delta and value must be given',
  )
  .meta({ not: { anyOf: [{ required: ['delta', 'value'] }, { properties: { delta: false, value: false } }] } });

export const redeemRequest = z
  .strictObject({
    rewardId: text(1, 64).optional().describe('by default the reward whose price is the goal'),
    changeMessage: changeMessage.optional(),
    ...sale,
  })
  .optional();

export const earnRequest = z
  .strictObject({
    amount: amount.optional().describe('of the sale in minor units, such as cents; not needed for stamps'),
    currency: currency.optional().describe("by default the program's"),
    quantity: z.int().min(1).max(maxQuantity).optional().describe('stamps; 1 by default'),
    changeMessage: changeMessage.optional(),
    ...sale,
  })
  .prefault({});

const reversal = {
  reason: text(0, 500).optional().describe('a note for the audit'),
  changeMessage: changeMessage.optional(),
};

export const reverseRequest = z.strictObject(reversal).prefault({});

export const reverseByReferenceRequest = z.strictObject({ reference, ...reversal });

export const statusRequest = z.strictObject({
  status: memberStatus,
  reason: text(0, 500).optional().describe('a note for the audit'),
});

/** The form in which tags are stored and compared: trimmed, inner white space collapsed, lower-cased. */
export const tag = plainText()
  .overwrite((value) => value.trim().replace(/\s+/g, ' ').toLowerCase())
  .pipe(text(1, 50))
  .meta({ minLength: 1, maxLength: 50, description: 'trimmed, lower-cased, inner spaces collapsed' });
export const tagsRequest = z.strictObject({ tags: z.array(tag).min(1).max(25) });
export const maxTags = 25;

export const member = z.object({
  id: z.uuid(),
  memberCode: z.string().length(10).describe('the Member ID that people see, and what the barcode holds'),
  serialNumber: z.uuid().describe('the serial of the pass; never shown to staff or customers'),
  programId: z.string(),
  firstName: z.string().optional(),
  lastName: z.string().optional(),
  email: z.string().optional(),
  phone: z.string().optional(),
  externalId: z.string().optional().describe('the number of a card that the person had before'),
  fieldValues: z
    .record(z.string(), z.int().min(0).max(maxBalance))
    .describe("the balance, under the program's `fields.primaryLabel` in lower case"),
  balance: z.int().min(0).max(maxBalance).describe('the same number under a name that no program changes'),
  tier: z.string().optional(),
  tags: z.array(z.string()).max(maxTags),
  status: memberStatus,
  apple: z.object({ passUrl: z.string().describe('the web card, which works at once'), mode: walletMode }),
  google: z.object({ mode: walletMode, saveUrl: z.string().optional() }),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
  deduped: z.boolean().optional().describe('true: the email was in the program already'),
  unchanged: z.boolean().optional().describe('true: nothing had to change'),
});

export const expiring = z.object({ points: z.int().min(1), at: z.iso.datetime() });

export const memberWithProgram = member.extend({ program: programSummary });
export const memberDetail = member.extend({
  program: programSnapshot,
  deviceCount: z.int().min(0).describe('registered wallet devices'),
  redeemedCount: z.int().min(0).describe('redeems ever, without those that were reversed'),
  rewards: z.array(rewardState).describe('what the balance buys'),
  expiring: z.array(expiring).max(3).describe('what expires next; empty where no points expire'),
  consent: z
    .object({ at: z.iso.datetime(), programVersion: z.int(), text: z.string() })
    .optional()
    .describe('what the member agreed to on the public page'),
});

export const memberBalance = member.pick({ id: true, memberCode: true, fieldValues: true, balance: true });

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

export const actor = z.object({
  type: z.enum(['api-key', 'user', 'import', 'public', 'reader', 'program']),
  id: z.string(),
  name: z.string().optional(),
});
export type Actor = z.infer<typeof actor>;

export const timelineOutcome = z.enum(['success', 'failure', 'skipped']);

/** docs/interface.md#27-timeline-item */
export const timelineItem = z.object({
  id: z.string(),
  type: z.string(),
  outcome: timelineOutcome,
  platform: z.enum(['apple', 'google']).optional(),
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
