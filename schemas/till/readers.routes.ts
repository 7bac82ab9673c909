// Endpoints: docs/interface.md#411-till.

import { z } from 'zod';
import { endpoint, pageOf, paging } from '../access/endpoint.schema.js';
import { pairingAnswer, reader, readerPatch, readerRequest, readerWithCode } from './readers.schema.js';

const tag = 'Till';
const access = 'readers:edit';
const one = '/merchants/me/readers/:id';

export const readerEndpoints = {
  createReader: endpoint('post', '/merchants/me/readers', {
    tag,
    summary: 'Create a reader: the device of a till',
    description:
      'The pairing code is in this answer and nowhere else. The device exchanges it at `POST /till/pair` for a token that can do nothing but scan, earn, redeem and undo. A `lookupBy` that is not empty also needs `merchants.members:view`.',
    access,
    alsoAccess: 'till:use',
    audit: { action: 'reader.create', writes: ['readers'] },
    body: readerRequest,
    result: readerWithCode,
    statuses: [201],
    errors: ['PROGRAM_NOT_FOUND', 'READER_LIMIT_REACHED'],
    example: { name: 'Terrace till', location: 'Terrace' },
  }),
  listReaders: endpoint('get', '/merchants/me/readers', {
    tag,
    summary: 'List readers, newest first, with the taps that are missing',
    description: 'Revoked readers are listed for 30 days.',
    access,
    query: paging,
    result: pageOf(reader),
  }),
  updateReader: endpoint('patch', one, {
    tag,
    summary: 'Change a reader',
    description: 'A `lookupBy` that is not empty also needs `merchants.members:view`.',
    access,
    audit: { action: 'reader.edit', writes: ['readers'] },
    body: readerPatch,
    result: reader,
    errors: ['READER_NOT_FOUND', 'PROGRAM_NOT_FOUND'],
    example: { name: 'Bar till' },
  }),
  pairReader: endpoint('post', `${one}/pairing`, {
    tag,
    summary: 'Make a new pairing code for another device',
    description: 'The device that is paired works until the code is used.',
    access,
    alsoAccess: 'till:use',
    audit: { action: 'reader.code', writes: ['readers'] },
    result: pairingAnswer,
    statuses: [201],
    errors: ['READER_NOT_FOUND'],
  }),
  revokeReader: endpoint('delete', one, {
    tag,
    summary: 'Revoke a reader; new requests of its device fail at once',
    access,
    audit: { action: 'reader.revoke', writes: ['readers'] },
    result: z.object({ id: z.string(), revoked: z.literal(true) }),
    errors: ['READER_NOT_FOUND'],
  }),
};
