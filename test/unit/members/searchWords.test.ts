// The search by word: stored words and query words are normalised in the same way, so case and accents make no
// difference.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  maxSearchLevel,
  prefixRange,
  readQuery,
  searchLevel,
  searchWords,
} from '../../../schemas/members/searchWords.rules.js';
import { fold, spell } from '../../../schemas/members/spellings.rules.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { newId } from '../../../schemas/shared/ids.js';

const memberCode = '7H2K9M4QXT';

/** Letters of names in several scripts. */
const letter = fc.constantFrom(
  ...'abcdefghijklmnopqrstuvwxyzàáâäãåçèéêëìíîïñòóôöõùúûüýÿąćęłńśźżčďěňřšťůžőűğışøđßαβγδεζηθικλμνξοπρσςτυφχψωάέήόабвгдежзиклмнопрстуфхцчшщыэюяёїўґあ木',
);
const word = fc.array(letter, { minLength: 1, maxLength: 20 }).map((letters) => letters.join(''));
const anyText = fc.string({ unit: 'grapheme', maxLength: 100 });

/** Whether the index finds one of the stored words by `query`, compared by bytes as in the database. */
function finds(stored: string[], query: string): boolean {
  const isIn = (token: string, { $gte, $lt }: { $gte: string; $lt: string }) =>
    Buffer.compare(Buffer.from(token), Buffer.from($gte)) >= 0 &&
    Buffer.compare(Buffer.from(token), Buffer.from($lt)) < 0;
  return readQuery(query).some((words) =>
    words.every(
      ({ prefixes, whole }) =>
        prefixes.map(prefixRange).some((range) => stored.some((token) => isIn(token, range))) ||
        whole.some((word) => stored.includes(word)),
    ),
  );
}

/** The words of a query as they are typed, without the other ways to read it. */
const typedWords = (query: string): string[] => (readQuery(query)[0] ?? []).map(({ prefixes }) => prefixes[0] ?? '');

describe('normalising', () => {
  it.each([
    ['Łucja Ünal', 'lucjaunal'],
    ['ΟΔΥΣΣΕΥΣ', 'οδυσσευσ'],
    ['Οδυσσεύς', 'οδυσσευσ'],
    ['STRASSE', 'strasse'],
    ['Straße', 'strasse'],
    ['IŞIK', 'isik'],
    ['ışık', 'isik'],
    ['İzmir', 'izmir'],
    ['Đặng', 'dang'],
    ['Þórður Æsa', 'thordur' + 'aesa'],
    ['٤٠٠١ ४', '40014'],
    ['ＡＤＡ', 'ada'],
  ])('turns %s into %s', (name, folded) => {
    expect(fold(name)).toBe(folded);
  });

  it('is the same for any case', () => {
    fc.assert(
      fc.property(word, (name) => {
        expect(fold(name.toUpperCase())).toBe(fold(name));
        expect(fold(name.toLowerCase())).toBe(fold(name));
      }),
    );
  });

  it('is the same for composed and decomposed accents, and a second time changes nothing', () => {
    fc.assert(
      fc.property(fc.oneof(word, anyText), (name) => {
        expect(fold(name.normalize('NFD'))).toBe(fold(name.normalize('NFC')));
        expect(fold(fold(name))).toBe(fold(name));
      }),
    );
  });
});

describe('the words of a member', () => {
  it('are those of the names, the email, the digits of the phone in both directions and the codes, without repeats', () => {
    expect(
      searchWords({
        firstName: 'Ada  Maria',
        lastName: 'Ada',
        email: 'ada@example.com',
        phone: '+48 (600) 100-200',
        memberCode,
        externalId: 'K-7 7',
      }),
    ).toEqual(['ada', 'maria', 'ada@example.com', '48600100200', ' 00200100684', '7h2k9m4qxt', 'k77']);
  });

  it('are never empty, repeated or invalid, for any names', () => {
    fc.assert(
      fc.property(anyText, anyText, fc.string({ unit: 'binary' }), (firstName, lastName, phone) => {
        const words = searchWords({ firstName, lastName, phone, memberCode });
        expect(new Set(words).size).toBe(words.length);
        for (const each of words) expect(each.length > 0 && each.isWellFormed() && !/.\s/.test(each)).toBe(true);
      }),
    );
  });

  it('are cut between characters when they are too long', () => {
    const words = searchWords({ firstName: `${'a'.repeat(63)}😀`, lastName: `${'a'.repeat(63)}🜀`, memberCode });
    expect(words.every((each) => each.isWellFormed())).toBe(true);
    expect(new Set(words.map((each) => Buffer.from(each).toString('hex'))).size).toBe(words.length);
  });
});

/** Characters that fold to nothing or only a space: accents, apostrophes, invisible characters. */
const marks = "'’‘‛ʼʻ`´¨¯¸˙˚˝˘΄᾽\u0301\u0308\u00AD\u200B\u200D\u2060";
const mark = fc.constantFrom(...Array.from(marks));

