// The catalogues of the console: the same texts in each language, none left in English, numbers as the language counts.
import { describe, expect, it, vi } from 'vitest';

// The console is compiled by itself, so its modules have no types here.
const folder = '../../../console/texts';
type Texts = { [key: string]: string | Texts | ((...given: unknown[]) => string) };
const languages = ['de', 'fr', 'es', 'it'] as const;

const { catalogues } = await import(`${folder}/catalogues.js`);
const catalogueOf = (language: string): Promise<Texts> => catalogues[language]();
const en = await catalogueOf('en');

type Text = Exclude<Texts[string], Texts>;

const listed = (texts: Texts, path = ''): [string, Text][] =>
  Object.entries(texts).flatMap(([key, text]): [string, Text][] =>
    typeof text === 'object' ? listed(text, `${path}${key}.`) : [[path + key, text]],
  );

/** Names of formats, products and parts of calls, which no language translates. */
const names =
  /^(?:–|QR|Aztec|PDF417|Code 128|Code 39|A[45]|iPhone|Android|Apple|Google|Wallet|URL|Webhooks?|Logo|Codabar.*|CSV)$/;

/** Words that are spelled as in English. */
const same: Record<(typeof languages)[number], readonly string[]> = {
  de: ['Name', 'Person', 'Status', 'Filter', 'Test', 'Text', 'Version', 'Website', 'Import', 'Bronze', 'Gold'],
  fr: [
    ...['Actions', 'Action', 'Menu', 'Points', 'Pages', 'Message', 'Note', 'Version', 'Latitude', 'Longitude'],
    ...['Description', 'points', 'point', 'Active', 'POINTS', 'Bronze', 'Invitation'],
  ],
  es: ['No', 'Roles'],
  it: ['Account', 'Menu', 'No'],
};

const given = [
  ...[[['ä', 'ö']], [['vip']], [[], true], [3, 2, 7], ['ä', 'ö', 'ü'], ['ä', 2, 7], ['ä', ['ö']], [2, true]],
  [{ what: 'ready', who: 'iphone' }],
];

/** What a text says of each of the given values that it can be about. */
const sentencesOf = (text: Text, other: Text = text): (readonly [string, string])[] =>
  typeof text === 'string' || typeof other === 'string'
    ? [[String(text), String(other)]]
    : given.flatMap((values) => {
        try {
          return [[text(...values), other(...values)] as const];
        } catch {
          return [];
        }
      });

describe.each(languages)('the console in %s', (language) => {
  it('has the texts of English, each of them written', async () => {
    const own = listed(await catalogueOf(language));
    expect(own.map(([path]) => path)).toEqual(listed(en).map(([path]) => path));
    const empty = own.filter(([, text]) => typeof text === 'string' && text.trim() === '');
    expect(empty).toEqual([]);
  });

  it('leaves no text in English but words that are spelled alike', async () => {
    const english = new Map(listed(en));
    const left = listed(await catalogueOf(language)).flatMap(([path, text]) => {
      const isLeft =
        typeof text === 'string' && text === english.get(path) && !names.test(text) && !same[language].includes(text);
      return isLeft ? [`${path}: ${text}`] : [];
    });
    expect(left).toEqual([]);
  });

  it('writes its own sentence about numbers and names', async () => {
    const neutral = [
      ...[
        'frame.call',
        'frame.callTook',
        'member.plus',
        'member.kinds.apple',
        'member.changed',
        'desk.cardOption',
        'desk.after',
      ],
      ...['design.languageNamed'],
      ...['requests.ms', 'requests.change', 'webhooks.ms', 'webhooks.seconds', 'overview.amount'],
    ];
    const english = new Map(listed(en));
    const left = listed(await catalogueOf(language)).flatMap(([path, text]) => {
      const its = english.get(path);
      if (typeof text !== 'function' || typeof its !== 'function' || neutral.includes(path)) return [];
      const said = sentencesOf(text, its);
      expect(said.length).toBeGreaterThan(0);
      return said.every(([own, other]) => own === other) ? [path] : [];
    });
    expect(left).toEqual([]);
  });
});

