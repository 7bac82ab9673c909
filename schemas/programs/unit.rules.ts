// What people collect, as it stands inside a sentence: programs have it in capitals, as the label on the face of a card.

/** So short, capitals are an abbreviation, such as XP. */
const shortest = 3;

function wordIn(word: string, language: string): string {
  const lower = word.toLocaleLowerCase(language);
  const isCapitals = word.length >= shortest && word !== lower && word === word.toLocaleUpperCase(language);
  const [first = ''] = word;
  // Only German capitalises nouns.
  if (language === 'de') return isCapitals ? first + lower.slice(first.length) : word;
  const isCapitalised = word.slice(first.length) === lower.slice(first.length);
  return word.length >= shortest && (isCapitals || isCapitalised) ? lower : word;
}

export const unitIn = (language: string, label: string): string =>
  label
    .split(/(?<=[^\p{L}])(?=\p{L})/u)
    .map((word) => wordIn(word, language))
    .join('');
