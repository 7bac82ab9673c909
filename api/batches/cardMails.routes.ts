// Mails to the people whom an import has made members.
import { readBatch } from '../../activities/batches/cancelBatch.writes.js';
import { canMailCards, cardMailsOf, countCardMails, mailsAll } from '../../activities/batches/cardMails.reads.js';
import { startBatch } from '../../activities/batches/startBatch.effect.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import { isFinished } from '../../schemas/batches/batches.schema.js';
import type { cardMailEndpoints } from '../../schemas/batches/cardMails.routes.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { newId, requestKeyId } from '../../schemas/shared/ids.js';
import type { ApiDeps } from '../http/apiDeps.js';
import type { Routes } from '../http/request.js';
import { presentBatch } from './batch.view.js';

/** Throws BATCH_NOT_FOUND, and CARDS_NOT_MAILABLE when the list of its members is not kept any more. */
async function importAt(deps: ApiDeps, at: { merchantId: string; batchId: string }): Promise<BatchRow> {
  const batch = await readBatch(deps, at);
  if (batch.kind !== 'members.import') throw new ServiceError('BATCH_NOT_FOUND');
  if (isFinished(batch.phase) && batch.rowsUntil === undefined) throw new ServiceError('CARDS_NOT_MAILABLE');
  return batch;
}

export const cardMailRoutes: Routes<keyof typeof cardMailEndpoints> = {
  async countCardMails({ deps, caller: { merchantId }, params }) {
    const batch = await importAt(deps, { merchantId, batchId: params.id ?? '' });
    const counted = await countCardMails(deps, batch);
    const minutes = Math.ceil(counted.people / deps.config.MAIL_PER_PROGRAM_A_MINUTE);
    return { data: { ...counted, minutes } };
  },

  async mailCards({ deps, caller, params }) {
    const { merchantId, actor: startedBy } = caller;
    const batch = await importAt(deps, { merchantId, batchId: params.id ?? '' });
    if (!canMailCards(deps, batch)) throw new ServiceError('CARDS_NOT_MAILABLE');
    const { _id: mailsCardsOf, programId } = batch;
    const earlier = (await cardMailsOf(deps, { merchantId, importIds: [mailsCardsOf] })).get(mailsCardsOf);
    const now = deps.now();
    const row =
      earlier && mailsAll(earlier)
        ? earlier
        : await startBatch(deps, {
            batch: {
              ...{ _id: newId(), merchantId, kind: 'cards.mail', startedBy, mailsCardsOf },
              ...(programId !== undefined && { programId }),
            },
            summary: `cards by mail to the people of import ${mailsCardsOf}`,
            // Of two requests at the same time, the second gets the batch of the first.
            key: {
              id: requestKeyId('card-mails', merchantId, `${mailsCardsOf}:${earlier?._id ?? ''}`),
              ...{ merchantId, fingerprint: mailsCardsOf, now, acceptedSince: new Date(0) },
            },
          });
    return { status: 202, data: presentBatch(row, now) };
  },
};
