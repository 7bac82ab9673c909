// The pass doctor: why a pass does, or does not, show the current data.

import { endpoint } from '../access/endpoint.schema.js';
import { passReport } from './passReport.schema.js';

export const passEndpoints = {
  examinePass: endpoint('get', '/merchants/me/members/:id/pass', {
    tag: 'Members',
    summary: "Examine a member's pass",
    description:
      'For both wallets the mode and why; the certificates; for each phone what was pushed, listed and fetched, and how long that took; the errors that phones logged; and a description of each problem.',
    access: 'merchants.members:view',
    result: passReport,
    errors: ['MEMBER_NOT_FOUND'],
  }),
};
