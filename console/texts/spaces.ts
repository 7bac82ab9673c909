// The spaces inside the texts of French.

/** No line ends before a colon or a sign like it, nor inside quotation marks. */
export function withFrenchSpaces<T>(texts: T): T {
  if (typeof texts === 'string') return texts.replaceAll(/ (?=[:;?!»])|(?<=«) /g, '\u00a0') as T;
  if (typeof texts === 'function') return ((...given: unknown[]) => withFrenchSpaces(texts(...given))) as T;
  if (typeof texts !== 'object' || texts === null) return texts;
  return Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, withFrenchSpaces(text)])) as T;
}
