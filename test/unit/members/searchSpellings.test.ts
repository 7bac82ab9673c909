// A member is found in whichever way the name, the number or the code is written, and no other member is.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hasWords, readQuery, searchWords } from '../../../schemas/members/searchWords.rules.js';
import { digits } from '../../../schemas/members/spellings.rules.js';

type Person = Partial<Parameters<typeof searchWords>[0]>;

const finds = (q: string, { memberCode = '7H2K9M4QXT', ...person }: Person): boolean =>
  readQuery(q).some((words) => hasWords(searchWords({ memberCode, ...person }), words));

/** In which ways a letter is written. */
const spellings: Record<string, string[]> = {
  ...{ ä: ['ä', 'Ä', 'a\u0308', 'ae', 'a'], ö: ['ö', 'Ö', 'o\u0308', 'oe', 'o'], ü: ['ü', 'Ü', 'u\u0308', 'ue', 'u'] },
  ...{
    ß: ['ß', 'ss', 'SS', 'ẞ'],
    ø: ['ø', 'Ø', 'oe', 'o'],
    å: ['å', 'Å', 'aa', 'a'],
    ł: ['ł', 'Ł', 'l'],
    ı: ['ı', 'i', 'I'],
  },
  ...{ é: ['é', 'E', 'e\u0301', 'e'], ç: ['ç', 'C', 'c'], ñ: ['ñ', 'Ñ', 'n'], ş: ['ş', 'S', 's'] },
};
const letter = fc.constantFrom(...'abdefgikmnoprtuwzäöüßøåłıéçñş');
const apart = fc.constantFrom('-', '\u2010', '\u2011', '\u2013', "'", '’', '/', '\u2212');
const blank = fc.constantFrom(' ', '\u00a0', '\u202f', '  ');

/** A word, and two ways to write it. */
const writtenTwice = fc.array(fc.tuple(letter, fc.nat(), fc.nat()), { minLength: 2, maxLength: 12 }).map((letters) => {
  const written = (which: 1 | 2) =>
    letters.map((of) => spellings[of[0]]?.[of[which] % (spellings[of[0]]?.length ?? 1)] ?? of[0]).join('');
  return { written: written(1), other: written(2) };
});

describe('a name', () => {
  it('is found in any spelling of its umlauts, accents and cases', () => {
    fc.assert(
      fc.property(writtenTwice, writtenTwice, (first, last) => {
        const person = { firstName: first.written, lastName: last.written };
        for (const q of [last.other, `${first.other} ${last.other}`, last.other.toUpperCase()])
          expect([q, person, finds(q, person)]).toEqual([q, person, true]);
      }),
      { numRuns: 500 },
    );
  });

  it('is found by each of its parts, by their beginnings, and joined or apart in any way', () => {
    const word = fc.stringMatching(/^[b-df-hj-np-tv-z]{2,8}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 2, maxLength: 4 }), apart, apart, blank, (parts, by, other, space) => {
        for (const lastName of [parts.join(by), parts.join(space), parts.join('')])
          for (const q of [parts.join(other), parts.join(space), parts.join('')])
            expect([q, lastName, finds(q, { lastName })]).toEqual([q, lastName, true]);
        for (const lastName of [parts.join(by), parts.join(space)])
          for (const part of parts)
            for (const q of [part, part.slice(0, 2), `${part.toUpperCase()} ${parts[0]}`])
              expect([q, lastName, finds(q, { lastName })]).toEqual([q, lastName, true]);
      }),
    );
  });

  it.each([
    ['Garcia-Lorca', ['lorca', 'García Lorca', 'garcia-lorca', 'GarciaLorca', 'garcia lor', 'lorca garcia']],
    ["O'Neill", ['neill', 'oneill', 'o’neill', 'O´Neill', 'o neill', 'o-neill', 'ONE']],
    ['van der Berg', ['berg', 'vanderberg', 'van der berg', 'Van-der-Berg', 'der', 'v d berg']],
    ['Müller-Lüdenscheidt', ['Lüdenscheidt', 'luedenscheidt', 'mueller', 'muller ludens', 'MUELLER-LUDENSCHEIDT']],
    ['Mueller', ['Müller', 'muller', 'mueller', 'MÜL', 'Muel']],
    ['Muller', ['Müller', 'mueller', 'muller']],
    ['Öztürk', ['Ozturk', 'oezt', 'OZTURK', 'öztuerk']],
    ['Weiß', ['weiss', 'WEISS', 'weiß']],
    ['Søren Åberg', ['soren', 'soeren', 'aaberg', 'aberg', 'Åb']],
    ['Wałęsa', ['walesa', 'WAŁ']],
    ['Yıldız', ['yildiz', 'YILDIZ']],
    ['山田太郎', ['太郎', '山田', '山田太']],
    ['สมชายใจดี', ['ใจดี', 'สมชาย']],
    ['Jean‑Luc', ['luc', 'jeanluc', 'jean luc']],
  ])('%s is found by %j', (lastName, queries) => {
    expect(queries.filter((q) => !finds(q, { lastName }))).toEqual([]);
  });

  it.each([
    ['Joe', ['John', 'Jonas Smith']],
    ['Daan', ['Daniel', 'Dana']],
    ['Joel', ['Jolanda']],
    ['Sue', ['Susan']],
    ["O'Neill", ['Sam Neill', 'Otto']],
    ['Garcia-Lorca', ['Garcia', 'Lorca', 'Garcia Lopez']],
    ['Müller', ['Miller', 'Moller', 'Mulder']],
    ['neil', ['Oneil']],
  ])('%s does not find %j', (q, names) => {
    expect(names.filter((lastName) => finds(q, { lastName }))).toEqual([]);
  });

  it('is not found by another name', () => {
    const word = fc.stringMatching(/^[b-df-hj-np-tv-z]{3,10}$/);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 3 }), apart, word, (parts, by, q) => {
        const isStart = [...parts, parts.join('')].some((part) => part.startsWith(q));
        expect(finds(q, { lastName: parts.join(by) })).toBe(isStart);
      }),
    );
  });
});

