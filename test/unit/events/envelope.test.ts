// Every failure is answered in the envelope with a code of the table, and reveals no internals.
import {
  MongoNetworkError,
  MongoServerError,
  MongoServerSelectionError,
  MongoTopologyClosedError,
  type TopologyDescription,
} from 'mongodb';
import { describe, expect, it } from 'vitest';
import { failure, isOutage, success } from '../../../api/http/answer.js';
import { type ErrorCode, errorTable, ServiceError } from '../../../schemas/shared/errors.js';
import { catalogues } from '../../../schemas/shared/languages/index.js';

const noServer = new MongoServerSelectionError('connect ECONNREFUSED 127.0.0.1:27017', {} as TopologyDescription);

describe('a success', () => {
  it('is the data in its envelope, as bytes', () => {
    expect(success({ id: 'x' }).toString('utf8')).toBe('{"success":true,"data":{"id":"x"}}');
  });
});

const spoken = new Map<string, unknown>(Object.entries(catalogues.en.refusals));

describe('a failure', () => {
  it.each(Object.keys(errorTable) as ErrorCode[])(
    '%s has its own status and message, and a sentence for a cashier who meets it',
    (code) => {
      expect(failure(new ServiceError(code))).toEqual({
        status: errorTable[code].status,
        body: {
          success: false,
          error: { code, message: errorTable[code].message, ...(spoken.has(code) && { display: spoken.get(code) }) },
        },
      });
    },
  );

  it('shows details when there are some', () => {
    expect(failure(new ServiceError('CARD_NOT_FULL', { missing: 2 })).body.error.details).toEqual({ missing: 2 });
  });

  it('that is unexpected is INTERNAL, and its message reveals nothing', () => {
    for (const odd of [
      new Error('secret of the inside'),
      'a string',
      null,
      undefined,
      { message: 'x' },
      new MongoServerError({ message: 'E11000' }),
    ]) {
      expect(failure(odd)).toEqual({
        status: 500,
        body: {
          success: false,
          error: { code: 'INTERNAL', message: errorTable.INTERNAL.message, display: spoken.get('INTERNAL') },
        },
      });
    }
  });

  it('of the database is UNAVAILABLE', () => {
    const lost = new MongoNetworkError('socket hang up');
    const slow = new MongoTopologyClosedError('timed out');
    for (const outage of [noServer, lost, slow]) {
      expect(isOutage(outage)).toBe(true);
      expect(failure(outage)).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    }
    expect(isOutage(new Error('other'))).toBe(false);
  });
});
