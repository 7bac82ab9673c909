// The log of requests in answers (docs/interface.md#412-requests).
import { z } from 'zod';
import { actor } from '../access/actor.schema.js';
import { transaction } from '../points/ledger.schema.js';
import { passUpdate } from '../shared/passUpdate.schema.js';
import { delivery } from '../webhooks/webhooks.schema.js';

const moment = z.iso.datetime();

export const listedRequest = z.object({
  requestId: z.string(),
  createdAt: moment.describe('when it was answered'),
  ms: z.int().describe('milliseconds until the answer'),
  method: z.string(),
  path: z.string(),
  status: z.int(),
  errorCode: z.string().nullable(),
  actor,
  memberId: z.string().nullable(),
});

const masked = z.record(z.string(), z.unknown()).nullable();

const device = z.object({
  id: z.string().describe('of the registration'),
  pushedAt: moment.nullable(),
  pushStatus: z.int().nullable().describe('what Apple answered; 200 means accepted'),
  listedAt: moment.nullable().describe('when it last asked which passes are new'),
  fetchedAt: moment.nullable().describe('when it last fetched the pass'),
});

export const tracedRequest = listedRequest.extend({
  query: masked.describe('masked'),
  body: masked.describe('masked: texts are shown in fields that hold neither personal data nor secrets'),
  isCut: z.boolean().describe('query and body are shown in part'),
  idempotencyKey: z.string().nullable(),
  isReplayed: z.boolean().describe('the answer was that of an earlier request with the key'),
  sameId: z.int().describe('how many kept requests have this id; this is the newest'),
  transaction: transaction.nullable().describe('the ledger entry'),
  event: z
    .object({
      id: z.string(),
      type: z.string(),
      occurredAt: moment,
      publishedAt: moment.nullable().describe('null: it waits'),
      passUpdate: passUpdate.nullable().describe('null: no wallet was told, or the result is not known yet'),
    })
    .nullable(),
  workflow: z
    .object({
      kind: z.enum(['own', 'relay']).describe('a workflow of this change, or the relay, which takes many events'),
      id: z.string().nullable().describe('null: the relay has not taken it yet'),
    })
    .nullable()
    .describe('what processes or processed the event'),
  deliveries: z
    .array(delivery.omit({ url: true, payload: true }))
    .describe('of the event, and of the events that the wallets accepted it; the first 100'),
  devices: z.array(device).describe('the phones with the pass, up to 50, and what they did since the request'),
});
