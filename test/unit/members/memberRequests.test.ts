// Requests about members (docs/interface.md, sections 2.3, 2.4 and 4.3): exact limits, and unknown fields are refused.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  enrollRequest,
  memberPatch,
  statusRequest,
  tag,
  tagsRequest,
} from '../../../schemas/members/members.schema.js';
import { pointsRequest, redeemRequest } from '../../../schemas/points/changes.schema.js';

const accepts = (schema: { safeParse: (value: unknown) => { success: boolean } }, value: unknown) =>
  schema.safeParse(value).success;

describe('a points request', () => {
  it('has exactly one of delta and value', () => {
    expect(accepts(pointsRequest, { delta: 1 })).toBe(true);
    expect(accepts(pointsRequest, { value: 1 })).toBe(true);
    expect(accepts(pointsRequest, { delta: 1, value: 1 })).toBe(false);
    expect(accepts(pointsRequest, {})).toBe(false);
    expect(accepts(pointsRequest, { changeMessage: 'x' })).toBe(false);
    expect(accepts(pointsRequest, { delta: 1, value: null })).toBe(false);
  });

  it('accepts integers within a billion, and value from 0', () => {
    fc.assert(
      fc.property(fc.oneof(fc.integer(), fc.double(), fc.maxSafeInteger()), (number) => {
        const whole = Number.isInteger(number) && Math.abs(number) <= 1_000_000_000;
        expect(accepts(pointsRequest, { delta: number })).toBe(whole);
        expect(accepts(pointsRequest, { value: number })).toBe(whole && number >= 0);
      }),
    );
    for (const edge of [1_000_000_000, -1_000_000_000]) expect(accepts(pointsRequest, { delta: edge })).toBe(true);
    for (const over of [1_000_000_001, -1_000_000_001, 2 ** 53, Number.POSITIVE_INFINITY, Number.NaN, 0.5])
      expect(accepts(pointsRequest, { delta: over })).toBe(false);
    for (const other of ['1', '', true, null, [1], { $inc: 1 }])
      expect(accepts(pointsRequest, { delta: other })).toBe(false);
  });

  it('accepts a message of 200 characters and refuses 201', () => {
    for (const schema of [pointsRequest, redeemRequest]) {
      const body = schema === pointsRequest ? { delta: 1 } : {};
      expect(accepts(schema, { ...body, changeMessage: 'x'.repeat(200) })).toBe(true);
      expect(accepts(schema, { ...body, changeMessage: '😀'.repeat(200) })).toBe(true);
      expect(accepts(schema, { ...body, changeMessage: 'x'.repeat(201) })).toBe(false);
    }
  });
});

describe('a redeem request', () => {
  it('may be absent or empty, and nothing else', () => {
    expect(accepts(redeemRequest, undefined)).toBe(true);
    expect(accepts(redeemRequest, {})).toBe(true);
    for (const other of [null, [], 'x', { delta: 1 }]) expect(accepts(redeemRequest, other)).toBe(false);
  });
});

describe('an enroll request', () => {
  it('needs a program and nothing else', () => {
    expect(accepts(enrollRequest, { programId: 'p' })).toBe(true);
    for (const other of [
      {},
      { programId: '' },
      { programId: null },
      { programId: { $ne: '' } },
      { programId: 'x'.repeat(65) },
    ])
      expect(accepts(enrollRequest, other)).toBe(false);
  });

  it('stores an email trimmed and in lower case, and refuses an invalid one', () => {
    expect(enrollRequest.parse({ programId: 'p', email: '  Ada@Example.COM ' }).email).toBe('ada@example.com');
    for (const email of [
      '',
      'ada',
      'ada@',
      '@example.com',
      'a b@example.com',
      `${'a'.repeat(250)}@example.com`,
      'ada@example.com,bob@example.com',
      null,
    ])
      expect(accepts(enrollRequest, { programId: 'p', email })).toBe(false);
  });

  it('accepts initial points from 0 to a billion', () => {
    for (const initialPoints of [0, 1, 1_000_000_000])
      expect(accepts(enrollRequest, { programId: 'p', initialPoints })).toBe(true);
    for (const initialPoints of [-1, 1.5, '5', 1_000_000_001, null])
      expect(accepts(enrollRequest, { programId: 'p', initialPoints })).toBe(false);
  });

  it('refuses unknown fields, including those of a prototype', () => {
    for (const field of ['status', 'tags', 'id', 'merchantId', 'constructor', 'toString', '$set', 'first.name'])
      expect(accepts(enrollRequest, { programId: 'p', [field]: 'x' })).toBe(false);
    expect(accepts(enrollRequest, JSON.parse('{"programId":"p","__proto__":{"isAdmin":true}}'))).toBe(false);
  });
});

describe('a change of a member', () => {
  it('changes at least one field; null removes it', () => {
    expect(accepts(memberPatch, {})).toBe(false);
    expect(accepts(memberPatch, { firstName: null })).toBe(true);
    expect(accepts(memberPatch, { phone: '+48 600 100 200' })).toBe(true);
    for (const phone of ['12', 'call me', '++48', '0x12345', '123-'])
      expect(accepts(memberPatch, { phone })).toBe(false);
    expect(accepts(memberPatch, { balance: 5 })).toBe(false);
  });
});

describe('a status request', () => {
  it('has one of the three statuses', () => {
    for (const status of ['active', 'voided', 'expired']) expect(accepts(statusRequest, { status })).toBe(true);
    for (const status of ['Active', '', null, 'deleted', ['active'], { $ne: 'active' }])
      expect(accepts(statusRequest, { status })).toBe(false);
    expect(accepts(statusRequest, { status: 'active', reason: 'x'.repeat(501) })).toBe(false);
  });
});

describe('tags', () => {
  it('are trimmed, in lower case and with single spaces, so that stored tags need no further normalisation', () => {
    expect(tag.parse('  Early   Bird ')).toBe('early bird');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 80 }), (given) => {
        const parsed = tag.safeParse(given);
        if (!parsed.success) return;
        expect(tag.parse(parsed.data)).toBe(parsed.data);
        expect(parsed.data).not.toMatch(/^\s|\s$|\s\s/);
        expect(parsed.data.length).toBeGreaterThan(0);
      }),
    );
  });

  it('are 1 to 25 in one request, of 1 to 50 characters', () => {
    expect(accepts(tagsRequest, { tags: [] })).toBe(false);
    expect(accepts(tagsRequest, { tags: ['   '] })).toBe(false);
    expect(accepts(tagsRequest, { tags: Array.from({ length: 25 }, (_, each) => `tag ${each}`) })).toBe(true);
    expect(accepts(tagsRequest, { tags: Array.from({ length: 26 }, (_, each) => `tag ${each}`) })).toBe(false);
    expect(accepts(tagsRequest, { tags: ['x'.repeat(50)] })).toBe(true);
    expect(accepts(tagsRequest, { tags: ['x'.repeat(51)] })).toBe(false);
    expect(accepts(tagsRequest, { tags: 'vip' })).toBe(false);
  });
});
