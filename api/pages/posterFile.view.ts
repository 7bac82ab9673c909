// The file of a poster. It runs in a thread of its own (posterThread.effect.ts): setting the text takes long enough to
// hold up every other request.
import type { PosterFormat, PosterType } from '../../schemas/programs/poster.schema.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { Language } from '../../schemas/shared/languages/index.js';
import { drawPoster } from './poster.view.js';
import { posterPdf } from './posterPdf.view.js';
import { posterPng } from './posterPng.view.js';
import { wordsOf } from './words.view.js';

/** All of it can be copied between threads. */
export interface PosterFile {
  program: Program;
  language: Language;
  /** Of the join page. */
  url: string;
  format: PosterFormat;
  type: PosterType;
}

export type PosterDrawn = { file: Uint8Array } | { refused: ConstructorParameters<typeof ServiceError> };

/** An error would lose its code on its way between threads, so a refusal is returned. */
export default async function posterFile({ program, language, url, format, type }: PosterFile): Promise<PosterDrawn> {
  try {
    const drawing = await drawPoster({ program, words: wordsOf(language, program), url, format });
    return { file: await (type === 'pdf' ? posterPdf(drawing) : posterPng(drawing)) };
  } catch (error) {
    if (error instanceof ServiceError) return { refused: [error.code, error.details] };
    throw error;
  }
}
