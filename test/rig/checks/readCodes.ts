// Reads the codes of a picture with the decoder of the till.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { BarcodeDetector, type DetectedBarcode, prepareZXingModule } from 'barcode-detector/ponyfill';

const wasmBinary = readFileSync(createRequire(import.meta.url).resolve('zxing-wasm/reader/zxing_reader.wasm'));
prepareZXingModule({ overrides: { wasmBinary: wasmBinary.buffer as ArrayBuffer } });

type Formats = NonNullable<ConstructorParameters<typeof BarcodeDetector>[0]>['formats'];

export async function codesIn(png: Buffer, formats: Formats = ['qr_code']): Promise<DetectedBarcode[]> {
  const name = 'DOMRectReadOnly';
  const given = Reflect.get(globalThis, name);
  // Node has none; the decoder makes one of each place.
  Reflect.set(globalThis, name, class Rectangle {});
  try {
    return await new BarcodeDetector({ formats }).detect(new Blob([new Uint8Array(png)]));
  } finally {
    Reflect.set(globalThis, name, given);
  }
}
