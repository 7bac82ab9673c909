// Reads a PDF as far as posters need it: its size, its embedded fonts, and its filled paths as an SVG.
import { inflateSync } from 'node:zlib';

type Matrix = [number, number, number, number, number, number];

const times = ([a, b, c, d, e, f]: Matrix, [p, q, r, s, t, u]: Matrix): Matrix => [
  ...([p * a + q * c, p * b + q * d, r * a + s * c, r * b + s * d] as const),
  ...([t * a + u * c + e, t * b + u * d + f] as const),
];

/** The unpacked streams, without those that are no text. */
function streamsOf(pdf: Buffer): string[] {
  const text = pdf.toString('latin1');
  return [...text.matchAll(/\/FlateDecode[^>]*>>\s*stream\r?\n/g)].flatMap((found) => {
    const start = (found.index ?? 0) + found[0].length;
    const bytes = pdf.subarray(start, text.indexOf('endstream', start));
    try {
      return [inflateSync(bytes).toString('latin1')];
    } catch {
      return [];
    }
  });
}

const hex = (channel: number) =>
  Math.round(channel * 255)
    .toString(16)
    .padStart(2, '0');

/** The paths of the page's content that are filled, in its order. */
function pathsOf(content: string): string[] {
  const paths: string[] = [];
  let matrix: Matrix = [1, 0, 0, 1, 0, 0];
  let fill = '#000000';
  let path = '';
  let numbers: number[] = [];
  let clip = '';
  const kept: [Matrix, string, string][] = [];
  const points = () =>
    Array.from({ length: numbers.length / 2 }, (_, at) => {
      const [x = 0, y = 0] = numbers.slice(2 * at, 2 * at + 2);
      const [a, b, c, d, e, f] = matrix;
      return `${a * x + c * y + e} ${b * x + d * y + f}`;
    }).join(' ');
  const operators: Record<string, () => void> = {
    q: () => kept.push([matrix, fill, clip]),
    cm: () => {
      matrix = times(matrix, numbers.slice(-6) as Matrix);
    },
    scn: () => {
      fill = `#${numbers.slice(-3).map(hex).join('')}`;
    },
    m: () => {
      path += `M${points()}`;
    },
    l: () => {
      path += `L${points()}`;
    },
    c: () => {
      path += `C${points()}`;
    },
    h: () => {
      path += 'Z';
    },
    n: () => {
      path = '';
    },
    f: () => {
      paths.push(`<path d="${path}" fill="${fill}" clip-path="url(#${clip})"/>`);
      path = '';
    },
  };
  // The path becomes the clip; the posters have one clip at a time.
  operators.W = () => {
    clip = `clip${paths.length}`;
    paths.push(`<clipPath id="${clip}"><path d="${path}"/></clipPath>`);
  };
  operators.Q = () => {
    [matrix, fill, clip] = kept.pop() ?? [matrix, fill, clip];
  };
  for (const word of content.split(/\s+/)) {
    if (/^-?[\d.]+$/.test(word)) {
      numbers.push(Number(word));
      continue;
    }
    operators[word]?.();
    numbers = [];
  }
  return paths;
}

export function readPdf(pdf: Buffer) {
  const text = pdf.toString('latin1');
  const [, width, height] = /\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(text)?.map(Number) ?? [];
  const paths = streamsOf(pdf).flatMap((stream) => (/\bcm\b/.test(stream) ? pathsOf(stream) : []));
  return {
    size: [width, height],
    fonts: [...text.matchAll(/\/FontName \/(?:\w+\+)?([\w-]+)/g)].map(([, name]) => name),
    embedded: (text.match(/\/FontFile2 /g) ?? []).length,
    pages: (text.match(/\/Type \/Page\b(?!s)/g) ?? []).length,
    /** Upright, as it is seen: the first y of a PDF is at the bottom. */
    svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}"><g transform="matrix(1 0 0 -1 0 ${height})">${paths.join('')}</g></svg>`,
  };
}
