// Scans at the till, which create the event pass.scanned (docs/interface.md#64-event-types).
import { z } from 'zod';
import { endpoint } from '../access/endpoint.schema.js';
import { memberWithProgram } from '../members/members.schema.js';
import { idText, scannedText } from '../shared/text.js';

export const scanEndpoints = {
  scanPass: endpoint('post', '/merchants/me/scans', {
    tag: 'Members',
    summary: 'Read a pass at the till',
    description:
      'Answers the member, in any status, with its program. `code` is the memberCode in any case, an externalId, or the serial number of a legacy pass. An externalId that members of several programs have needs `programId`. Emits `pass.scanned`.',
    access: 'merchants.members:edit',
    body: z.strictObject({ code: scannedText(64), programId: idText().optional() }),
    audit: { action: 'member.scan', writes: ['members'] },
    result: memberWithProgram,
    errors: ['MEMBER_NOT_FOUND'],
    example: { code: '7H2K9M4QXT' },
  }),
};
