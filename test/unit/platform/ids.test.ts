// Ids with a meaning are built in one file.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isApiKey, newApiKey } from '../../../schemas/access/apiKeys.schema.js';
import type { Endpoint } from '../../../schemas/access/endpoint.schema.js';
import { enrollRequest } from '../../../schemas/members/members.schema.js';
import { keyedOperations } from '../../../schemas/points/ledger.schema.js';
import {
  changeId,
  deliveryWorkflowId,
  derivedId,
  enrollId,
  isUuid,
  keyedChangeId,
  lowerUuid,
  newId,
  newMemberCode,
  newToken,
  relayId,
  sha256,
} from '../../../schemas/shared/ids.js';
import { endpoints } from '../../../schemas/tables/endpoints.js';

const key = fc.stringMatching(/^[A-Za-z0-9_-]{8,128}$/);
const operation = fc.constantFrom(...keyedOperations);
const id = fc.uuid();
const sample = <T>(make: () => T, count = 2_000): T[] => Array.from({ length: count }, make);

describe('the id of a change', () => {
  it('contains operation, member and key', () => {
    expect(keyedChangeId('points', 'm', 'order-1')).toBe('points:m:order-1');
  });

  it('differs for another operation, member or key', () => {
    fc.assert(
      fc.property(fc.tuple(operation, id, key), fc.tuple(operation, id, key), (one, other) => {
        const same = one.every((part, index) => part === other[index]);
        expect(keyedChangeId(...one) === keyedChangeId(...other)).toBe(same);
      }),
    );
  });
});

describe('the workflow id of a delivery', () => {
  it('contains event, subscription and the suffix of a replay', () => {
    expect(deliveryWorkflowId('e', 's')).toBe('delivery:e:s');
    expect(deliveryWorkflowId('e', 's', 'r')).toBe('delivery:e:s:r');
  });
});

describe('workflow ids', () => {
  it('start with their kind and end with the business key', () => {
    expect(enrollId('m')).toBe('enroll:m');
    expect(changeId('status', 'm', 'e')).toBe('status:m:e');
    expect(relayId(3)).toBe('relay:3');
  });
});

describe('a derived id', () => {
  const parts = fc.array(
    fc.string().filter((part) => !part.includes('\n')),
    { minLength: 1, maxLength: 4 },
  );

  it('is a UUID that depends on its parts only', () => {
    fc.assert(
      fc.property(parts, parts, (one, other) => {
        expect(isUuid(derivedId(...one))).toBe(true);
        expect(derivedId(...one)).toBe(derivedId(...one));
        const same = one.length === other.length && one.every((part, index) => part === other[index]);
        expect(derivedId(...one) === derivedId(...other)).toBe(same);
      }),
    );
  });

  it('keeps the value that is stored in existing databases', () => {
    expect(derivedId('delivery', 'event', 'subscription')).toBe('6bd79798-66d9-877a-8ca1-b0faaa2cf31a');
  });
});

describe('a member code', () => {
  it('is ten characters of an alphabet without I, L, O and U', () => {
    for (const code of sample(newMemberCode)) expect(code).toMatch(/^[0123456789ABCDEFGHJKMNPQRSTVWXYZ]{10}$/);
  });

  it('uses the whole alphabet, and has no repetition in thousands', () => {
    const codes = sample(newMemberCode);
    expect(new Set(codes).size).toBe(codes.length);
    expect(new Set(codes.join('')).size).toBe(32);
  });
});

describe('random ids and tokens', () => {
  it('are UUIDs, and tokens of at least 128 bits that need no escaping in a URL', () => {
    for (const one of sample(newId, 200)) expect(isUuid(one)).toBe(true);
    for (const token of sample(() => newToken(), 200)) expect(token).toMatch(/^[A-Za-z0-9_-]{32}$/);
    expect(newToken(16)).toMatch(/^[A-Za-z0-9_-]{22}$/);
  });

  it('begin and end in a letter or a digit, so that commands and mail programs take the whole of one', () => {
    for (const bytes of [3, 4, 8, 9, 12, 24, 32])
      for (const token of sample(() => newToken(bytes))) expect(token).toMatch(/^[A-Za-z0-9].*[A-Za-z0-9]$/);
  });

  it('accept a UUID in lower case and nothing else', () => {
    const one = newId();
    for (const other of [
      one.toUpperCase(),
      `${one} `,
      ` ${one}`,
      `${one}\n`,
      one.slice(1),
      one.replaceAll('-', ''),
      '',
    ])
      expect(isUuid(other)).toBe(false);
    fc.assert(fc.property(fc.string(), (text) => !isUuid(text)));
  });
});

describe('a UUID from a caller', () => {
  const anyCase = fc
    .tuple(fc.uuid(), fc.array(fc.boolean(), { minLength: 36, maxLength: 36 }))
    .map(([uuid, upper]) => ({
      uuid,
      written: [...uuid].map((letter, at) => (upper[at] ? letter.toUpperCase() : letter)).join(''),
    }));
  const inputs = Object.values<Endpoint>(endpoints).flatMap(({ query, body }) => [query, body]);
  const shapes = inputs.filter((schema) => schema instanceof z.ZodObject).map(({ shape }) => shape);
  const ids = shapes.flatMap((shape) => Object.entries(shape).filter(([name]) => /Ids?$|^repairs$/.test(name)));
  const stored = ids.filter(([name]) => !['externalId', 'rewardId', 'merchantId'].includes(name));

  it('is read in any case, and other text stays as it is', () => {
    fc.assert(fc.property(anyCase, ({ uuid, written }) => lowerUuid(written) === uuid));
    fc.assert(fc.property(fc.string(), (text) => lowerUuid(`${text}X`) === `${text}X`));
    for (const name of ['Program-A', `${newId().toUpperCase()}-A`, newId().toUpperCase().replaceAll('-', '')])
      expect(lowerUuid(name)).toBe(name);
  });

  it('is in lower case in every id of a query and a body', () => {
    expect(stored.length).toBeGreaterThan(8);
    for (const [name, schema] of stored) {
      const one = newId();
      const [given, read] = name.endsWith('Ids') ? [[one.toUpperCase()], [one]] : [one.toUpperCase(), one];
      expect({ [name]: z.parse(schema, given) }).toEqual({ [name]: read });
    }
  });

  it("stays in capitals in the number of a person's card", () => {
    const externalId = newId().toUpperCase();
    expect(enrollRequest.parse({ programId: 'one', externalId }).externalId).toBe(externalId);
  });
});

describe('an API key', () => {
  it('is lps_ and 43 URL-safe characters; its prefix is its first twelve and its hash is of the whole', () => {
    for (const { key: secret, keyPrefix, hash } of sample(newApiKey, 200)) {
      expect(secret).toMatch(/^lps_[A-Za-z0-9_-]{43}$/);
      expect(isApiKey(secret)).toBe(true);
      expect(keyPrefix).toBe(secret.slice(0, 12));
      expect(hash).toBe(sha256(secret));
    }
  });

  it('is recognised by its form only', () => {
    const { key: secret } = newApiKey();
    for (const other of [`${secret}x`, secret.slice(0, -1), `LPS_${secret.slice(4)}`, `${secret}\n`, ''])
      expect(isApiKey(other)).toBe(false);
  });
});
