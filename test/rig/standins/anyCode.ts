// Codes that each format of barcodes holds, for property tests.
import fc from 'fast-check';
import { type BarcodeFormat, hasCheckDigit } from '../../../schemas/programs/barcodes.rules.js';

export const digitText = (minLength: number, maxLength = minLength) =>
  fc.string({ unit: fc.constantFrom(...'0123456789'), minLength, maxLength });
export const withCheckDigit = (digits: string): string =>
  Array.from('0123456789', (last) => digits + last).find(hasCheckDigit) ?? '';
const textOf = (letters: string) => fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 16 });

const ascii = String.fromCharCode(...Array.from({ length: 94 }, (_, index) => 33 + index));

export const codes: Record<BarcodeFormat, fc.Arbitrary<string>> = {
  QR: textOf(`${ascii}äßğ€`),
  PDF417: textOf(ascii),
  Aztec: textOf(ascii),
  Code128: textOf(ascii),
  Code39: textOf('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-.').filter(({ length }) => length !== 6),
  Codabar: fc.tuple(digitText(3), textOf('0123456789-$:/.+')).map((parts) => parts.join('')),
  EAN13: digitText(12).map(withCheckDigit),
  I2of5: digitText(3, 9).map((digits) => (digits.length % 2 === 0 ? digits : `${digits}0`).padStart(8, '1')),
};
