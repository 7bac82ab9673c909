// Stored secrets are encrypted: only the operator's keys decrypt them, and changed text is refused.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecretBox } from '../../platform/secretBox.js';

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const box = createSecretBox([keyOf(1)]);
const secret = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 128 });

describe('an encrypted secret', () => {
  it('decrypts to the original with the same key', () => {
    fc.assert(fc.property(secret, (text) => createSecretBox([keyOf(1)]).open(box.seal(text)) === text));
  });

  it('reveals nothing of the secret, and differs each time', () => {
    const sealed = box.seal('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    expect(sealed).not.toContain('MfKQ');
    expect(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1')).not.toContain('whsec');
    expect(box.seal('the same')).not.toBe(box.seal('the same'));
  });

  it('is refused after a change of one character', () => {
    const sealed = box.seal('a secret worth keeping');
    fc.assert(
      fc.property(fc.nat({ max: sealed.length - 1 }), fc.constantFrom(...'Aa0_-.'), (at, other) => {
        const changed = sealed.slice(0, at) + other + sealed.slice(at + 1);
        const bytes = (text: string) => text.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex'));
        // The last characters of base64 contain bits that belong to no byte.
        fc.pre(bytes(changed).join() !== bytes(sealed).join());
        expect(() => box.open(changed)).toThrow();
      }),
    );
  });

  it('is refused when it was cut', () => {
    const sealed = box.seal('a secret worth keeping');
    for (let length = 0; length < sealed.length - 1; length += 1)
      expect(() => box.open(sealed.slice(0, length))).toThrow();
  });
});

describe('rotation of the key', () => {
  it('decrypts with the previous key, and encrypts with the new one', () => {
    const before = createSecretBox([keyOf(1)]);
    const during = createSecretBox([keyOf(2), keyOf(1)]);
    const after = createSecretBox([keyOf(2), undefined]);
    expect(during.open(before.seal('old'))).toBe('old');
    expect(after.open(during.seal('new'))).toBe('new');
    expect(() => before.open(during.seal('new'))).toThrow(/neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS/);
    expect(() => after.open(before.seal('old'))).toThrow(/neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS/);
  });

  it('needs a newest key', () => {
    expect(() => createSecretBox([undefined])).toThrow('A secret box needs a key.');
  });
});
