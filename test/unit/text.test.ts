// Text that no screen, log line or CSV cell can show is refused at every input.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { email } from '../../schemas/email.js';
import { name, tag } from '../../schemas/members.js';
import { plainText, text, trimmedText } from '../../schemas/text.js';

const isPlainText = (value: string): boolean => plainText().safeParse(value).success;
const control = fc.oneof(
  fc.integer({ min: 0x00, max: 0x1f }),
  fc.integer({ min: 0x7f, max: 0x9f }),
  fc.constantFrom(0x2028, 0x2029),
);
const bad = fc.oneof(
  control.map((code) => String.fromCharCode(code)),
  fc.integer({ min: 0xd800, max: 0xdfff }).map((code) => String.fromCharCode(code)),
);
const plain = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter(isPlainText);

describe('plain text', () => {
  it('contains no control character and no half of a surrogate pair at any position', () => {
    fc.assert(
      fc.property(plain, bad, plain, (before, broken, after) => {
        expect(isPlainText(before + after)).toBe(true);
        expect(isPlainText(before + broken + after)).toBe(false);
        expect(isPlainText(broken + after)).toBe(false);
        expect(isPlainText(before + broken)).toBe(false);
      }),
    );
  });

  it('may be in any script, with emoji and zero-width joiners', () => {
    for (const good of ['Łódź', '王小明', 'ελληνικά', '👩‍👩‍👧', 'مرحبا', "O'Brien", '%@ points'])
      expect(isPlainText(good)).toBe(true);
  });
});

describe('a text field', () => {
  it('is measured in characters, with an emoji as one, at both limits', () => {
    expect(text(2, 4).safeParse('a').success).toBe(false);
    expect(text(2, 4).safeParse('ab').success).toBe(true);
    expect(text(2, 4).safeParse('😀').success).toBe(false);
    expect(text(2, 4).safeParse('😀😀😀😀').success).toBe(true);
    expect(text(2, 4).safeParse('😀😀😀😀a').success).toBe(false);
  });

  it('is trimmed before it is measured, if it is declared so', () => {
    expect(trimmedText(1, 3).parse('  abc ')).toBe('abc');
    expect(trimmedText(1, 3).safeParse('   ').success).toBe(false);
  });

  it('is refused with a control character, also where trimming would remove it', () => {
    for (const field of [trimmedText(1, 50), name, email, tag]) {
      for (const value of ['ada@example.com\n', '\tada@example.com', 'ada@example.com\u2028', 'ada@exam\nple.com'])
        expect(field.safeParse(value).success).toBe(false);
    }
  });
});
