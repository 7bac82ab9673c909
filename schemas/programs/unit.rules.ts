// What people collect, as a sentence writes it: programs have it in capitals, as the label on the face of a card.

/** In capitals, shorter ones are an abbreviation, such as XP. */
const shortest = 3;
/** Short words that are none. */
const small = new Set('am au d da de del des di do du el en im in l la las le les los of on to zu'.split(' '));

interface Part {
  /** A word and the signs after it. */
  part: string;
  isAfterApostrophe: boolean;
}

function wordIn({ part, isAfterApostrophe }: Part, language: string): string {
  const word = part.replace(/[^\p{L}]/gu, '');
  const lower = part.toLocaleLowerCase(language);
  const isSmall = small.has(word.toLocaleLowerCase(language));
  if (word.length < shortest && !isSmall && !isAfterApostrophe) return part;
  const isCapitals = part !== lower && part === part.toLocaleUpperCase(language);
  const [first = ''] = part;
  // Only German capitalises nouns.
  if (language === 'de' && !isSmall) return isCapitals ? first + lower.slice(first.length) : part;
  const isCapitalised = part.slice(first.length) === lower.slice(first.length);
  return isCapitals || isCapitalised ? lower : part;
}

export const unitIn = (language: string, label: string): string =>
  label
    .split(/(?<=[^\p{L}])(?=\p{L})/u)
    .map((part, at, parts) => wordIn({ part, isAfterApostrophe: /['’]$/.test(parts[at - 1] ?? '') }, language))
    .join('');
