// Fits a text into a box: as large as it may be, in lines of about the same width.
import { lettersOf, type Weight, widthOf } from './posterFonts.rules.js';

export interface Box {
  width: number;
  weight: Weight;
  /** The largest and the smallest size of the font. */
  size: number;
  least: number;
  lines: number;
}

export interface Lines {
  size: number;
  lines: string[];
}

interface Word {
  text: string;
  /** In units of the size of the font. */
  width: number;
}

const wordsOf = (texts: readonly string[], weight: Weight): Word[] =>
  texts.map((text) => ({ text, width: widthOf(text, weight) }));

/** A word that is wider than a line is broken. */
function broken({ text, width }: Word, weight: Weight, limit: number): Word[] {
  if (width <= limit) return [{ text, width }];
  const parts: string[] = [''];
  for (const letter of lettersOf(text)) {
    const longer = parts.at(-1) + letter;
    if (parts.at(-1) === '' || widthOf(longer, weight) <= limit) parts[parts.length - 1] = longer;
    else parts.push(letter);
  }
  return wordsOf(parts, weight);
}

function wrapped(words: readonly Word[], blank: number, limit: number): Word[] {
  const lines: Word[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const width = last ? last.width + blank + word.width : 0;
    if (last && width <= limit) lines[lines.length - 1] = { text: `${last.text} ${word.text}`, width };
    else lines.push(word);
  }
  return lines;
}

function shortened(line: string, weight: Weight, limit: number): string {
  const letters = lettersOf(line);
  while (letters.length > 0 && widthOf(`${letters.join('')}…`, weight) > limit) letters.pop();
  return `${letters.join('').trimEnd()}…`;
}

/** The narrowest lines of the same number, so that no last word stands alone. */
function balanced(words: readonly Word[], blank: number, limit: number): Word[] {
  const count = wrapped(words, blank, limit).length;
  const widest = Math.max(...words.map(({ width }) => width));
  let [low, high] = [Math.max(widest, limit / 2), limit];
  for (let step = 0; step < 8; step += 1) {
    const middle = (low + high) / 2;
    if (wrapped(words, blank, middle).length === count) high = middle;
    else low = middle;
  }
  return wrapped(words, blank, high);
}

/** What does not fit at the smallest size either ends with an ellipsis. */
export function linesOf(text: string, { width, weight, size: most, least, lines: count }: Box): Lines {
  const blank = widthOf(' ', weight);
  const whole = wordsOf(
    text.split(' ').filter((word) => word !== ''),
    weight,
  );
  if (whole.length === 0) return { size: least, lines: [] };
  const widest = Math.max(...whole.map((word) => word.width));
  for (let size = most; size > least; size *= 0.94) {
    const limit = width / size;
    if (widest > limit || wrapped(whole, blank, limit).length > count) continue;
    return { size, lines: balanced(whole, blank, limit).map((line) => line.text) };
  }
  const limit = width / least;
  const lines = wrapped(
    whole.flatMap((word) => broken(word, weight, limit)),
    blank,
    limit,
  ).map((line) => line.text);
  if (lines.length <= count) return { size: least, lines };
  const rest = lines.slice(count - 1).join(' ');
  return { size: least, lines: [...lines.slice(0, count - 1), shortened(rest, weight, limit)] };
}
