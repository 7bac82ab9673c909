// The catalogues of the console, each a folder with a file for each page or a few of them.
import type { Language } from '../language.js';
import type { Catalogue } from './en/index.js';
import { withFrenchSpaces } from './spaces.js';

export const catalogues: Record<Language, () => Promise<Catalogue>> = {
  en: () => import('./en/index.js'),
  de: () => import('./de/index.js'),
  fr: () => import('./fr/index.js').then(withFrenchSpaces<Catalogue>),
  es: () => import('./es/index.js'),
  it: () => import('./it/index.js'),
};