describe('accents and apostrophes', () => {
  it('never split a word, and a word is found with and without them', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(letter, fc.option(mark, { nil: '' })), { minLength: 1, maxLength: 20 }),
        (letters) => {
          const marked = letters.map(([each, at]) => each + at).join('');
          const bare = letters.map(([each]) => each).join('');
          expect(typedWords(marked)).toEqual(typedWords(bare));
          const stored = searchWords({ firstName: marked, memberCode });
          expect(stored.some((each) => each.startsWith(fold(bare)))).toBe(true);
          expect(finds(stored, bare) && finds(stored, marked)).toBe(true);
        },
      ),
    );
  });

  it('produce no more words than were typed, for any query', () => {
    fc.assert(
      fc.property(fc.oneof(anyText, fc.string({ unit: 'binary', maxLength: 60 })), (text) => {
        const typed = text.split(/\s+/).filter(Boolean);
        if (typed.length <= 5) expect(typedWords(text).length).toBeLessThanOrEqual(typed.length);
      }),
    );
  });

  it.each([
    ["O'Brien", 'obrien'],
    ['O´Brien', 'obrien'],
    ['O’Brien', "o'br"],
    ['D ʼAngelo', 'angelo'],
    ['D´Angelo', 'angelo'],
    ['ﷺ', fold('ﷺ').replace(/\s/g, '')],
  ])('%s is found by %s', (name, query) => {
    expect(finds(searchWords({ firstName: name, memberCode }), query)).toBe(true);
  });

  it('alone produce no word', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(mark, fc.constant(' ')), { minLength: 1, maxLength: 9 }), (text) => {
        if (text.join('').split(/\s+/).filter(Boolean).length <= 5) expect(readQuery(text.join(''))).toEqual([]);
      }),
    );
    expect(typedWords('ada ´')).toEqual(['ada']);
  });
});

describe('the level of a member', () => {
  it('is at least t for one of 4^t members', () => {
    const count = 40_000;
    const levels = Array.from({ length: count }, () => searchLevel(newId()));
    for (let level = 1; level <= 3; level += 1) {
      const share = levels.filter((each) => each >= level).length / count;
      expect(share * 4 ** level).toBeGreaterThan(0.8);
      expect(share * 4 ** level).toBeLessThan(1.2);
    }
    expect(Math.max(...levels)).toBeLessThanOrEqual(maxSearchLevel);
  });
});

describe('a search', () => {
  it('finds a member by the start of any of its words, in any case and without accents', () => {
    fc.assert(
      fc.property(word, word, fc.nat(), fc.boolean(), fc.boolean(), (firstName, lastName, cut, upper, bare) => {
        const stored = searchWords({ firstName, lastName, memberCode });
        const letters = Array.from(firstName);
        const begin = letters.slice(0, 1 + (cut % letters.length)).join('');
        const cased = upper ? begin.toUpperCase() : begin;
        expect(finds(stored, bare ? cased.normalize('NFD').replace(/\p{M}/gu, '') : cased)).toBe(true);
      }),
    );
  });

  it('needs all of its words to match', () => {
    const stored = searchWords({ firstName: 'Ada', lastName: 'Lovelace', memberCode });
    expect(finds(stored, 'love ADA')).toBe(true);
    expect(finds(stored, 'ada byron')).toBe(false);
    expect(finds(stored, 'velace')).toBe(false);
    expect(finds(stored, '7h2k')).toBe(true);
    expect(finds(stored, 'h2k9')).toBe(false);
  });

  it('finds a phone by its digits, with or without separators', () => {
    const stored = searchWords({ phone: '+48 600-100-200', memberCode });
    for (const query of ['48600', '+48600100', '+48600-100', '(48)600']) expect(finds(stored, query)).toBe(true);
    expect(finds(stored, '600100')).toBe(false);
  });

  it('finds all members with the word and no others', () => {
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), word, (names, query) => {
        for (const name of names) {
          const stored = searchWords({ firstName: name, memberCode });
          const { expanded, bare } = spell(query);
          const begins = [fold(query), expanded];
          // "aa" may be meant for "å", so it also finds "a", but nothing longer.
          const expected = stored.some((token) => token === bare || begins.some((begin) => token.startsWith(begin)));
          expect(finds(stored, query)).toBe(expected);
        }
      }),
    );
  });

  it('ignores one-letter words next to longer ones, and uses them alone', () => {
    expect(typedWords('a ada')).toEqual(['ada']);
    expect(typedWords('a')).toEqual(['a']);
    expect(typedWords('b a')).toEqual(['b', 'a']);
    expect(typedWords('木 ada')).toEqual(['ada']);
  });

  it('accepts five words and refuses a sixth', () => {
    expect(typedWords('one two three four five')).toHaveLength(5);
    const refused = (() => {
      try {
        return readQuery('one two three four five six');
      } catch (error) {
        return error;
      }
    })();
    expect(refused).toBeInstanceOf(ServiceError);
    expect(refused).toMatchObject({ code: 'VALIDATION_FAILED', details: [{ path: 'q' }] });
  });
});
