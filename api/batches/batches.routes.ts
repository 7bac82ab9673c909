// Batches of every kind: progress, cancellation, and the rows of an import that made no member.

import { cancelBatch, readBatch } from '../../activities/batches/cancelBatch.writes.js';
import { canMailCards, cardMailsOf, mailsAll } from '../../activities/batches/cardMails.reads.js';
import type { Permission } from '../../schemas/access/permissions.schema.js';
import type { BatchRow } from '../../schemas/batches/batches.rows.js';
import type { BatchKind } from '../../schemas/batches/batches.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { campaignId } from '../../schemas/shared/ids.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { type Caller, requirePermission } from '../http/caller.reads.js';
import type { Routes } from '../http/request.js';
import { presentBatch } from './batch.view.js';
import { listBatches, repairsOf } from './batches.reads.js';
import { failedRowsCsv, knownRowsCsv } from './imports/rowsCsv.view.js';

const editPermission = {
  'members.import': 'merchants.members:edit',
  'passes.rebuild': 'merchants.members:edit',
  'cards.mail': 'merchants.members:edit',
  campaign: 'merchants.campaigns:edit',
  'webhooks.replay': 'merchants.campaigns:edit',
} as const satisfies Record<BatchKind, Permission>;

/** Throws PERMISSION_DENIED, CONSOLE_SESSION_REQUIRED. */
function requireMayCancel(caller: Caller, kind: BatchKind): void {
  requirePermission(caller, editPermission[kind]);
  if (kind === 'passes.rebuild' && caller.credential === 'api-key') throw new ServiceError('CONSOLE_SESSION_REQUIRED');
}

async function followedOf(deps: ApiDeps, { merchantId, rows }: { merchantId: string; rows: BatchRow[] }) {
  const mailable = rows.filter((row) => canMailCards(deps, row)).map(({ _id }) => _id);
  const [repaired, mailed] = await Promise.all([
    repairsOf(deps, { merchantId, rows }),
    cardMailsOf(deps, { merchantId, importIds: mailable }),
  ]);
  return ({ _id }: BatchRow) => {
    const mails = mailed.get(_id);
    const cardMails = mails && mailsAll(mails) ? ('started' as const) : ('possible' as const);
    return { repairedBy: repaired.get(_id), ...(mailable.includes(_id) && { cardMails }) };
  };
}

export const batchRoutes: Routes<'listBatches' | 'getBatch' | 'cancelBatch' | 'exportFailedRows' | 'exportKnownRows'> =
  {
    async listBatches({ deps, caller, query }) {
      const { page, pageSize } = query;
      const { items, total } = await listBatches(deps, { merchantId: caller.merchantId, ...query });
      const followed = await followedOf(deps, { merchantId: caller.merchantId, rows: items });
      const shown = items.map((row) => presentBatch(row, deps.now(), followed(row)));
      return { data: { items: shown, page, pageSize, total } };
    },

    async getBatch({ deps, caller, params }) {
      const { merchantId } = caller;
      const row = await readBatch(deps, { merchantId, batchId: params.id ?? '' });
      const followed = await followedOf(deps, { merchantId, rows: [row] });
      return { data: presentBatch(row, deps.now(), followed(row)) };
    },

    async cancelBatch({ deps, caller, params }) {
      const at = { merchantId: caller.merchantId, batchId: params.id ?? '' };
      const before = await readBatch(deps, at);
      requireMayCancel(caller, before.kind);
      const row = await cancelBatch(deps, at);
      if (before.phase === 'scheduled') await deps.workflowClient.cancel(campaignId(row._id));
      return { data: presentBatch(row, deps.now()) };
    },

    async exportFailedRows({ deps, caller, params, query }) {
      const row = await readBatch(deps, { merchantId: caller.merchantId, batchId: params.id ?? '' });
      return { stream: failedRowsCsv(deps, row, query.language), fileName: `errors-${row._id}.csv` };
    },

    async exportKnownRows({ deps, caller, params }) {
      const row = await readBatch(deps, { merchantId: caller.merchantId, batchId: params.id ?? '' });
      return { stream: knownRowsCsv(deps, row), fileName: `known-${row._id}.csv` };
    },
  };
