// Roles in requests and answers (docs/interface.md#54-permissions-and-roles).
import { z } from 'zod';
import { nameText } from '../shared/text.js';
import { permissions } from './permissions.schema.js';

export const permission = z.enum(permissions);

export const roleRequest = z.strictObject({
  name: nameText(100),
  permissions: z.array(permission).min(1).max(permissions.length),
});

export const role = z.object({
  id: z.string().describe('what `roleIds` of a key or a user takes'),
  name: z.string(),
  permissions: z.array(permission),
  builtIn: z.boolean().describe('true for a role that every merchant has'),
});
