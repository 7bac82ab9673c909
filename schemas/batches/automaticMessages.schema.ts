// Automatic messages: a rule of a program that sends a campaign each day to those who have not had it yet.
import { z } from 'zod';
import { automaticAudience } from '../members/audiences.rules.js';
import { text } from '../shared/text.js';

const message = text(1, 200);
const hour = z.int().min(0).max(23);

export const automaticMessage = z.object({
  audience: automaticAudience,
  on: z.boolean(),
  message: message.optional(),
  hour: hour.describe("in the program's time zone"),
  nextAt: z.iso.datetime().optional(),
  /** As of the dry run of a campaign: those whom it would tell now. */
  matched: z.int(),
  reachable: z.int(),
  complete: z.boolean(),
});

export const automaticMessagePatch = z.strictObject({
  audience: automaticAudience,
  on: z.boolean().exactOptional(),
  message: message.exactOptional(),
  hour: hour.exactOptional(),
});
export type AutomaticMessagePatch = z.infer<typeof automaticMessagePatch>;
