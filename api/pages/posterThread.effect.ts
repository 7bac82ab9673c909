// Draws posters one after another in a thread, which ends when none was asked for in a while.
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { ServiceError } from '../../schemas/shared/errors.js';
import type { PosterDrawn, PosterFile } from './posterFile.view.js';

const self = fileURLToPath(import.meta.url);

const thread = new Piscina<PosterFile, PosterDrawn>({
  filename: new URL(self.endsWith('.ts') ? 'posterFile.view.ts' : 'posterFile.view.js', import.meta.url).href,
  minThreads: 0,
  maxThreads: 1,
  idleTimeout: 30_000,
  ...(self.endsWith('.ts') && { execArgv: ['--import', 'tsx'] }),
});

/** Throws POSTER_LETTERS_MISSING. */
export async function drawPosterFile(poster: PosterFile): Promise<Buffer> {
  const drawn = await thread.run(poster);
  if ('refused' in drawn) throw new ServiceError(...drawn.refused);
  return Buffer.from(drawn.file);
}
