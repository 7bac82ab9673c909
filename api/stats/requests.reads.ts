// Reads the log of requests, and what followed from a request. All reads are bounded.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Deps } from '../../platform/deps.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { LedgerRow } from '../../schemas/points/points.rows.js';
import { passCreatedEventId, passUpdatedEventId } from '../../schemas/shared/ids.js';
import { platform as wallet } from '../../schemas/shared/passUpdate.schema.js';
import type { RequestRow } from '../../schemas/stats/stats.rows.js';
import type { DeviceRow } from '../../schemas/wallets/wallets.rows.js';
import type { DeliveryRow } from '../../schemas/webhooks/webhooks.rows.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { newestPage } from '../http/newestPage.reads.js';
import { readPage } from '../http/page.reads.js';

export interface ListRequests {
  merchantId: string;
  page: number;
  pageSize: number;
  since?: Date | undefined;
  memberId?: string | undefined;
  transactionId?: string | undefined;
}

export function listRequests(
  deps: Deps,
  { merchantId, page, pageSize, since, memberId, transactionId }: ListRequests,
): Promise<{ items: RequestRow[]; total: number }> {
  const { requests } = deps.collections;
  // The narrowest field first: the embedded engine reads by the first one that has an index.
  const where = {
    ...(memberId !== undefined && { memberId }),
    ...(transactionId !== undefined && { transactionId }),
    merchantId,
    ...(since && { createdAt: { $gte: since } }),
  };
  return readPage(deps, {
    page,
    pageSize,
    read: (skip) => newestPage(deps, requests, { where, skip, pageSize }),
    count: () => deps.countRows(requests, where),
  });
}

const most = { sameId: 1_000, deliveries: 100, devices: 50 };
/** How often another process's log is looked at again, and how long it takes to be written. */
const looks = 3;
const writtenAfterMs = 300;

/** The newest request with the id; waits until a request that was just answered is written. */
export async function findRequest(
  { collections, requestLog }: ApiDeps,
  where: { requestId: string; merchantId: string },
): Promise<{ row: RequestRow; sameId: number } | undefined> {
  await requestLog.flush();
  for (let look = 1; look <= looks; look += 1) {
    const row = await collections.requests.findOne(where, { sort: { createdAt: -1 } });
    if (row) return { row, sameId: await collections.requests.countDocuments(where, { limit: most.sameId }) };
    if (look < looks) await sleep(writtenAfterMs);
  }
  return undefined;
}

export interface Followed {
  entry: LedgerRow | null;
  event: EventRow | null;
  deliveries: DeliveryRow[];
  devices: DeviceRow[];
}

/** The events that the wallets accepted the passes of this one. */
const walletEventIds = ({ _id, type, memberId }: EventRow): string[] =>
  memberId === undefined
    ? []
    : wallet.options.map((platform) =>
        type === 'member.created' ? passCreatedEventId(memberId, platform) : passUpdatedEventId(_id, platform),
      );

export async function readFollowed(
  { collections: { ledger, events, deliveries, devices } }: Deps,
  { merchantId, memberId, transactionId, eventId }: RequestRow,
): Promise<Followed> {
  const entryId = transactionId ?? eventId;
  const ofMerchant = { merchantId, ...(memberId !== undefined && { memberId }) };
  const entry = entryId === undefined ? null : await ledger.findOne({ _id: entryId, ...ofMerchant });
  const mainId = eventId ?? entry?.eventId;
  if (mainId === undefined) return { entry, event: null, deliveries: [], devices: [] };
  const event = await events.findOne({ _id: mainId, merchantId }, { projection: { data: 0, envelope: 0 } });
  const eventIds = [mainId, ...(event ? walletEventIds(event) : [])];
  const [delivered, phones] = await Promise.all([
    deliveries
      .find({ eventId: { $in: eventIds }, merchantId })
      .sort({ createdAt: 1 })
      .limit(most.deliveries)
      .toArray(),
    memberId === undefined ? [] : devices.find({ memberId, merchantId }).limit(most.devices).toArray(),
  ]);
  return { entry, event, deliveries: delivered, devices: phones };
}
