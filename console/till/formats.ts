// The formats of codes that the camera reads.

export interface Found {
  rawValue: string;
  format: string;
}

export const formats = [
  'qr_code',
  'aztec',
  'pdf417',
  'code_128',
  'code_39',
  'codabar',
  'ean_13',
  'ean_8',
  'upc_a',
  'itf',
];

/** Formats without a check digit of their own: part of such a code can be read as another code. */
export const unsafe = ['code_39', 'codabar', 'itf'];

/** The number of a card. Codabar has a letter at both ends, which is not part of the number. */
export const numberOf = ({ rawValue, format }: Found): string =>
  format === 'codabar' ? rawValue.replace(/^[A-D]|[A-D]$/gi, '') : rawValue;
