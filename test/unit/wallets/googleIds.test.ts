// Ids of Google classes and objects: Google accepts them, and they decode to the same parts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  makeGoogleClassId,
  makeGoogleObjectId,
  parseGoogleObjectId,
} from '../../../schemas/wallets/google/googleIds.rules.js';

const issuer = '3388000000012345678';
const wellFormed = fc.string({ minLength: 1, unit: 'binary' }).filter((text) => text.isWellFormed());

describe('ids of Google classes and objects', () => {
  it('keep an ordinary id readable', () => {
    expect(makeGoogleClassId(issuer, 'demo-points')).toBe('3388000000012345678.program-demo-points');
    expect(makeGoogleObjectId(issuer, '1f0c9d54-2f8a-4e66-9b0a-0f4a5d3e7c11')).toBe(
      '3388000000012345678.member-1f0c9d54-2f8a-4e66-9b0a-0f4a5d3e7c11',
    );
  });

  it('contain nothing that Google refuses, and can be decoded', () => {
    fc.assert(
      fc.property(wellFormed, (id) => {
        const classId = makeGoogleClassId(issuer, id);
        const objectId = makeGoogleObjectId(issuer, id);
        expect(classId).toMatch(/^\d+\.[A-Za-z0-9._-]+$/);
        expect(objectId).toMatch(/^\d+\.[A-Za-z0-9._-]+$/);
        expect(parseGoogleObjectId(issuer, objectId)).toBe(id);
      }),
    );
  });

  it('differ when their parts differ', () => {
    fc.assert(
      fc.property(wellFormed, wellFormed, (one, other) => {
        fc.pre(one !== other);
        expect(makeGoogleObjectId(issuer, one)).not.toBe(makeGoogleObjectId(issuer, other));
        expect(makeGoogleClassId(issuer, one)).not.toBe(makeGoogleClassId(issuer, other));
      }),
    );
  });

  it('of another issuer, of the other kind or from elsewhere decode to nothing', () => {
    expect(parseGoogleObjectId(issuer, '3388000000099999999.member-a')).toBeNull();
    expect(parseGoogleObjectId(issuer, makeGoogleClassId(issuer, 'a'))).toBeNull();
    expect(parseGoogleObjectId(issuer, `${issuer}.member-`)).toBeNull();
    expect(parseGoogleObjectId(issuer, `${issuer}.member-a.41`)).toBeNull();
    expect(parseGoogleObjectId(issuer, `${issuer}.member-a.zz`)).toBeNull();
    expect(parseGoogleObjectId(issuer, `${issuer}.member-a.ff`)).toBeNull();
    expect(parseGoogleObjectId(issuer, `${issuer}.member-a%41`)).toBeNull();
  });

  it('from any source decode to parts that encode to the same id, or to nothing', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '.', '4', '1', 'f', '-', '%', 'é') }), (suffix) => {
        const id = `${issuer}.member-${suffix}`;
        const memberId = parseGoogleObjectId(issuer, id);
        if (memberId !== null) expect(makeGoogleObjectId(issuer, memberId)).toBe(id);
      }),
    );
  });
});
