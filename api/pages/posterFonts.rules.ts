// The fonts of posters, how wide a text is in them, and which letters they lack. A text is set in Inter; letters that it
// lacks (Arabic, Hebrew, Georgian, signs) in DejaVu Sans.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { create, type Font } from 'fontkit';

export type Weight = 'bold' | 'regular';

export interface Face {
  name: string;
  bytes: Buffer;
  font: Font;
}

const paths = {
  bold: ['@expo-google-fonts/inter/800ExtraBold/Inter_800ExtraBold.ttf', 'dejavu-fonts-ttf/ttf/DejaVuSans-Bold.ttf'],
  regular: ['@expo-google-fonts/inter/500Medium/Inter_500Medium.ttf', 'dejavu-fonts-ttf/ttf/DejaVuSans.ttf'],
} as const;

const require = createRequire(import.meta.url);

function faceAt(path: string): Face {
  const bytes = readFileSync(require.resolve(path));
  const font = create(bytes);
  if (!('layout' in font)) throw new Error(`${path} is a collection of fonts.`);
  return { name: path, bytes, font };
}

/** Read for the first poster, and kept. */
const read = new Map<string, Face>();

function facesOf(weight: Weight): Face[] {
  return paths[weight].map((path) => {
    const face = read.get(path) ?? faceAt(path);
    read.set(path, face);
    return face;
  });
}

/** Signs that shape or order others, and are not drawn themselves. */
const unseen = /\p{Default_Ignorable_Code_Point}/u;
const picture = /\p{Extended_Pictographic}|\p{Regional_Indicator}/u;

const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
export const lettersOf = (text: string): string[] => Array.from(graphemes.segment(text), ({ segment }) => segment);

const drawn = (letter: string): string[] => Array.from(letter).filter((sign) => !unseen.test(sign));

const faceOf = (letter: string, weight: Weight): Face | undefined =>
  facesOf(weight).find(({ font }) =>
    drawn(letter).every((sign) => font.hasGlyphForCodePoint(sign.codePointAt(0) ?? 0)),
  );

/** Pictures that no font has are decoration, and are left out. */
export function drawable(text: string): string {
  const plain = text.normalize('NFC').replaceAll(/[\u2066-\u2069]|\p{Cc}/gu, ' ');
  const kept = lettersOf(plain).filter((letter) => faceOf(letter, 'regular') || !picture.test(letter));
  return kept.join('').replaceAll(/\s+/g, ' ').trim();
}

/** The letters that would be empty boxes. */
export function missingLetters(texts: readonly string[]): string[] {
  const letters = texts.flatMap((text) => lettersOf(drawable(text)));
  const lacking = letters.filter((letter) => !faceOf(letter, 'regular') || !faceOf(letter, 'bold'));
  return [...new Set(lacking)];
}

export interface Run {
  face: Face;
  text: string;
  /** In units of the size of the font. */
  width: number;
}

/** The text in parts of one font each. Blanks belong to the part before them. */
export function runsOf(text: string, weight: Weight): Run[] {
  const parts: { face: Face; text: string }[] = [];
  for (const letter of lettersOf(text)) {
    const last = parts.at(-1);
    const face = letter === ' ' && last ? last.face : (faceOf(letter, weight) ?? facesOf(weight)[0]);
    if (!face) continue;
    if (last?.face === face) last.text += letter;
    else parts.push({ face, text: letter });
  }
  return parts.map((part) => ({
    ...part,
    width: part.face.font.layout(part.text).advanceWidth / part.face.font.unitsPerEm,
  }));
}

export const widthOf = (text: string, weight: Weight): number =>
  runsOf(text, weight).reduce((sum, { width }) => sum + width, 0);
