// The words of a page: the catalogue of its language, and the program's own texts, translated where the program has a
// translation (`passTemplate.locales`).
import { type Catalogue, catalogues, type Language } from '../../schemas/languages/index.js';
import type { Program } from '../../schemas/programs.js';

export interface Words extends Catalogue {
  language: Language;
  /** A text that the program defines. */
  say: (text: string) => string;
}

export function wordsOf(language: Language, program?: Pick<Program, 'passTemplate'>): Words {
  const translated = program?.passTemplate.locales[language] ?? {};
  const say = (text: string) => (Object.hasOwn(translated, text) ? (translated[text] ?? text) : text);
  return { ...catalogues[language], language, say };
}
