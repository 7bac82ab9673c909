// The languages of pages and mails: which one a customer gets, and that every catalogue is complete.
import { describe, expect, it } from 'vitest';
import { qrSvg } from '../../../api/pages/barcode.view.js';
import { type Card, cardBody, cardState } from '../../../api/pages/card.view.js';
import { enrollPage } from '../../../api/pages/enrollForm.view.js';
import { sentPage } from '../../../api/pages/mailed.view.js';
import { wordsOf } from '../../../api/pages/words.view.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import {
  catalogues,
  type Language,
  languageOf,
  languages,
  preferredLanguage,
} from '../../../schemas/shared/languages/index.js';

describe('the language of a customer', () => {
  it.each([
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['nl, fr;q=0.3, it;q=0.7', 'it'],
    ['EN-us', 'en'],
    ['es;q=0, en;q=0.1', 'en'],
    ['fr ; q=0.5 , es', 'es'],
    ['de;q=x, it;q=0.2', 'it'],
    ['*', undefined],
    ['', undefined],
    ['ja, zh-Hans', undefined],
    [`${'x,'.repeat(100_000)}de`, undefined],
  ])('of the browser, by %j, is %s', (header, language) => {
    expect(preferredLanguage(header)).toBe(language);
  });

  it('is that of the program, then of the browser, then English', () => {
    expect(languageOf({ language: 'fr' }, 'de')).toBe('fr');
    expect(languageOf({}, 'de')).toBe('de');
    expect(languageOf({}, 'ja')).toBe('en');
  });
});

/** Every text of a catalogue by its path; functions get the names of their arguments. */
function textsOf(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'function') return [[path, String(value('⟨1⟩', '⟨2⟩', '⟨3⟩'))]];
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(Object(value)).flatMap(([name, entry]) =>
    textsOf(entry, path === '' ? name : `${path}.${name}`),
  );
}

const english = new Map(textsOf(catalogues.en));

describe.each(languages.filter((language) => language !== 'en'))('the catalogue %s', (language) => {
  const texts = textsOf(catalogues[language]);

  it('has every text, each of them translated', () => {
    expect(texts.map(([path]) => path).toSorted()).toEqual([...english.keys()].toSorted());
    const untranslated = texts.filter(([path, text]) => text === english.get(path)).map(([path]) => path);
    expect(untranslated).toEqual([]);
  });

  it('has the names, numbers and addresses of the English text in every text', () => {
    const parts = (text = '') => [...text.matchAll(/⟨\d⟩/g)].map(([part]) => part).toSorted();
    for (const [path, text] of texts) expect([path, parts(text)]).toEqual([path, parts(english.get(path))]);
  });
});

it('French has no-break spaces at its double punctuation', () => {
  expect([...textsOf(catalogues.fr)].filter(([, text]) => / [:;!?»]|« /.test(text))).toEqual([]);
});

const now = new Date('2026-11-23T12:00:00Z');

function cardOf(language: Language, fields: Record<string, unknown> = {}, over: Partial<Card> = {}): Card {
  const file = { _id: 'p', slug: 'p', name: 'Bar', style: 'stamps', goal: 3, fields: { primaryLabel: 'STAMPS' } };
  const program = { ...programFile.parse({ ...file, ...fields }), merchantId: 'm' };
  const pass = { token: 't', authenticationToken: 'a', tag: now, modifiedAt: now, messageSequence: 0 };
  const member = {
    ...{ _id: 'm-1', memberCode: '7K3M9PXQ2A', serialNumber: 's', field: 'stamps', balance: 3, lifetimePoints: 3 },
    ...{ status: 'active', pass, version: 1 },
  } as unknown as MemberRow;
  return {
    ...{ member, program, words: wordsOf(language, program), googleFirst: false, isNew: false },
    ...{ appleUrl: undefined, googleUrl: undefined, logoUrl: undefined, stripUrl: undefined },
    cardUrl: 'https://example.com/passes/t',
    barcode: { code: member.memberCode, format: 'QR', svg: qrSvg(member.memberCode) },
    ...over,
  };
}

