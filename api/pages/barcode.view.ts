// Draws the code of a card in the format of its program.
import { LRUCache } from 'lru-cache';
import { renderSVG } from 'uqr';
import { Html } from '../../platform/html.js';
import { type BarcodeFormat, shownFormat } from '../../schemas/programs/barcodes.rules.js';

const drawn = new LRUCache<string, Html>({ max: 1_000 });

export function qrSvg(text: string): Html {
  const svg = drawn.get(text) ?? new Html(renderSVG(text, { border: 0 }));
  drawn.set(text, svg);
  return svg;
}

/** The names of the formats in the encoder (bwip-js). */
const encoders = {
  PDF417: 'pdf417',
  Aztec: 'azteccode',
  Code128: 'code128',
  Code39: 'code39',
  Codabar: 'rationalizedCodabar',
  EAN13: 'ean13',
  I2of5: 'interleaved2of5',
} as const;

export interface DrawnBarcode {
  code: string;
  format: BarcodeFormat;
  svg: Html;
}

/** A code that the format cannot hold is drawn as a QR code. */
export async function drawBarcode(given: BarcodeFormat, code: string): Promise<DrawnBarcode> {
  const format = shownFormat(given, code);
  return { code, format, svg: format === 'QR' ? qrSvg(code) : await encoded(format, code) };
}

async function encoded(format: keyof typeof encoders, code: string): Promise<Html> {
  const key = `${format} ${code}`;
  const known = drawn.get(key);
  if (known) return known;
  // Loaded for the first card that needs it: it is large.
  const encoder = await import('bwip-js/generic');
  // The letters at both ends are part of the symbol, not of the number.
  const text = format === 'Codabar' ? `A${code}A` : code;
  const svg = new Html(encoder[encoders[format]]({ bcid: encoders[format], text }, encoder.drawingSVG()));
  drawn.set(key, svg);
  return svg;
}
