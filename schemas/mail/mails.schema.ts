// The kinds of mail that the service sends, and how long each is tried.
import { z } from 'zod';
import { joining } from '../members/enrollment.schema.js';

const minute = 60_000;
const hour = 60 * minute;

/** How long the link of an invitation works. */
export const invitationHours = 24;
export const invitationMs = invitationHours * hour;

/** How long the link works by which somebody confirms an address on the public page. */
export const confirmationHours = 24;
export const confirmationMs = confirmationHours * hour;

/** How long after it was queued a mail is tried: a sign-in link works for 15 minutes. */
export const mailKinds = {
  'sign-in': { triedForMs: 15 * minute },
  invitation: { triedForMs: 12 * hour },
  'card-link': { triedForMs: 24 * hour },
  confirmation: { triedForMs: 12 * hour },
} as const satisfies Record<string, { triedForMs: number }>;

export type MailKind = keyof typeof mailKinds;

/** The data of a mail in addition to that of the member and the program. */
const mailData = z.object({
  link: z.string().optional().describe('of a sign-in, an invitation or a confirmation'),
  merchantName: z.string().optional().describe('whose console the link opens'),
  invitedBy: z.string().optional().describe('the email of who invites'),
  roles: z.array(z.string()).optional().describe('of an invitation: the ids of its built-in roles'),
  ownRoles: z.array(z.string()).optional().describe('of an invitation: the names of its roles of the merchant'),
  joining: joining.optional().describe('what the confirmation of the address enrolls'),
});
export type MailData = z.output<typeof mailData>;

/** The encrypted part of a mail that is not sent yet, or whose address is not confirmed yet. */
export const sealedMail = z.object({ to: z.string(), data: mailData });
export type SealedMail = z.output<typeof sealedMail>;

/** `queued` until the mail is sent, or given up. */
export type MailState = 'queued' | 'sent' | 'failed';
