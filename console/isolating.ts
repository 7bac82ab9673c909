// Names that are written from right to left, within sentences that are not.

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]/;

/** A name inside a sentence: one that is written from right to left does not reorder the words around it. */
export function isolated<T>(given: T): T {
  if (typeof given === 'string') return (rightToLeft.test(given) ? `\u2068${given}\u2069` : given) as T;
  return (Array.isArray(given) ? given.map(isolated) : given) as T;
}

/** The texts of a catalogue, with what is put into them isolated. */
export function isolating<T>(texts: T): T {
  if (typeof texts === 'function') return ((...given: unknown[]) => texts(...given.map(isolated))) as T;
  if (typeof texts !== 'object' || texts === null) return texts;
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, isolating(text)])) as T;
}
