// Checks that bytes are a complete, undamaged PNG, without decoding its pixels: signature, chunk lengths, every CRC,
// one IHDR first, at least one IDAT, IEND last with nothing after it. A phone rejects a pass for any such defect.
// Not image-size, which checks no CRC, or pngjs, which decodes the pixels.

import { crc32 } from 'node:zlib';

export type PngReading =
  | { ok: true; width: number; height: number; bitsPerPixel: number; interlaced: boolean }
  | { ok: false; problem: string };

const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Samples per pixel and allowed bit depths by colour type (PNG specification, table 11.1). */
const COLOR_TYPES: Record<number, { samples: number; depths: readonly number[] }> = {
  0: { samples: 1, depths: [1, 2, 4, 8, 16] },
  2: { samples: 3, depths: [8, 16] },
  3: { samples: 1, depths: [1, 2, 4, 8] },
  4: { samples: 2, depths: [8, 16] },
  6: { samples: 4, depths: [8, 16] },
};

const broken = (problem: string): PngReading => ({ ok: false, problem });

export function readPng(bytes: Uint8Array): PngReading {
  if (SIGNATURE.some((byte, index) => bytes[index] !== byte)) return broken('is not a PNG');
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let header: PngReading | undefined;
  let hasPixels = false;
  let at = SIGNATURE.length;
  while (at + 12 <= bytes.length) {
    const length = view.getUint32(at);
    const end = at + 12 + length;
    if (end > bytes.length) return broken('is cut off');
    const typeAndBody = bytes.subarray(at + 4, end - 4);
    if (crc32(typeAndBody) !== view.getUint32(end - 4)) return broken('is damaged (a checksum does not match)');
    const type = String.fromCharCode(...typeAndBody.subarray(0, 4));
    if (header === undefined) {
      if (type !== 'IHDR' || length !== 13) return broken('has no header chunk');
      header = readHeader(view, at + 8);
      if (!header.ok) return header;
    } else if (type === 'IDAT') {
      hasPixels = true;
    } else if (type === 'IEND') {
      if (!hasPixels) return broken('has no pixels');
      return end === bytes.length ? header : broken('has bytes behind its end');
    }
    at = end;
  }
  return broken('is cut off');
}

function readHeader(view: DataView, at: number): PngReading {
  const width = view.getUint32(at);
  const height = view.getUint32(at + 4);
  const depth = view.getUint8(at + 8);
  const colors = COLOR_TYPES[view.getUint8(at + 9)];
  const interlace = view.getUint8(at + 12);
  if (width === 0 || height === 0) return broken('is empty');
  const known = view.getUint8(at + 10) === 0 && view.getUint8(at + 11) === 0 && interlace <= 1;
  if (!colors?.depths.includes(depth) || !known) return broken('has a header that no PNG may have');
  return { ok: true, width, height, bitsPerPixel: colors.samples * depth, interlaced: interlace === 1 };
}
