// Requests and answers of a till (docs/interface.md, section 4.11).
import { z } from 'zod';
import { memberStatus } from '../members/members.schema.js';
import { earnRequest, redeemRequest } from '../points/changes.schema.js';
import { programRecord } from '../programs/programs.schema.js';
import { email } from '../shared/email.rules.js';
import { phone } from '../shared/phone.rules.js';
import { idText, scannedText, text } from '../shared/text.js';
import { lookupBy } from './readers.schema.js';

const maxSequence = 1_000_000_000;
export const sequence = z.int().min(1).max(maxSequence);

export const pairRequest = z.strictObject({ code: text(1, 40) });

export const tillReader = z.object({ id: z.string(), name: z.string(), location: z.string().nullable() });

export const pairResult = z.object({
  token: z.string().describe('a Bearer token; it is in this answer and nowhere else'),
  reader: tillReader,
});

/** What a till needs to know to work, also without a line. */
export const helloResult = z.object({
  reader: tillReader.nullable().describe('null: a person is signed in'),
  merchant: z.object({ name: z.string() }),
  programs: z.array(programRecord),
  lookupBy: z.array(lookupBy),
  now: z.iso.datetime(),
});

export const helloRequest = z
  .strictObject({
    lastSequence: z.int().min(0).max(maxSequence).optional().describe('how many taps the device has counted'),
    waiting: z.int().min(0).max(maxSequence).optional().describe('how many of them it has not sent yet'),
  })
  .prefault({});

const scanned = scannedText(64).describe('a member code, external id or serial number, as it was read');

const lookup = {
  memberCode: scanned.optional(),
  externalId: scanned.optional(),
  phone: phone.optional(),
  email: email.optional(),
};
const lookupFields = Object.keys(lookup) as (keyof typeof lookup)[];

export const lookupRequest = z
  .strictObject({ ...lookup, programId: idText().optional() })
  .refine(
    (body) => lookupFields.filter((field) => body[field] !== undefined).length === 1,
    `exactly one of ${lookupFields.join(', ')} must be given`,
  );

const person = {
  memberCode: z.string(),
  firstName: z.string().nullable(),
  lastInitial: z.string().nullable().describe('the first letter of the last name'),
};

export const lookupResult = z.object({
  ...person,
  balance: z.int(),
  tier: z.string().nullable(),
  rewards: z.array(z.object({ id: z.string(), name: z.string(), cost: z.int() })).describe('those that are ready'),
  status: memberStatus,
});

/** One of the members that a code leads to, for the cashier to choose from. */
export const candidate = z.object({ ...person, programId: z.string() });

const tap = {
  memberCode: scanned,
  programId: idText().optional(),
  sequence: sequence.optional().describe('the number of this tap, counted by the device from 1 since its pairing'),
};

export const tillEarnRequest = earnRequest.unwrap().extend(tap);
export const tillRedeemRequest = redeemRequest.unwrap().extend(tap);

export const undoRequest = z.strictObject({
  ...tap,
  undoes: sequence.optional().describe('the `sequence` of the change; without it the last change is undone'),
  occurredAt: redeemRequest.unwrap().shape.occurredAt,
});
