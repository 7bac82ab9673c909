// The log of requests (docs/interface.md#412-requests).
import { z } from 'zod';
import { endpoint, page, pageOf, pageSize } from '../access/endpoint.schema.js';
import { moment } from '../shared/calendar.rules.js';
import { idText } from '../shared/text.js';
import { listedRequest, tracedRequest } from './requests.schema.js';

export const requestsPath = '/merchants/me/requests';

export const requestEndpoints = {
  listRequests: endpoint('get', requestsPath, {
    tag: 'Overview',
    summary: 'Requests and their answers, newest first',
    description:
      'Kept for 7 days, the newest 50,000 of a merchant: every write and every refusal, and successful reads with an API key or a reader up to a rate. Written in the background, so a request appears within a second.',
    access: 'merchants.members:view',
    query: z.strictObject({
      page,
      pageSize,
      since: moment.optional().describe('answered then or later'),
      memberId: idText().optional(),
      transactionId: idText(256).optional().describe('the requests that made this ledger entry, or repeated it'),
    }),
    result: pageOf(listedRequest),
  }),
  readRequest: endpoint('get', `${requestsPath}/:requestId`, {
    tag: 'Overview',
    summary: 'One request, and what followed from it',
    description:
      'By the X-Request-Id of its answer; of several with the same id, the newest. What followed is read when asked: the ledger entry, the event, the workflow or the relay, the deliveries with their attempts, and what the phones did.',
    access: 'merchants.members:view',
    result: tracedRequest,
    errors: ['REQUEST_NOT_FOUND'],
  }),
};
