// The log of requests as callers see it (docs/interface.md#412-requests).
import type { z } from 'zod';
import type { EventRow } from '../../schemas/events/events.rows.js';
import { shown } from '../../schemas/shared/answers.js';
import { relayOf } from '../../schemas/shared/ids.js';
import { listedRequest, type tracedRequest } from '../../schemas/stats/requests.schema.js';
import type { RequestRow } from '../../schemas/stats/stats.rows.js';
import type { DeviceRow } from '../../schemas/wallets/wallets.rows.js';
import { presentTransaction } from '../points/ledger.view.js';
import { presentDelivery } from '../webhooks/subscription.view.js';
import type { Followed } from './requests.reads.js';

type Traced = z.input<typeof tracedRequest>;

export const presentRequest = (row: RequestRow): z.input<typeof listedRequest> => shown(listedRequest, row);

const presentEvent = ({ _id: id, type, occurredAt, publishedAt, passUpdate }: EventRow): Traced['event'] => ({
  id,
  type,
  occurredAt: occurredAt.toISOString(),
  publishedAt: publishedAt?.toISOString() ?? null,
  passUpdate: passUpdate ?? null,
});

function workflowOf({ leaseOwner, state }: EventRow): Traced['workflow'] {
  const relay = relayOf(leaseOwner);
  if (relay !== undefined) return { kind: 'relay', id: relay };
  if (leaseOwner !== '') return { kind: 'own', id: leaseOwner };
  // The event of a test is published at once.
  return state === 'new' ? { kind: 'relay', id: null } : null;
}

/** What a phone did since then; what it did before is left out. */
function presentDevice({ _id: id, lastPush, lastListedAt, lastFetchedAt }: DeviceRow, since: Date) {
  const moment = (at: Date | undefined) => (at && at >= since ? at.toISOString() : null);
  const pushedAt = moment(lastPush?.at);
  return {
    id,
    pushedAt,
    pushStatus: pushedAt && lastPush ? lastPush.status : null,
    listedAt: moment(lastListedAt),
    fetchedAt: moment(lastFetchedAt),
  };
}

export function presentTrace(
  { row, sameId }: { row: RequestRow; sameId: number },
  { entry, event, deliveries, devices }: Followed,
): Traced {
  const askedAt = new Date(row.createdAt.getTime() - row.ms);
  return {
    ...presentRequest(row),
    query: (row.query as Traced['query']) ?? null,
    body: (row.body as Traced['body']) ?? null,
    isCut: row.isCut ?? false,
    idempotencyKey: row.idempotencyKey ?? null,
    isReplayed: row.isReplayed ?? false,
    sameId,
    transaction: entry && presentTransaction(entry),
    event: event && presentEvent(event),
    workflow: event && workflowOf(event),
    deliveries: deliveries.map((delivery) => {
      const { url: _url, payload: _payload, ...shown } = presentDelivery(delivery, undefined);
      return shown;
    }),
    devices: devices.map((device) => presentDevice(device, askedAt)),
  };
}
