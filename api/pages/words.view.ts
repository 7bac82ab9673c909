// The words of a page: the catalogue of its language, and the program's own texts, translated where the program has a
// translation (`passTemplate.locales`).
import type { Context } from 'koa';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { type Catalogue, catalogues, type Language, languageOf } from '../../schemas/shared/languages/index.js';

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

/** In the language of the program, or else of the browser that asks. */
export const wordsFor = (ctx: Context, program?: Program): Words =>
  wordsOf(languageOf(program ?? {}, ctx.get('Accept-Language')), program);
