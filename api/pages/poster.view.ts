// The poster of a program for the counter, in its colours and language: the code of its join page, and what it brings.

import { readableOn } from '../../schemas/programs/contrast.rules.js';
import { largestOf } from '../../schemas/programs/passTemplate.schema.js';
import { readPng } from '../../schemas/programs/png.rules.js';
import type { PosterFormat } from '../../schemas/programs/poster.schema.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { offersOf } from './offers.view.js';
import type { Drawing } from './posterDrawing.view.js';
import { drawable, missingLetters } from './posterFonts.rules.js';
import { rasterised } from './posterPng.view.js';
import { type PosterContent, sheetOf } from './posterSheets.view.js';
import type { Words } from './words.view.js';

/** No poster needs a logo of more pixels. */
const maxLogoPixels = 1_200;

/** Rasterised here: the pictures of programs may be interlaced, or have 16 bits a channel. */
async function logoOf({ passTemplate: { images } }: Program): Promise<PosterContent['logo']> {
  const base64 = largestOf(images.logo ?? images.icon);
  if (base64 === undefined) return undefined;
  const size = readPng(Buffer.from(base64, 'base64'));
  if (!size.ok) return undefined;
  const { width, height } = size;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><image width="${width}" height="${height}" href="data:image/png;base64,${base64}"/></svg>`;
  return { png: await rasterised(svg, Math.min(width, maxLogoPixels)), width, height };
}

/** The texts of the poster. Throws POSTER_LETTERS_MISSING: a letter that no font has would be an empty box. */
function textsOf(program: Program, words: Words, url: string) {
  const { join, poster } = words;
  const name = program.passTemplate.logoText || program.name;
  const [headline = join.title(name), ...others] = offersOf(program, words);
  const texts = {
    name: words.say(name),
    headline,
    scan: poster.scan,
    address: poster.orOpen(url.replace(/^https?:\/\//, '')),
    fold: poster.fold,
  };
  const lines = [...others.slice(0, 2), join.readySoon, join.noApp];
  const letters = missingLetters([...Object.values(texts), ...lines]);
  if (letters.length > 0) throw new ServiceError('POSTER_LETTERS_MISSING', { letters });
  const shown = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, drawable(text)]));
  return { ...texts, ...shown, lines: lines.map(drawable) };
}

interface PosterOf {
  program: Program;
  words: Words;
  url: string;
  format: PosterFormat;
}

export async function drawPoster({ program, words, url, format }: PosterOf): Promise<Drawing> {
  const { background, foreground, label } = program.passTemplate.colors;
  const content: PosterContent = {
    ...textsOf(program, words, url),
    url,
    paper: background,
    ink: readableOn(background, foreground),
    label: readableOn(background, label),
    logo: await logoOf(program),
  };
  return { title: content.name, language: words.language, ...sheetOf(format, content) };
}
