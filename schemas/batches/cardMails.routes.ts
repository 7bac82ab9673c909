// Mails to the people whom an import has made members: each gets the link to the card
// (docs/interface.md#48-imports-and-batches).
import { endpoint } from '../access/endpoint.schema.js';
import { batch, cardMails } from './batches.schema.js';

const tag = 'Batches';
const path = '/merchants/me/batches/:id/card-mails';
const errors = ['BATCH_NOT_FOUND', 'CARDS_NOT_MAILABLE'] as const;

export const cardMailEndpoints = {
  countCardMails: endpoint('get', path, {
    tag,
    summary: 'How many people of an import would get the link to their card by mail',
    access: 'merchants.members:view',
    result: cardMails,
    errors: [...errors],
  }),
  mailCards: endpoint('post', path, {
    tag,
    summary: 'Mail the people of an import the link to their card, each once',
    description:
      'To the members that the import created and that have an email, at the rate of the mails of its program. 202 with the batch that mails them; asked again, the same, or after one with `failed` people or a stop another for the rest. 503 UNAVAILABLE means that nothing is sent.',
    access: 'merchants.members:edit',
    audit: { action: 'import.mail-cards', writes: ['batches'], target: 'id' },
    result: batch,
    statuses: [202],
    errors: [...errors],
  }),
};
