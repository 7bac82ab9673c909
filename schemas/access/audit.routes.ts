// The audit (docs/interface.md#410-overview-and-audit).
import { z } from 'zod';
import { moment } from '../shared/calendar.rules.js';
import { idText, text } from '../shared/text.js';
import { auditAction, auditItem } from './audit.schema.js';
import { endpoint, page, pageOf, pageSize } from './endpoint.schema.js';

export const auditEndpoints = {
  readAudit: endpoint('get', '/merchants/me/audit', {
    tag: 'Overview',
    summary: 'Who changed what, newest first',
    description:
      'One entry for each change by a user, a key, a reader or an operator, written in the transaction of the change and kept for 400 days. Changes of balances are in the ledger of the member instead.',
    access: 'audit:view',
    query: z.strictObject({
      page,
      pageSize,
      actor: text(1, 128).optional().describe('the id of the user, key or reader, or `operator`'),
      action: auditAction.optional(),
      targetId: idText(128).optional(),
      since: moment.optional(),
    }),
    result: pageOf(auditItem),
  }),
};
