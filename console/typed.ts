// What people type: whole numbers, and how many characters a text has.

/** Undefined for what is none, and for `1.000`, which is a thousand to some people and one to others. */
export const wholeNumber = (text: string): number | undefined =>
  /^[+-]?\d+$/.test(text.trim()) ? Number(text) : undefined;

const segmenter = new Intl.Segmenter();

/** As people and the service count them: an emoji of several signs is one. */
export const charactersOf = (text: string): number => [...segmenter.segment(text)].length;
