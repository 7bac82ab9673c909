// Makes a valid PNG of a given size in bytes: noise rows do not compress, blank rows do.
import { randomFillSync } from 'node:crypto';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';

/**
 * The result has about `bytes` bytes plus the overhead of the format. The picture's dimensions must have room for that
 * many bytes.
 */
export function noisePng(width: number, height: number, bytes: number): Buffer {
  const picture = canvas(width, height);
  const noisyRows = Math.min(height, Math.round(bytes / (picture.stride - 1)));
  for (let y = 0; y < noisyRows; y += 1) randomFillSync(picture.rows, y * picture.stride + 1, picture.stride - 1);
  return encodePng(picture, { paper: '#202020', ink: '#e0e0e0' });
}
