// Text that no screen, log line or CSV cell can show is refused at every input.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { name, person, tag } from '../../../schemas/members/members.schema.js';
import { email } from '../../../schemas/shared/email.rules.js';
import { catalogues, languages } from '../../../schemas/shared/languages/index.js';
import {
  codeText,
  firstCharacters,
  isolated,
  plainText,
  readCode,
  text,
  trimmedText,
} from '../../../schemas/shared/text.js';

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

/** Characters without ink: blanks, format characters, fillers, marks without a letter. */
const unseen = fc.constantFrom(
  ...' \u00a0\u00ad\u034f\u061c\u115f\u180e\u2003\u200b\u200d\u200f\u2060\u2800\u3000\u3164\ufe0f\ufeff\uffa0\u0301',
);

describe('a text for people', () => {
  it('is refused when nothing of it is visible, and accepted with one visible character anywhere', () => {
    const blank = fc.array(unseen, { minLength: 1, maxLength: 9 }).map((characters) => characters.join(''));
    fc.assert(
      fc.property(blank, blank, fc.constantFrom('a', '木', '7', '😀', 'ש'), (before, after, seen) => {
        for (const field of [text(1, 50), text(0, 50), trimmedText(1, 50), name]) {
          expect(field.safeParse(before + after).success).toBe(false);
          expect(field.safeParse(before + seen + after).success).toBe(true);
        }
      }),
    );
  });

  it('is stored in one form, however its accents were written', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (value) => {
        const [one, other] = ['NFC', 'NFD'].map((form) => text(1, 100).safeParse(value.normalize(form)).data);
        expect(one).toBe(other);
      }),
    );
  });

  it('is measured in what a person counts as one character', () => {
    const family = '👨‍👩‍👧‍👦';
    for (const one of [family, 'e\u0301', '🇩🇪', 'ก็', 'x']) {
      expect(text(1, 5).safeParse(one.repeat(5)).success).toBe(true);
      expect(text(1, 5).safeParse(one.repeat(6)).success).toBe(false);
    }
    expect(name.safeParse(family.repeat(100)).success).toBe(true);
    expect(name.safeParse(family.repeat(101)).success).toBe(false);
  });

  it('has a bound even when one character of it has endless marks', () => {
    expect(name.safeParse(`a${'\u0316'.repeat(5_000)}`).success).toBe(false);
  });

  it('is cut between characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 30 }), fc.nat(30), (value, count) => {
        const characters = Array.from(new Intl.Segmenter('en').segment(value), ({ segment }) => segment);
        expect(firstCharacters(value, count)).toBe(characters.slice(0, count).join(''));
      }),
    );
  });
});

describe('a name', () => {
  it.each(['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069'])(
    'is refused with the bidirectional control %j',
    (control) => {
      for (const value of [`${control}Ada`, `A${control}da`, `Ada${control}`]) {
        expect(name.safeParse(value).success).toBe(false);
        expect(person.safeParse({ lastName: value }).success).toBe(false);
      }
    },
  );

  it('in a right-to-left script is isolated in every sentence, and one in another script stands as it is', () => {
    for (const language of languages) {
      const { card, join, mail } = catalogues[language];
      for (const sentence of [card.welcome, join.title, mail['card-link'].subject, mail['card-link'].why]) {
        expect(sentence('שרה כהן')).toContain('\u2068שרה כהן\u2069');
        expect(sentence('مقهى 7')).toContain('\u2068مقهى 7\u2069');
        expect(sentence('Ada')).not.toMatch(/[\u2066-\u2069]/);
      }
    }
  });

  it('that was stored with controls loses them in a sentence', () => {
    expect(isolated('Ada\u202e!')).toBe('Ada!');
    expect(isolated('שרה\u2069\u202e')).toBe('\u2068שרה\u2069');
  });
});

describe('a code', () => {
  const around = fc.array(fc.constantFrom(...' \t\r\n\u00a0\ufeff\u200b\u200e\u2028'), { maxLength: 4 });
  const wide = (code: string): string =>
    code.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));

  it('is read without line ends and blanks around it, and in full-width characters', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9A-Za-z-]{1,20}$/), around, around, (code, before, after) => {
        for (const written of [code, wide(code)])
          expect(codeText(64).parse(before.join('') + written + after.join(''))).toBe(code);
        expect(readCode(readCode(wide(code)))).toBe(code);
      }),
    );
  });

  it('is refused when it is empty, too long, or has a line end inside', () => {
    for (const wrong of ['', '\r\n', '\u200b', 'a\nb', 'x'.repeat(65)])
      expect(codeText(64).safeParse(wrong).success).toBe(false);
  });
});