describe('a card', () => {
  it('that is full names its reward and celebrates; one that is not does neither', () => {
    const rewardName = 'A <b>coffee</b>';
    const full = cardOf('en', { rewardName });
    expect(cardState(full).full).toBe(`Ready for you: ${rewardName}. Show this card at the till.`);
    expect(cardBody(full).text).toContain('A &lt;b&gt;coffee&lt;/b&gt; at 3');
    expect(cardBody(full).text).toMatch(/id="celebration" >/);
    const almost = { ...full, member: { ...full.member, balance: 2 } };
    expect(cardState(almost).full).toBeNull();
    expect(cardBody(almost).text).toMatch(/id="celebration" hidden>/);
    const voided = { ...full, member: { ...full.member, status: 'voided' as const } };
    expect(cardState(voided).full).toBeNull();
  });

  it('shows its back fields and the privacy link, in lines', () => {
    const backFields = [{ key: 'terms', label: 'Terms', value: 'One card.\n<i>No cash.</i>' }];
    const enrollment = { privacyUrl: 'https://example.com/privacy' };
    const { text } = cardBody(cardOf('de', { passTemplate: { backFields }, enrollment }));
    expect(text).toContain('<dt>Terms</dt><dd>One card.\n&lt;i&gt;No cash.&lt;/i&gt;</dd>');
    expect(text).toContain('<a href="https://example.com/privacy" rel="noopener">Wie Ihre Daten verwendet werden</a>');
    expect(cardBody(cardOf('de')).text).not.toContain('<details');
  });

  it('offers the wallet of the phone first', () => {
    const urls = { appleUrl: 'https://example.com/a', googleUrl: 'https://example.com/g' };
    const order = (googleFirst: boolean) =>
      [...cardBody(cardOf('it', {}, { ...urls, googleFirst })).text.matchAll(/example\.com\/([ag])"/g)].map(
        ([, one]) => one,
      );
    expect([order(false), order(true)]).toEqual([
      ['a', 'g'],
      ['g', 'a'],
    ]);
  });

  it("shows the program's own texts as its template translates them", () => {
    const locales = { es: { STAMPS: 'SELLOS', Terms: 'Condiciones' } };
    const backFields = [{ key: 'terms', label: 'Terms', value: 'x' }];
    const passTemplate = { locales, backFields };
    expect(cardState(cardOf('es', { passTemplate })).unit).toBe('SELLOS');
    expect(cardBody(cardOf('es', { passTemplate })).text).toContain('<dt>Condiciones</dt>');
    expect(cardState(cardOf('it', { passTemplate })).unit).toBe('STAMPS');
  });
});

describe('the public page', () => {
  const form = (language: Language, fields: Record<string, unknown> = {}, mails = false) => {
    const { program, words } = cardOf(language, fields);
    return enrollPage({ program, words, mails, logoUrl: undefined }).body.text;
  };

  it('asks for the email first, and for a consent that is not given by default', () => {
    const enrollment = { fields: ['firstName', 'phone'], consentText: 'I agree to "terms" & all.' };
    const text = form('en', { enrollment });
    expect([...text.matchAll(/<input id="(\w+)"/g)].map(([, id]) => id)).toEqual([
      ...['email', 'firstName', 'phone'],
      ...['x7', 'consent'],
    ]);
    expect(text).toContain('I agree to &quot;terms&quot; &amp; all.');
    expect(text).not.toContain('checked');
    expect(form('en')).not.toContain('consent');
  });

  it('asks for marketing apart, and nobody has to agree', () => {
    const text = form('en', { enrollment: { consentText: 'I agree.', marketingText: 'Tell me "news".' } });
    expect(text).toMatch(/<input id="consent"[^>]* required>/);
    expect(text).toContain('<input id="marketing" name="marketing" type="checkbox">');
    expect(text).toContain('Tell me &quot;news&quot;. <span>(optional)</span>');
    expect(form('en', { enrollment: { consentText: 'I agree.' } })).not.toContain('marketing');
  });

  it('promises a mail only if mails are sent', () => {
    for (const language of languages) {
      const { mailed } = catalogues[language].join;
      expect([form(language).includes(mailed), form(language, {}, true).includes(mailed)]).toEqual([false, true]);
    }
    const { program, words } = cardOf('en');
    const joined = (mails: boolean) =>
      sentPage({ program, words, mails, logoUrl: undefined, form: { values: { email: 'ada@example.com' }, wrong: [] } })
        .body.text;
    expect(joined(true)).toContain('We are sending the link to your card to ada@example.com.');
    expect(joined(false)).not.toMatch(/mail|send/);
  });

  it('names the reward', () => {
    expect(form('de', { rewardName: 'Ein Kaffee' })).toContain('3 Stamps sammeln: Ein Kaffee');
    expect(form('en', { rewardName: 'A coffee' })).toContain('Collect 3 stamps: A coffee');
    expect(form('en')).toContain('Collect 3 stamps for a reward');
  });
});

it.each(languages)('says in %s how long a link works as it really does', (language) => {
  const { join, signIn, mail } = catalogues[language];
  const said = [
    join.deadText(36),
    signIn.usedText(15, 36),
    mail.confirmation.text('Café', 36),
    mail.invitation.text('Café', 36),
  ];
  expect(said.filter((sentence) => !/\b36\b/.test(sentence) || sentence.includes('24'))).toEqual([]);
});
