// The poster for the counter: what is on each sheet, in both types of file.
import { Resvg } from '@resvg/resvg-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { drawPoster } from '../../../api/pages/poster.view.js';
import type { Mark, Panel } from '../../../api/pages/posterDrawing.view.js';
import { drawable, missingLetters, widthOf } from '../../../api/pages/posterFonts.rules.js';
import { linesOf } from '../../../api/pages/posterLines.rules.js';
import { posterPdf } from '../../../api/pages/posterPdf.view.js';
import { posterPng } from '../../../api/pages/posterPng.view.js';
import { type PosterContent, sheetOf } from '../../../api/pages/posterSheets.view.js';
import { wordsOf } from '../../../api/pages/words.view.js';
import { contrastOf } from '../../../schemas/programs/contrast.rules.js';
import { readPng } from '../../../schemas/programs/png.rules.js';
import { posterFormats } from '../../../schemas/programs/poster.schema.js';
import { type Program, programFile } from '../../../schemas/programs/programs.schema.js';
import { catalogues, languages } from '../../../schemas/shared/languages/index.js';
import { readPdf } from '../../rig/checks/pdf.js';
import { codesIn } from '../../rig/checks/readCodes.js';

const url = 'https://cards.example.com/enroll/corner-cafe';
const file = {
  ...{ _id: 'corner', slug: 'corner-cafe', name: 'Corner Café', style: 'stamps', fields: { primaryLabel: 'STAMPS' } },
  ...{ goal: 8, rewardName: 'Crème brûlée' },
};
const programWith = (fields: object = {}): Program => ({
  ...programFile.parse({ ...file, ...fields }),
  merchantId: 'x',
});
const logo = encodePng(canvas(120, 40), { paper: '#fdba74', ink: '#3b2417' }).toString('base64');

const draw = (program: Program, format: (typeof posterFormats)[number]) =>
  drawPoster({ program, words: wordsOf(program.language ?? 'en', program), url, format });

const textsOf = (panels: Panel[]) =>
  panels.flatMap(({ marks }) => marks.flatMap((mark) => (mark.kind === 'text' ? [mark] : [])));
const saidBy = (panels: Panel[]) =>
  textsOf(panels)
    .map(({ text }) => text)
    .join(' ');

const sizes = { a4: [595.28, 841.89], a5: [419.53, 595.28], tent: [595.28, 841.89] } as const;

describe.each(posterFormats)('the sheet %s', (format) => {
  const codes = format === 'tent' ? [url, url] : [url];

  it('as a PNG of 300 dots an inch has codes that lead to the join page', async () => {
    const drawing = await draw(programWith({ passTemplate: { images: { logo } } }), format);
    const png = await posterPng(drawing);
    const [width, height] = sizes[format];
    expect(readPng(png)).toMatchObject({ ok: true, width: Math.round((width / 72) * 300) });
    expect([drawing.width, drawing.height].map((side) => Number(side.toFixed(2)))).toEqual([width, height]);
    const small = new Resvg(
      `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><image width="${width}" height="${height}" href="data:image/png;base64,${png.toString('base64')}"/></svg>`,
      { fitTo: { mode: 'width', value: 900 } },
    ).render();
    expect((await codesIn(small.asPng())).map(({ rawValue }) => rawValue)).toEqual(codes);
  });

  it('as a PDF is one page of its size with the same codes and embedded fonts', async () => {
    const pdf = await posterPdf(await draw(programWith({ passTemplate: { images: { logo } } }), format));
    const { size, fonts, embedded, pages, svg } = readPdf(pdf);
    expect(size.map((side) => Number(side?.toFixed(2)))).toEqual(sizes[format]);
    expect([pages, embedded, fonts.sort()]).toEqual([1, 2, ['Inter-ExtraBold', 'Inter-Medium']]);
    const seen = new Resvg(svg, { fitTo: { mode: 'width', value: 900 } }).render().asPng();
    expect((await codesIn(seen)).map(({ rawValue }) => rawValue)).toEqual(codes);
  });

  it.each(languages)('says in %s what to do and what it brings', async (language) => {
    const { panels, language: said } = await draw(programWith({ language }), format);
    const { join, poster } = catalogues[language];
    const text = saidBy(panels);
    for (const sentence of [poster.scan, join.readySoon, join.noApp, 'Crème brûlée', 'Corner Café'])
      expect(text).toContain(sentence);
    expect(text).toContain(poster.orOpen('cards.example.com/enroll/corner-cafe'));
    expect(text.includes(poster.fold)).toBe(format === 'tent');
    expect(said).toBe(language);
  });

  it('has no text outside of its panel, over another or over the code, with any texts', () => {
    const word = fc.string({ unit: fc.constantFrom(...'aeimnwWMÄß-é'), minLength: 1, maxLength: 40 });
    const text = (maxLength: number) =>
      fc.array(word, { minLength: 1, maxLength: 14 }).map((words) => words.join(' ').slice(0, maxLength).trim());
    const content = fc.record({
      ...{ url: fc.constant(url), fold: fc.constant('Fold.'), paper: fc.constant('#14532d') },
      ...{ ink: fc.constant('#ffffff'), label: fc.constant('#ffffff') },
      ...{ name: text(100), headline: text(150), scan: text(60), address: text(100) },
      lines: fc.array(text(120), { maxLength: 4 }),
      logo: fc.option(
        fc.record({
          png: fc.constant(Buffer.alloc(0)),
          width: fc.integer({ min: 1, max: 2048 }),
          height: fc.integer({ min: 1, max: 2048 }),
        }),
        { nil: undefined },
      ),
    });
    fc.assert(
      fc.property(content, (given: PosterContent) => {
        for (const panel of sheetOf(format, given).panels) expectApart(panel);
      }),
      { numRuns: 40 },
    );
  });
});