const countryCode = fc.constantFrom('1', '7', '33', '44', '48', '49', '353', '971');
const national = fc.stringMatching(/^[1-9][0-9]{6,9}$/);
const between = fc.array(fc.constantFrom('', '', ' ', '-', '\u2011', '\u00a0', '.', '/', '\u202a', ' - '), {
  minLength: 16,
  maxLength: 16,
});
const spread = (number: string, gaps: readonly string[]): string =>
  Array.from(number, (digit, index) => (index === 0 ? digit : `${gaps[index] ?? ''}${digit}`)).join('');
const inScript = (number: string, zero: number): string =>
  number.replace(/\d/g, (digit) => String.fromCodePoint(zero + Number(digit)));

describe('a phone number', () => {
  it('is found in any spelling, by its beginning, and by its last four digits or more', () => {
    fc.assert(
      fc.property(
        countryCode,
        national,
        between,
        between,
        fc.integer({ min: 4, max: 10 }),
        (code, own, gaps, others, count) => {
          const phone = `+${code}${spread(own, gaps)}`;
          const queries = [
            ...[`+${code}${own}`, `00${code}${own}`, `+${code} (0)${own}`, `0${own}`, own],
            ...[`+${spread(code + own, others)}`, spread(`0${own}`, others), spread(own, others)],
            ...[
              own.slice(-count),
              spread(own.slice(-count), others),
              code + own.slice(0, 3),
              `+${code} ${own.slice(0, 4)}`,
            ],
            ...[0x0660, 0x06f0, 0x0966, 0xff10].map((zero) => inScript(`+${code} ${own}`, zero)),
          ];
          for (const q of queries) expect([q, phone, finds(q, { phone })]).toEqual([q, phone, true]);
        },
      ),
    );
  });

  it('that is stored as it is dialled within its country is found in any spelling', () => {
    fc.assert(
      fc.property(countryCode, national, between, fc.constantFrom('', '0'), (code, own, gaps, trunk) => {
        const phone = spread(trunk + own, gaps);
        for (const q of [trunk + own, `+${code}${own}`, `00${code} ${own}`, `+${code} (0)${own}`, own.slice(-4), own])
          expect([q, phone, finds(q, { phone })]).toEqual([q, phone, true]);
      }),
    );
  });

  it('is not found by another number', () => {
    fc.assert(
      fc.property(countryCode, national, national, between, (code, own, other, gaps) => {
        fc.pre(!own.endsWith(other.slice(-4)) && !(code + own).startsWith(other.slice(0, 4)));
        for (const q of [
          other,
          `0${other}`,
          `+${code}${other}`,
          `00${code}${other}`,
          other.slice(-4),
          spread(other, gaps),
        ])
          expect([q, finds(q, { phone: `+${code} ${own}` })]).toEqual([q, false]);
      }),
    );
  });

  it('is found beside a name, and counts as one word', () => {
    const ada = { firstName: 'Ada', phone: '+33 1 23 45 67 89' };
    for (const q of ['+33 1 23 45 67 89', 'ada 01 23 45 67 89', '6789 ada', '67 89', 'ada 33'])
      expect([q, finds(q, ada)]).toEqual([q, true]);
    for (const q of ['bob 01 23 45 67 89', 'ada 01 23 45 67 80', '789', '0033', '5678'])
      expect([q, finds(q, ada)]).toEqual([q, false]);
  });

  it.each([
    ['+44 (0)20 7946 0958', '442079460958'],
    ['0044 20 7946 0958', '442079460958'],
    ['(020) 7946-0958', '02079460958'],
    ['tel: 020 7946 0958 ext. 12', '02079460958'],
    ['٠٢٠ ٧٩٤٦', '0207946'],
    ['\u202a+44\u2011207946\u202c', '44207946'],
  ])('%s is compared as %s', (written, compared) => {
    expect(digits(written)).toBe(compared);
  });
});

describe('a code', () => {
  const group = fc.stringMatching(/^[A-Z0-9]{1,5}$/);
  it('is found with and without its hyphens and blanks, in any case, and by its beginning', () => {
    fc.assert(
      fc.property(
        fc.array(group, { minLength: 1, maxLength: 4 }),
        ...([
          fc.constantFrom('-', ' ', '', '/', '\u2011'),
          fc.constantFrom('-', ' ', '', '.', '\u2013', '\u00a0'),
        ] as const),
        (groups, by, other) => {
          const externalId = groups.join(by);
          for (const q of [groups.join(other), groups.join(other).toLowerCase(), groups.join('').slice(0, 3)])
            expect([q, externalId, finds(q, { externalId })]).toEqual([q, externalId, true]);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of the service is found with hyphens and blanks', () => {
    for (const q of ['7h2k-9m4q-xt', '7H2K 9M4Q XT', '7H2K9M4QXT', '7h2k-9'])
      expect([q, finds(q, {})]).toEqual([q, true]);
    for (const q of ['9m4q-xt', '7h2k-9n', 'xt']) expect([q, finds(q, {})]).toEqual([q, false]);
  });
});
