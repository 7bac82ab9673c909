// Automatic messages of a program (docs/interface.md#49-campaigns).
import { z } from 'zod';
import { endpoint } from '../access/endpoint.schema.js';
import { automaticMessage, automaticMessagePatch } from './automaticMessages.schema.js';

const tag = 'Campaigns';
const path = '/merchants/me/programs/:id/automatic-messages';

export const automaticMessageEndpoints = {
  listAutomaticMessages: endpoint('get', path, {
    tag,
    summary: 'Automatic messages of a program, and whom each would reach',
    access: 'merchants.campaigns:view',
    result: z.array(automaticMessage),
    errors: ['PROGRAM_NOT_FOUND'],
  }),
  updateAutomaticMessage: endpoint('patch', path, {
    tag,
    summary: 'Change an automatic message',
    access: 'merchants.campaigns:create',
    audit: { action: 'automatic.edit', writes: ['automaticMessages'] },
    body: automaticMessagePatch,
    result: automaticMessage,
    errors: ['PROGRAM_NOT_FOUND'],
    example: { audience: 'away', on: false },
  }),
};