interface Edges {
  left: number;
  right: number;
  top: number;
  bottom: number;
  of: string;
}

function edgesOf(mark: Mark): Edges[] {
  if (mark.kind === 'picture')
    return [{ left: mark.x, right: mark.x + mark.width, top: mark.y, bottom: mark.y + mark.height, of: 'logo' }];
  if (mark.kind === 'path') return [];
  const { x: left, y, size, text, weight } = mark;
  // Letters with accents and descenders reach a little beyond this.
  return [{ left, right: left + widthOf(text, weight) * size, top: y - 0.75 * size, bottom: y + 0.2 * size, of: text }];
}

function codeEdges({ marks }: Panel): Edges[] {
  const code = marks.find((mark) => mark.kind === 'path' && mark.fill === '#000000');
  if (code?.kind !== 'path') return [];
  const places = [...code.d.matchAll(/M([\d.]+) ([\d.]+)h([\d.]+)v([\d.]+)/g)].map((found) =>
    found.slice(1).map(Number),
  );
  const [xs, ys] = [
    places.flatMap(([x = 0, , w = 0]) => [x, x + w]),
    places.flatMap(([, y = 0, , h = 0]) => [y, y + h]),
  ];
  return [{ left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys), of: 'code' }];
}

function expectApart(panel: Panel): void {
  const all = [...panel.marks.flatMap(edgesOf), ...codeEdges(panel)];
  const slack = 0.5;
  for (const { left, right, top, bottom, of } of all) {
    const inside = left >= -slack && top >= -slack && right <= panel.width + slack && bottom <= panel.height + slack;
    expect([of, inside]).toEqual([of, true]);
  }
  for (const [index, one] of all.entries())
    for (const other of all.slice(index + 1)) {
      const apart =
        one.right <= other.left + slack ||
        other.right <= one.left + slack ||
        one.bottom <= other.top + slack ||
        other.bottom <= one.top + slack;
      expect([one.of, other.of, apart]).toEqual([one.of, other.of, true]);
    }
  // Large enough to be read from across a counter: 25 mm on the smallest sheet.
  for (const { left, right } of codeEdges(panel)) expect(right - left).toBeGreaterThan(71);
}

it.each([
  ['#fde68a', '#fef3c7', '#fde047'],
  ['#777777', '#808080', '#707070'],
  ['#14532d', '#ffffff', '#bbf7d0'],
])('on %s every word can be read', async (background, foreground, label) => {
  const program = programWith({ passTemplate: { colors: { background, foreground, label } } });
  const { panels } = await draw(program, 'a4');
  // The words in the white panel are dark.
  const fills = new Set(textsOf(panels).map(({ fill }) => fill));
  for (const fill of fills)
    expect(contrastOf(fill === '#18181b' ? '#ffffff' : background, fill)).toBeGreaterThanOrEqual(4.5);
});

describe('the letters', () => {
  it('of all texts in five languages, and of names in Greek, Cyrillic, Arabic and Hebrew, are drawn', () => {
    const own = languages.flatMap((language) => {
      const { join, poster } = catalogues[language];
      return [join.readySoon, join.noApp, poster.scan, poster.fold, poster.orOpen('a'), join.collect(8, 'x', 'y')];
    });
    expect(
      missingLetters([...own, 'Ærøskøbing Şişli Łódź Ğ', 'Αθήνα', 'Пекарня Їжак', 'مقهى القمر', 'קפה ירח']),
    ).toEqual([]);
  });

  it('that no font has are named once each, and a picture of no font is left out', async () => {
    expect(missingLetters(['北京 Café', '京'])).toEqual(['北', '京']);
    expect(drawable('🍕 Pizza\u2068 Roma\u2069 👨‍👩‍👧')).toBe('Pizza Roma');
    await expect(draw(programWith({ name: '北京' }), 'a4')).rejects.toMatchObject({
      code: 'POSTER_LETTERS_MISSING',
      details: { letters: ['北', '京'] },
    });
  });
});

it('a text is as large as it may be in its lines, and keeps all its letters unless it is too long at the least size', () => {
  const words = fc.array(fc.string({ unit: fc.constantFrom(...'abcWM'), minLength: 1, maxLength: 30 }), {
    minLength: 1,
    maxLength: 12,
  });
  const box = fc.record({
    width: fc.integer({ min: 40, max: 600 }),
    weight: fc.constantFrom('bold' as const, 'regular' as const),
    size: fc.integer({ min: 20, max: 60 }),
    least: fc.integer({ min: 8, max: 19 }),
    lines: fc.integer({ min: 1, max: 4 }),
  });
  fc.assert(
    fc.property(words, box, (given, room) => {
      const { size, lines } = linesOf(given.join(' '), room);
      expect(lines.length).toBeLessThanOrEqual(room.lines);
      for (const line of lines) expect(widthOf(line, room.weight) * size).toBeLessThanOrEqual(room.width + 1);
      const shown = lines.join('').replaceAll(' ', '');
      if (shown.endsWith('…')) expect(size).toBe(room.least);
      else expect(shown).toBe(given.join(''));
    }),
    { numRuns: 60 },
  );
});
