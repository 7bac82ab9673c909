// Phone numbers: which notations are read, and what is stored of them.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Country, country, e164, phone, phoneDigits, samePhone } from '../../../schemas/shared/phone.rules.js';

const written = (given: string): string | undefined => phone.safeParse(given).data;

describe('a phone number', () => {
  it.each([
    ['(555) 010-1234', '(555) 010-1234'],
    ['(0607) 123 4567', '(0607) 123 4567'],
    ['+22 607 123 4567', '+22 607 123 4567'],
    ['+22 607 123 4567 ext. 876', '+22 607 123 4567 ext. 876'],
    ['020 7946 0018 x12', '020 7946 0018 x12'],
    ['(+49) 30 / 123456', '(+49) 30 / 123456'],
    ['[030] 123.456', '[030] 123.456'],
    ['tel:+44-20-7946-0018', '+44-20-7946-0018'],
    ['Tel. 030 123456', '030 123456'],
    ['\u202a+49\u00a030\u2011123456\u202c', '+49 30-123456'],
    ['\u200e(020)\u2009\u00a07946\u20120018\u200f', '(020) 7946-0018'],
    ['+49\u202f170\u2013555\u221212', '+49 170-555-12'],
    ['\uff0b\uff14\uff19 \uff08\uff10\uff09 \uff13\uff10 \uff11\uff12\uff13', '+49 (0) 30 123'],
    ['٠٥٥٥ ٠١٠ ١٢٣٤', '0555 010 1234'],
    ['+۹۸ ۲۱ ۵۵۵۰', '+98 21 5550'],
    ['०२२ १२३४', '022 1234'],
    ['110', '110'],
    ['030/1234-56', '030/1234-56'],
  ])('%j is read as %j', (given, read) => {
    expect(written(given)).toBe(read);
  });

  it.each(['', ' ', '12', 'call me', '++48', '0x12345', '123-', '555 1234, 555 1235', '12a34', '\u200e\u200e\u200e'])(
    '%j is none',
    (given) => {
      expect(written(given)).toBeUndefined();
    },
  );

  it('in plain characters is stored as it is given, with single spaces', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[+\d][\d ()./-]{1,30}\d$/), (given) => {
        expect(written(given)).toBe(given.replace(/ +/g, ' '));
      }),
    );
  });

  it('is read in the digits of every script', () => {
    const all = Array.from({ length: 0x110000 }, (_, code) => code)
      .filter((code) => code < 0xd800 || code > 0xdfff)
      .map((code) => String.fromCodePoint(code))
      .filter((character) => /\p{Nd}/u.test(character));
    const values = all.map((character) => written(`+1 ${character}`));
    expect(values).toEqual(all.map((_, index) => `+1 ${index % 10}`));
  });

  it('is the same whatever blanks, hyphens and invisible characters it is copied with', () => {
    const blanks = fc.constantFrom(' ', '\u00a0', '\u2007', '\u202f', '\u3000', ' \u2009');
    const hyphens = fc.constantFrom('-', '\u2010', '\u2011', '\u2013', '\u2212', '\uff0d');
    const marks = fc.constantFrom('', '\u200e', '\u200f', '\u202c', '\u2066', '\u2069', '\ufeff', '\u00ad');
    fc.assert(
      fc.property(fc.tuple(blanks, hyphens, marks, marks), ([blank, hyphen, before, within]) => {
        expect(written(`${before}+49${blank}${within}(0)${blank}30${hyphen}12${within}34${before}`)).toBe(
          '+49 (0) 30-1234',
        );
      }),
    );
  });

  it('that was stored is read again as it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 20 }), fc.nat(), (around, middle) => {
        const once = written(`${around}${middle}00`);
        if (once !== undefined) expect(written(once)).toBe(once);
      }),
    );
  });
});

describe('the international form of a phone number', () => {
  it.each<[string, Country | undefined, string | undefined]>([
    ['+44 (0)20 7946 0018', undefined, '+442079460018'],
    ['0044 20 7946 0018', undefined, '+442079460018'],
    ['(+44) 20 7946 0018 x12', 'DE', '+442079460018'],
    ['020 7946 0018', 'GB', '+442079460018'],
    ['2079460018', 'GB', '+442079460018'],
    ['011 44 20 7946 0018', 'US', '+442079460018'],
    ['(555) 010-1234', 'US', '+15550101234'],
    ['1-555-010-1234', 'US', '+15550101234'],
    ['06 1234 5678', 'IT', '+390612345678'],
    ['8 (912) 345-67-89', 'RU', '+79123456789'],
    ['11 15 1234-5678', 'AR', '+5491112345678'],
    ['1701234543', 'DE', '+491701234543'],
    ['020 7946 0018', undefined, undefined],
    ['7946 0018', 'GB', undefined],
    ['123456', 'DE', undefined],
    ['555-0101', 'US', undefined],
    ['110', 'DE', undefined],
    ['+49 1', undefined, undefined],
  ])('of %s, dialled in %s, is %s', (written, home, international) => {
    expect(e164(written, home)).toBe(international);
  });

  it('is the same for every number that has it already, in whichever country', () => {
    fc.assert(
      fc.property(
        fc.stringMatching(/^\+[1-9]\d{5,13}$/),
        fc.constantFrom(undefined, ...country.options),
        (given, home) => {
          const once = e164(given, home);
          if (once !== undefined) expect(e164(once)).toBe(once);
        },
      ),
    );
  });

  it('never fails, whatever the number and the country', () => {
    const numbers = fc.stringMatching(/^[([]?[+\d][\d ()[\]./~-]*\d$/);
    fc.assert(
      fc.property(numbers, numbers, fc.constantFrom(undefined, ...country.options), (one, other, home) => {
        expect(phoneDigits(one, home)[0]).toBe(one.replace(/\D/g, ''));
        expect(samePhone(one, one, home)).toBe(/\d/.test(one));
        expect(samePhone(one, other, home)).toBe(samePhone(other, one, home));
      }),
    );
  });
});

describe('two phone numbers', () => {
  const london = ['+44 20 7946 0018', '+44 (0)20 7946 0018', '0044 20 7946 0018', '020 7946 0018', '442079460018'];

  it.each(london.flatMap((one) => london.map((other) => [one, other] as const)))(
    '%s and %s are the same in their country',
    (one, other) => {
      expect(samePhone(one, other, 'GB')).toBe(true);
    },
  );

  it.each<[string, string, Country | undefined, boolean]>([
    ['+44 20 7946 0018', '020 7946 0018', undefined, true],
    ['020 7946 0018', '(020) 7946-0018', undefined, true],
    ['+44 20 7946 0018', '020 7946 0018', 'DE', false],
    ['+44 20 7946 0018', '+49 20 7946 0018', undefined, false],
    ['020 7946 0018', '+49 20 7946 0018', 'GB', false],
    ['020 7946 0018 x12', '+44 20 7946 0018 ext. 12', 'GB', true],
    ['020 7946 0018 x12', '+44 20 7946 0018', 'GB', false],
    ['7946 0018', '020 7946 0018', 'GB', false],
    ['', '', undefined, false],
  ])('%j and %j, dialled in %s, are the same: %s', (one, other, home, same) => {
    expect(samePhone(one, other, home)).toBe(same);
  });
});
