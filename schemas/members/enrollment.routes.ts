// Endpoints: docs/interface.md#47-public-enrollment.

import { endpoint } from '../access/endpoint.schema.js';
import { publicEnrollment, publicEnrollRequest } from './enrollment.schema.js';

export const publicEndpoints = {
  enrollPublicly: endpoint('post', '/enroll/:slug/submit', {
    tag: 'Public',
    summary: 'Join a program',
    description:
      '201 with the links of the new pass, which are good also while its wallets have not confirmed it yet. 201 with `success: false`, `partial: true` and PASS_ISSUANCE_FAILED when a wallet refused it; it is retried. 200 with `deduped: true`, and nothing of the member, when the email is known. Unknown fields are ignored; `utm_*` and `ref` are kept as attribution. A program with a consent text also needs `consent`: true. Where mail is set up, the link to the card is mailed in both cases. A program that is not open to the public is not found. A program with `enrollment.confirmEmail` answers 202 with `confirm: true` in every case, and the mailed link leads to the card.',
    access: 'public',
    audit: { not: 'has no actor of the merchant' },
    form: true,
    body: publicEnrollRequest,
    result: publicEnrollment,
    statuses: [201, 200, 202],
    errors: ['PROGRAM_NOT_FOUND', 'PROGRAM_ARCHIVED', 'PASS_ISSUANCE_FAILED'],
    example: { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com', utm_source: 'newsletter' },
  }),
};
