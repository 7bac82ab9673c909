import fc from 'fast-check';
import { expect, it } from 'vitest';
import { isReaderToken, newPairingCode, newReaderToken, pairingHash } from '../../../schemas/till/readers.schema.js';

it('makes pairing codes of eight letters that nobody reads as digits', () => {
  for (let made = 0; made < 500; made += 1) expect(newPairingCode()).toMatch(/^[A-HJ-NP-Z]{8}$/);
});

it('reads a pairing code as people type it', () => {
  const blank = fc.constantFrom('', ' ', '-', '\u00a0', '\u2011', ' - ');
  fc.assert(
    fc.property(fc.array(blank, { minLength: 8, maxLength: 8 }), fc.boolean(), (blanks, isLower) => {
      const code = newPairingCode();
      const typed = [...code].map((letter, index) => `${blanks[index]}${letter}`).join('');
      expect(pairingHash(isLower ? typed.toLowerCase() : `${typed}\r\n`)).toBe(pairingHash(code));
    }),
  );
  expect(pairingHash('ABCDEFGH')).not.toBe(pairingHash('ABCDEFGJ'));
});

it('makes tokens that no other credential looks like', () => {
  const { token, tokenHash } = newReaderToken();
  expect(isReaderToken(token)).toBe(true);
  expect(tokenHash).not.toContain(token.slice(4));
  expect(['lps_', '', 'lpr_x'].some((prefix) => isReaderToken(`${prefix}${token.slice(4)}`))).toBe(false);
});
