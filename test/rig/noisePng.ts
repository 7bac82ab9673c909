// A PNG of a wanted size in bytes, valid to the last chunk: noise does not compress, the blank rest does.
import { randomFillSync } from 'node:crypto';
import { canvas, encodePng } from '../../activities/apple/drawing.js';

/** About `bytes` long, give or take the format's overhead; the picture must have room for them. */
export function noisePng(width: number, height: number, bytes: number): Buffer {
  const picture = canvas(width, height);
  const noisyRows = Math.min(height, Math.round(bytes / (picture.stride - 1)));
  for (let y = 0; y < noisyRows; y += 1) randomFillSync(picture.rows, y * picture.stride + 1, picture.stride - 1);
  return encodePng(picture, { paper: '#202020', ink: '#e0e0e0' });
}
