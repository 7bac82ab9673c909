// Readers in requests and answers (docs/interface.md, section 4.11).
import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { newToken, sha256 } from '../shared/ids.js';
import { idText, nameText, readCode, text } from '../shared/text.js';

export const lookupBy = z.enum(['phone', 'email']);
export type LookupBy = z.infer<typeof lookupBy>;

const settings = {
  name: nameText(100),
  location: text(1, 100).describe('stands in the ledger, unless a sale names another'),
  programIds: z.array(idText()).min(1).max(100).describe('the programs whose cards it reads; all, when left out'),
  lookupBy: z.array(lookupBy).max(2).describe('by what a person without the card may be found'),
};

export const readerRequest = z.strictObject({
  name: settings.name,
  location: settings.location.optional(),
  programIds: settings.programIds.optional(),
  lookupBy: settings.lookupBy.optional(),
});

export const readerPatch = z
  .strictObject({
    name: settings.name.optional(),
    location: settings.location.nullable().optional(),
    programIds: settings.programIds.nullable().optional(),
    lookupBy: settings.lookupBy.optional(),
  })
  .refine((patch) => Object.keys(patch).length > 0, 'must change at least one field')
  .meta({ minProperties: 1 });

const moment = z.iso.datetime();

export const reader = z.object({
  id: z.string(),
  name: z.string(),
  location: z.string().nullable(),
  programIds: z.array(z.string()).nullable().describe('null: all'),
  lookupBy: z.array(lookupBy),
  createdBy: z.string(),
  createdAt: moment,
  pairedAt: moment.nullable().describe('null: no device is paired'),
  revokedAt: moment.nullable().describe('null: not revoked'),
  lastSeenAt: moment.nullable(),
  waiting: z.int().describe('taps that the device said it has not sent yet'),
  received: z.int().describe('taps that arrived, of all devices that were paired'),
  missing: z
    .array(z.object({ from: z.int(), to: z.int() }))
    .describe('taps that a device counted and that have not arrived; those of former devices first'),
  overdue: z.int().describe('how many of these have been missing for longer than a minute'),
});

const pairing = {
  pairingCode: z.string().length(8).describe('works once, for 10 minutes'),
  pairingLink: z.string().describe('opens the till with the code'),
  pairingExpiresAt: moment,
};

export const readerWithCode = reader.extend(pairing);
export const pairingAnswer = z.object(pairing);

const codeLetters = 'ABCDEFGHJKLMNPQRSTUVWXYZ';

/** Eight letters without I and O. */
export const newPairingCode = (): string =>
  Array.from({ length: 8 }, () => codeLetters.charAt(randomInt(codeLetters.length))).join('');

/** The code as people type it: in any case, in groups. */
const pairingCodeForm = (given: string): string =>
  readCode(given)
    .replace(/[\s\p{Pd}]+/gu, '')
    .toUpperCase();

export const pairingHash = (code: string): string => sha256(`pairing ${pairingCodeForm(code)}`);

/** The token has 256 random bits; only its hash is stored. */
export function newReaderToken(): { token: string; tokenHash: string } {
  const token = `lpr_${newToken(32)}`;
  return { token, tokenHash: sha256(token) };
}

export const isReaderToken = (value: string): boolean => /^lpr_[A-Za-z0-9_-]{43}$/.test(value);
