// A film for the browser's fake camera: the QR code of a card, held still.
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encode } from 'uqr';
import { startBrowser, type TestBrowser } from './browser.js';

const [width, height, scale] = [640, 480, 10];

async function writeFilm(path: string, text: string): Promise<void> {
  const { data, size } = encode(text, { border: 4 });
  const brightness = Buffer.alloc(width * height, 235);
  const [left, top] = [Math.floor((width - size * scale) / 2), Math.floor((height - size * scale) / 2)];
  for (let y = 0; y < size * scale; y += 1)
    for (let x = 0; x < size * scale; x += 1)
      if (data[Math.floor(y / scale)]?.[Math.floor(x / scale)]) brightness[(top + y) * width + left + x] = 16;
  const grey = Buffer.alloc((width * height) / 2, 128);
  const frame = Buffer.concat([Buffer.from('FRAME\n'), brightness, grey]);
  const head = Buffer.from(`YUV4MPEG2 W${width} H${height} F10:1 Ip A1:1 C420jpeg\n`);
  await writeFile(path, Buffer.concat([head, ...Array.from({ length: 10 }, () => frame)]));
}

/** A browser whose camera shows a card with this code. */
export async function startFilmingBrowser(code: string): Promise<TestBrowser> {
  const film = join(await mkdtemp(join(tmpdir(), 'film-')), 'card.y4m');
  await writeFilm(film, code);
  return startBrowser([
    '--use-fake-device-for-media-stream',
    '--use-fake-ui-for-media-stream',
    `--use-file-for-fake-video-capture=${film}`,
  ]);
}
