// The formats in which cards show their code: what each can hold, and what Apple and Google call it. A code that its
// format cannot hold is refused where it is given (as an external id), and shown as a QR code where it is stored.

export const barcodeFormats = ['QR', 'PDF417', 'Aztec', 'Code128', 'Code39', 'Codabar', 'EAN13', 'I2of5'] as const;
export type BarcodeFormat = (typeof barcodeFormats)[number];

interface FormatRule {
  holds: (code: string) => boolean;
  /** What a code must be, as the end of a sentence. */
  must: string;
  apple: string;
  /** undefined: Google has no such format for this code. */
  google: (code: string) => string | undefined;
  /** Some phones and watches do not show this format; Apple takes the next one there. */
  needsQrBehind: boolean;
}

/** The check digit of GS1 (EAN-13, ITF-14): the weights 3 and 1 alternate from the right. */
export function hasCheckDigit(digits: string): boolean {
  const sum = Array.from(digits.slice(0, -1))
    .reverse()
    .reduce((total, digit, index) => total + Number(digit) * (index % 2 === 0 ? 3 : 1), 0);
  return (10 - (sum % 10)) % 10 === Number(digits.at(-1));
}

const ofForm = (form: RegExp) => (code: string) => form.test(code);
const isItf14 = (code: string) => /^\d{14}$/.test(code) && hasCheckDigit(code);

const anyText = { holds: () => true, must: 'any text', needsQrBehind: false };

const rules: Record<BarcodeFormat, FormatRule> = {
  QR: { ...anyText, apple: 'PKBarcodeFormatQR', google: () => 'QR_CODE' },
  PDF417: { ...anyText, apple: 'PKBarcodeFormatPDF417', google: () => 'PDF_417' },
  Aztec: { ...anyText, apple: 'PKBarcodeFormatAztec', google: () => 'AZTEC' },
  Code128: {
    ...{ holds: ofForm(/^[ -~]+$/), must: 'letters without accents, digits and signs of ASCII', needsQrBehind: true },
    ...{ apple: 'PKBarcodeFormatCode128', google: () => 'CODE_128' },
  },
  Code39: {
    // Its other signs are read by some scanners as the first half of another letter (full ASCII), and six signs as a
    // number of Italian medicines (Code 32).
    holds: ofForm(/^(?!.{6}$)[0-9A-Z .-]+$/),
    must: 'capitals A to Z, digits, blanks, hyphens and dots, and not six of them',
    ...{ apple: 'PKBarcodeFormatCode39', google: () => 'CODE_39', needsQrBehind: true },
  },
  Codabar: {
    ...{ holds: ofForm(/^[0-9$+./:-]+$/), must: 'digits and - $ : / . +', needsQrBehind: true },
    ...{ apple: 'PKBarcodeFormatCodabar', google: () => 'CODABAR' },
  },
  EAN13: {
    holds: (code) => /^\d{13}$/.test(code) && hasCheckDigit(code),
    ...{ must: '13 digits of which the last is the check digit', needsQrBehind: true },
    ...{ apple: 'PKBarcodeFormatEAN13', google: () => 'EAN_13' },
  },
  I2of5: {
    ...{ holds: ofForm(/^(?:\d\d)+$/), must: 'an even number of digits', needsQrBehind: true },
    apple: 'PKBarcodeFormatI2of5',
    google: (code) => (isItf14(code) ? 'ITF_14' : undefined),
  },
};

interface BarcodeChoice {
  barcode?: 'memberCode' | 'externalId' | undefined;
  barcodeFormat?: BarcodeFormat | undefined;
}

/** In capitals and digits, as member codes are. */
const sampleMemberCode = '0A1B2C3D4E';

/** Why member codes cannot be shown in the chosen format; undefined when they can. */
export function memberCodeProblem({ barcode, barcodeFormat = 'QR' }: BarcodeChoice): string | undefined {
  if (barcode === 'externalId' || rules[barcodeFormat].holds(sampleMemberCode)) return undefined;
  return `${barcodeFormat} holds ${rules[barcodeFormat].must}, and member codes have letters: set barcode to externalId`;
}

/** Why an external id cannot be the code of a card; undefined when it can, or when the card shows the member code. */
export function externalIdProblem({ barcode, barcodeFormat = 'QR' }: BarcodeChoice, externalId: string) {
  if (barcode !== 'externalId' || rules[barcodeFormat].holds(externalId)) return undefined;
  return `must be ${rules[barcodeFormat].must}, because the cards show it as ${barcodeFormat}`;
}

/** The format in which one code is shown. */
export const shownFormat = (format: BarcodeFormat, code: string): BarcodeFormat =>
  rules[format].holds(code) ? format : 'QR';

/** The formats of one code for Apple, best first. */
export function appleFormats(format: BarcodeFormat, code: string): string[] {
  const { apple, needsQrBehind } = rules[shownFormat(format, code)];
  return needsQrBehind ? [apple, rules.QR.apple] : [apple];
}

export const googleFormat = (format: BarcodeFormat, code: string): string =>
  rules[shownFormat(format, code)].google(code) ?? 'QR_CODE';
