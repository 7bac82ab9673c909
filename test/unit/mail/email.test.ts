// Which email addresses are accepted, by the addresses of isemail (test/corpora/SOURCES.md), and how they are stored.
import { domainToUnicode } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { email } from '../../../schemas/shared/email.rules.js';
import corpus from '../../corpora/emails.json' with { type: 'json' };

const stored = (text: string): string | undefined => email.safeParse(text).data;

describe('an email address', () => {
  const [plain, odd] = [
    (address: string) => /^[^\s"()@[\]\\]+@[^\s"()@[\]/]+\.[^\s"()@[\].]{2,}$/.test(address),
    (address: string) => /[\s"()[\]\\\p{Cc}]/u.test(address.trim()),
  ];
  it.each(corpus.filter(([address = '', category]) => category === 'ERR' || odd(address)))(
    '%j is refused (%s, %s)',
    (address) => {
      // White space and line breaks at the ends are not part of an address: spaces are trimmed, line breaks refused.
      expect(stored(address ?? '')).toBeUndefined();
    },
  );

  it.each(
    corpus.filter(
      ([address = '', category]) => ['VALID_CATEGORY', 'DNSWARN'].includes(category ?? '') && plain(address),
    ),
  )('%j is accepted (%s, %s)', (address = '') => {
    // isemail allows a hyphen in a top-level domain that DNS does not.
    expect(stored(address)).toBe(address === 'test@iana.co-uk' ? undefined : address);
  });

  it.each([
    ['local part', `${'a'.repeat(65)}@example.com`],
    ['label', `a@${'b'.repeat(64)}.com`],
    ['domain', `a@${`${'b'.repeat(60)}.`.repeat(5)}com`],
    ['address', `${'a'.repeat(64)}@${`${'b'.repeat(60)}.`.repeat(3)}cccccccc`],
  ])('with a %s that is too long is refused', (_what, address) => {
    expect(stored(address)).toBeUndefined();
  });

  it.each([
    'a@-b.com',
    'a@b-.com',
    'a@b.-com',
    'a..b@c.com',
    '.a@c.com',
    'a.@c.com',
    'a@b..com',
    'a@b.com.',
    'a@b',
    'a@1.2.3.4',
    'a@127.1',
    'a@b.123',
    'a@b_c.com',
    'a@xn--a.com',
    'a@b.xn--',
    'a@\u200d.example.com',
    'a@exa mple.com',
    'a@example.com/x',
    'a@example.com?x',
    'a@example.com:25',
    'a@%65xample.com',
    'zoë@example.com',
    'a@b@c.com',
  ])('%j, which cannot receive mail, is refused', (address) => {
    expect(stored(address)).toBeUndefined();
  });

  it.each([
    ['Ada@Example.COM', 'ada@example.com'],
    [' ada@example.com ', 'ada@example.com'],
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['ada@xn--bcher-kva.example', 'ada@xn--bcher-kva.example'],
    ['ada@пример.рф', 'ada@xn--e1afmkfd.xn--p1ai'],
    ['ada@例え。テスト', 'ada@xn--r8jz45g.xn--zckzah'],
    ['ada@example.xn--p1ai', 'ada@example.xn--p1ai'],
    ["o'hara+tag/dept=1@mail.example.museum", "o'hara+tag/dept=1@mail.example.museum"],
    [`${'a'.repeat(64)}@${'b'.repeat(63)}.com`, `${'a'.repeat(64)}@${'b'.repeat(63)}.com`],
  ])('%s is stored as %s', (given, wanted) => {
    expect(stored(given)).toBe(wanted);
  });

  it('of any text is refused, or stored in a form that is stored unchanged', () => {
    const texts = fc.oneof(
      fc.emailAddress(),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc
        .tuple(fc.emailAddress(), fc.string({ unit: 'binary', maxLength: 4 }))
        .map(([address, text]) => address.replace('.', text)),
    );
    fc.assert(
      fc.property(texts, (text) => {
        const once = stored(text);
        if (once === undefined) return;
        expect(stored(once)).toBe(once);
        expect(stored(once.replace(/@.*/, (host) => `@${domainToUnicode(host.slice(1))}`))).toBe(once);
        for (const label of once.slice(once.lastIndexOf('@') + 1).split('.'))
          expect(label).toMatch(/^(?!-).{1,63}(?<!-)$/);
      }),
      { numRuns: 500 },
    );
  });
});
