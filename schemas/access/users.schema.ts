// Users and their sessions in requests and answers (docs/interface.md#55-users-and-signing-in).
import { z } from 'zod';
import { email } from '../shared/email.rules.js';
import { idText } from '../shared/text.js';
import { permission } from './roles.schema.js';

/** The built-in role that at least one user must keep. */
export const ownerRole = 'owner';

const roleIds = z.array(idText()).min(1).max(20);

export const userRequest = z.strictObject({ email, roleIds });
export const userPatch = z.strictObject({ roleIds });
export const signInLinkRequest = z.strictObject({ email });

export const user = z.object({
  id: z.string(),
  email: z.string(),
  roleIds: z.array(z.string()),
  createdAt: z.iso.datetime(),
  createdBy: z.string(),
  lastSignInAt: z.iso.datetime().nullable().describe('null until the first sign-in'),
});

export const session = z.object({
  user: z.object({
    id: z.string().describe('of a user of this service, or what another console calls its user'),
    email: z.string().nullable().describe('null for a user of another console'),
  }),
  merchant: z.object({ id: z.string(), name: z.string().nullable() }),
  roleIds: z.array(z.string()),
  permissions: z.array(permission),
  endsAt: z.iso.datetime().describe('a session of this service moves it ahead with each use'),
  canSignOut: z.boolean().describe('false for a session of another console, which has to end it itself'),
});
