// Who changed what, in requests and answers (docs/interface.md#410-overview-and-audit).
import { z } from 'zod';
import { actor } from './actor.schema.js';

export const auditActions = [
  'api-key.create',
  'api-key.revoke',
  'token.create',
  'user.create',
  'user.edit',
  'user.remove',
  'user.link',
  'user.sign-in',
  'user.sign-out',
  'user.sign-out-everywhere',
  'reader.create',
  'reader.edit',
  'reader.code',
  'reader.pair',
  'reader.revoke',
  'role.create',
  'role.delete',
  'merchant.create',
  'merchant.suspend',
  'merchant.resume',
  'merchant.limit',
  'merchant.remove',
  'program.create',
  'program.edit',
  'program.publish',
  'program.apply',
  'program.archive',
  'program.restore',
  'program.expire',
  'program.rebuild',
  'member.create',
  'member.scan',
  'member.edit',
  'member.tag',
  'member.untag',
  'member.status',
  'member.push',
  'member.card-link',
  'member.erase',
  'member.export',
  'member.export-list',
  'member.export-timeline',
  'import.start',
  'import.export-errors',
  'import.export-known',
  'import.mail-cards',
  'campaign.send',
  'automatic.edit',
  'batch.cancel',
  'webhook.create',
  'webhook.edit',
  'webhook.delete',
  'webhook.rotate-secret',
  'webhook.revoke-secrets',
  'webhook.test',
  'webhook.replay',
  'delivery.replay',
] as const;

export type AuditAction = (typeof auditActions)[number];

export const auditAction = z.enum(auditActions);

export const auditChange = z.object({
  field: z.string(),
  from: z.unknown().optional(),
  to: z.unknown().optional(),
});

type Value = string | number | boolean | string[];

/** A value is absent where there is none, and where it is only named. */
export interface AuditChange {
  field: string;
  from?: Value;
  to?: Value;
}

export const auditItem = z.object({
  id: z.string(),
  createdAt: z.iso.datetime(),
  actor: actor.extend({ type: z.enum(['user', 'api-key', 'reader', 'operator']) }),
  action: auditAction,
  targetId: z
    .string()
    .describe(
      'of the key, user, role, reader, program, member, batch, subscription or delivery that was changed or downloaded',
    ),
  targetName: z
    .string()
    .optional()
    .describe('what the target is called now; absent when it has no name, is gone, or the caller may not view it'),
  fields: z.array(z.string()).optional().describe('the names of the fields of the request, without their values'),
  changes: z.array(auditChange).optional(),
  address: z
    .string()
    .nullable()
    .describe('the network from which the request came, as 203.0.113.0/24 or 2001:db8:7::/48; null for an operator'),
  requestId: z.string().nullable().describe('as in the header X-Request-Id; null for an operator'),
});
