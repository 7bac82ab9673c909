// Stored secrets are encrypted: only the operator's keys decrypt them, only in the place for which they were encrypted,
// and changed text is refused.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecretBox, type SecretBox } from '../../../platform/secretBox.js';
import { parseKeyRing } from '../../../schemas/shared/keyRing.rules.js';
import { sealUnbound } from '../../rig/standins/unboundSecret.js';

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const boxOf = (...bytes: number[]) => createSecretBox({ SECRETS_KEY: bytes.map(keyOf).join(',') });
const box = boxOf(1);
const secret = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 });
const place = { collection: 'subscriptions', id: 'a', field: 'secrets' };

describe('an encrypted secret', () => {
  it('decrypts to the original with the same key', () => {
    fc.assert(fc.property(secret, (text) => boxOf(1).open(box.seal(text, place), place) === text));
  });

  it('reveals nothing of the secret, and differs each time', () => {
    const sealed = box.seal('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', place);
    expect(sealed).not.toContain('MfKQ');
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('whsec');
    expect(box.seal('the same', place)).not.toBe(box.seal('the same', place));
  });

  it('is refused after a change of one character', () => {
    const sealed = box.seal('a secret worth keeping', place);
    fc.assert(
      fc.property(fc.nat({ max: sealed.length - 1 }), fc.constantFrom(...'Aa0_-.'), (at, other) => {
        const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
        const bytes = (text: string) => text.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'));
        // The last characters of base64 contain bits that belong to no byte.
        fc.pre(bytes(changed).join() !== bytes(sealed).join());
        expect(() => box.open(changed, place)).toThrow();
      }),
    );
  });

  it('is refused when it was cut', () => {
    const sealed = box.seal('a secret worth keeping', place);
    for (let length = 0; length < sealed.length - 1; length += 1)
      expect(() => box.open(sealed.slice(0, length), place)).toThrow();
  });

  it.each([{ id: 'b' }, { field: 'other' }, { collection: 'apiKeys' }])(
    'is refused in another place: %j',
    (elsewhere) => {
      expect(() => box.open(box.seal('a secret', place), { ...place, ...elsewhere })).toThrow();
    },
  );

  it('from before secrets were bound to a place decrypts, and needs re-encryption', () => {
    const old = sealUnbound('a secret of old', keyOf(1));
    expect(box.open(old, place)).toBe('a secret of old');
    expect(box.isCurrent(old)).toBe(false);
    expect(box.isCurrent(box.seal('a new one', place))).toBe(true);
  });
});

describe('a ring of keys', () => {
  it('encrypts with its first key, and decrypts with each', () => {
    const [before, during, after] = [boxOf(1), boxOf(2, 1), boxOf(2)];
    expect(during.open(before.seal('old', place), place)).toBe('old');
    expect(after.open(during.seal('new', place), place)).toBe('new');
    expect(() => before.open(during.seal('new', place), place)).toThrow(/which is not in SECRETS_KEY/);
    expect(() => after.open(before.seal('old', place), place)).toThrow(/which is not in SECRETS_KEY/);
  });

  it('also takes older keys from SECRETS_KEY_PREVIOUS', () => {
    const ring = createSecretBox({ SECRETS_KEY: keyOf(3), SECRETS_KEY_PREVIOUS: `${keyOf(2)},${keyOf(1)}` });
    for (const byte of [1, 2, 3]) expect(ring.open(boxOf(byte).seal('x', place), place)).toBe('x');
  });

  it('may name its keys; a name changes nothing that is stored', () => {
    const ring = createSecretBox({ SECRETS_KEY: `2026-11:${keyOf(2)}, first:${keyOf(1)}` });
    expect(boxOf(2).open(ring.seal('x', place), place)).toBe('x');
    expect(ring.open(boxOf(1).seal('y', place), place)).toBe('y');
  });

  it.each(['', 'short', `${keyOf(1)},`, `${keyOf(1)},${keyOf(1)}`, `a b:${keyOf(1)}`, `a:${keyOf(1)},b:${keyOf(1)}`])(
    'is not %j',
    (text) => {
      expect(() => parseKeyRing(text)).toThrow();
    },
  );

  it('decrypts everything after any sequence of rotations and reseals, wherever a reseal was killed', () => {
    interface Kept {
      id: string;
      text: string;
      sealed: string;
    }
    /** Re-encrypts like `npm run secrets -- reseal`, and is killed after some rows. */
    const reseal = (ring: SecretBox, rows: Kept[], rowsUntilKilled: number) => {
      const outdated = rows.filter(({ sealed }) => !ring.isCurrent(sealed));
      for (const row of outdated.slice(0, rowsUntilKilled))
        row.sealed = ring.seal(ring.open(row.sealed, { ...place, id: row.id }), { ...place, id: row.id });
    };
    const step = fc.oneof(
      fc.record({ kind: fc.constant('write' as const), text: secret, bound: fc.boolean() }),
      fc.record({ kind: fc.constant('rotate' as const) }),
      fc.record({ kind: fc.constant('reseal' as const), rowsUntilKilled: fc.nat({ max: 12 }) }),
      fc.record({ kind: fc.constant('drop unused keys' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let keys = [1];
        let made = 1;
        const rows: Kept[] = [];
        for (const [index, one] of steps.entries()) {
          const ring = boxOf(...keys);
          const [newest = 0] = keys;
          const id = `row ${index}`;
          if (one.kind === 'rotate') {
            made += 1;
            keys = [made, ...keys];
          } else if (one.kind === 'reseal') reseal(ring, rows, one.rowsUntilKilled);
          else if (one.kind === 'write') {
            const sealed = one.bound ? ring.seal(one.text, { ...place, id }) : sealUnbound(one.text, keyOf(newest));
            rows.push({ id, text: one.text, sealed });
          } else {
            const used = new Set(rows.map(({ sealed }) => ring.keyIdOf(sealed)));
            keys = keys.filter((byte) => byte === newest || used.has(parseKeyRing(keyOf(byte)).newest.id));
          }
          const now = boxOf(...keys);
          for (const row of rows) expect(now.open(row.sealed, { ...place, id: row.id })).toBe(row.text);
        }
        const last = boxOf(...keys);
        reseal(last, rows, Number.POSITIVE_INFINITY);
        const newestAlone = boxOf(keys[0] ?? 0);
        for (const row of rows) expect(newestAlone.open(row.sealed, { ...place, id: row.id })).toBe(row.text);
      }),
    );
  });
});