const counted = async (language: string, count: number): Promise<string[]> => {
  const { overview, webhooks } = (await catalogueOf(language)) as Record<
    string,
    Record<string, (value: number, isStamps?: boolean) => string>
  >;
  return [overview?.amount?.(count, true) ?? '', webhooks?.seconds?.(count) ?? ''];
};

it.each([
  ['en', ['0 stamps', '0 s'], ['1 stamp', '1 s'], ['12,345 stamps', '12,345 s']],
  ['de', ['0 Stempel', '0 s'], ['1 Stempel', '1 s'], ['12.345 Stempel', '12.345 s']],
  ['fr', ['0 tampon', '0 s'], ['1 tampon', '1 s'], ['12\u202f345 tampons', '12\u202f345 s']],
  ['es', ['0 sellos', '0 s'], ['1 sello', '1 s'], ['12.345 sellos', '12.345 s']],
  ['it', ['0 timbri', '0 s'], ['1 timbro', '1 s'], ['12.345 timbri', '12.345 s']],
])('%s counts as it is spoken', async (language, none, one, many) => {
  expect(await Promise.all([0, 1, 12_345].map((count) => counted(language, count)))).toEqual([none, one, many]);
});

it.each(['en', ...languages])('the columns of the campaigns in %s have a title each', async (language) => {
  const { campaigns = {} } = await catalogueOf(language);
  const said = campaigns as Texts;
  const titles = ['started', 'message', 'program', 'state', 'matched', 'pushed', 'skipped', 'failed'].map(
    (key) => said[key],
  );
  expect(new Set(titles).size).toBe(titles.length);
});

describe('French', () => {
  type Sentence = (...given: unknown[]) => string;

  it('ends no line before a colon or a sign like it, nor inside quotation marks', async () => {
    const fr = await catalogueOf('fr');
    const loose = listed(fr).filter(([, text]) => typeof text === 'string' && / [:;?!»]|« /.test(text));
    expect(loose).toEqual([]);
    const { design, session } = fr as Record<string, Record<string, Sentence>>;
    expect(design?.removeRow?.('Niveaux', 2)).toBe('Niveaux\u00a0: retirer 2');
    expect(session?.ended).toBe('Votre session est terminée');
  });

  it('of the till keeps to it', async () => {
    vi.resetModules();
    vi.stubGlobal('navigator', { languages: ['fr-CH'] });
    const { texts } = await import(`${folder}/../till/texts.js`);
    vi.unstubAllGlobals();
    expect([texts.choose.whose, texts.tap.refused('la carte est pleine')]).toEqual([
      'À qui est cette carte\u00a0?',
      'Refusé\u00a0: la carte est pleine',
    ]);
    expect([0, 1, 2].map(texts.member.stamps)).toEqual(['0 tampon', '1 tampon', '2 tampons']);
  });
});

it('French has no-break spaces at its double punctuation', async () => {
  const said = listed(await catalogueOf('fr')).flatMap(([path, text]) =>
    sentencesOf(text).map(([sentence]) => `${path}: ${sentence}`),
  );
  expect(said.filter((sentence) => /\S [:;!?»]|« /.test(sentence))).toEqual([]);
});

it.each(['en', ...languages])('the till in %s names pages and buttons as the console does', async (language) => {
  vi.resetModules();
  vi.stubGlobal('navigator', { languages: [language] });
  const { texts } = await import(`${folder}/../till/texts.js`);
  vi.unstubAllGlobals();
  const { nav, readers, design } = (await catalogueOf(language)) as Record<string, Record<string, string>>;
  expect(texts.pair.hint).toContain(nav?.readers);
  expect(texts.pair.hint).toContain(readers?.new);
  expect(texts.member.noEarning('Café')).toContain(`${nav?.programs}, Café, ${design?.earning}.`);
});
