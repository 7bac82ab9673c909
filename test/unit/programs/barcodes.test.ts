// The formats of barcodes: what each holds, and that the till reads what a card shows.
import { Resvg } from '@resvg/resvg-js';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { drawBarcode } from '../../../api/pages/barcode.view.js';
import { formats, numberOf } from '../../../console/till/formats.js';
import { readRow } from '../../../schemas/batches/importRows.rules.js';
import {
  appleFormats,
  type BarcodeFormat,
  barcodeFormats,
  externalIdProblem,
  googleFormat,
  hasCheckDigit,
} from '../../../schemas/programs/barcodes.rules.js';
import { passTemplate } from '../../../schemas/programs/passTemplate.schema.js';
import { codesIn } from '../../rig/checks/readCodes.js';
import { codes, digitText, withCheckDigit } from '../../rig/standins/anyCode.js';

/** What the till's own decoder reads from a card's picture. */
async function scanned(format: BarcodeFormat, code: string): Promise<string | undefined> {
  const { svg } = await drawBarcode(format, code);
  const placed = svg.text.replace('<svg ', '<svg x="40" y="40" width="720" height="240" ');
  const page = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 800 320" width="1600"><rect width="800" height="320" fill="#fff"/>${placed}</svg>`;
  const [found] = await codesIn(new Resvg(page).render().asPng(), formats as never[]);
  return found && numberOf(found);
}

describe.each(barcodeFormats)('a card with %s', (format) => {
  it('shows a code that the till reads', async () => {
    await fc.assert(
      fc.asyncProperty(codes[format], async (code) => {
        expect(appleFormats(format, code)[0]).toContain(format);
        expect(await scanned(format, code)).toBe(code);
      }),
      { numRuns: 15 },
    );
  });
});

it.each([
  ['Code128', 'Größe'],
  ['Code39', 'abc'],
  ['Code39', '12$L'],
  ['Code39', '001SZN'],
  ['Codabar', '12A4'],
  ['EAN13', '4006381333932'],
  ['EAN13', '400638133393'],
  ['I2of5', '12345'],
  ['I2of5', '12 34'],
] as const)('%s cannot hold "%s": the code is refused as a new one, and shown as QR', async (format, code) => {
  expect(externalIdProblem({ barcode: 'externalId', barcodeFormat: format }, code)).toMatch(/^must be /);
  expect(externalIdProblem({ barcodeFormat: format }, code)).toBeUndefined();
  expect([appleFormats(format, code), googleFormat(format, code)]).toEqual([['PKBarcodeFormatQR'], 'QR_CODE']);
  expect((await drawBarcode(format, code)).format).toBe('QR');
});

it('puts a QR code behind the formats that some phones and watches do not show', () => {
  const behind = barcodeFormats.filter((format) => appleFormats(format, '4006381333931').length === 2);
  expect(behind).toEqual(['Code128', 'Code39', 'Codabar', 'EAN13']);
  expect(appleFormats('I2of5', '12345678')).toEqual(['PKBarcodeFormatI2of5', 'PKBarcodeFormatQR']);
});

// From the standard's own example (GS1 General Specifications) and from a product.
it.each(['15400141288763', '4006381333931'])('the check digit of %s is right, and no other would be', (code) => {
  const body = code.slice(0, -1);
  expect(Array.from('0123456789', (last) => body + last).filter(hasCheckDigit)).toEqual([code]);
});

it('finds one wrong digit anywhere in a number', () => {
  const changed = fc.tuple(digitText(12), fc.nat(12), fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(changed, ([digits, at, by]) => {
      const right = withCheckDigit(digits);
      const wrong = right.slice(0, at) + String((Number(right[at]) + by) % 10) + right.slice(at + 1);
      expect([hasCheckDigit(right), hasCheckDigit(wrong)]).toEqual([true, false]);
    }),
  );
});

it('Google has Interleaved 2 of 5 for 14 digits with a check digit only', () => {
  expect(['15400141288763', '15400141288764', '1234'].map((code) => googleFormat('I2of5', code))).toEqual([
    'ITF_14',
    'QR_CODE',
    'QR_CODE',
  ]);
});

it.each(['Codabar', 'EAN13', 'I2of5'] as const)('%s is refused for cards that show member codes', (barcodeFormat) => {
  const refused = passTemplate.safeParse({ barcodeFormat });
  expect(refused.error?.issues).toEqual([
    expect.objectContaining({ path: ['barcodeFormat'], message: expect.stringContaining('set barcode to externalId') }),
  ]);
  expect(passTemplate.safeParse({ barcodeFormat, barcode: 'externalId' }).success).toBe(true);
});

it('a row whose number the card cannot show fails with the reason', () => {
  const columns = {
    fields: ['externalId' as const],
    added: new Set<number>(),
    unnamed: new Set<number>(),
    unused: [],
    isGuarded: false,
  };
  const program = {
    style: 'points' as const,
    passTemplate: { barcode: 'externalId' as const, barcodeFormat: 'EAN13' as const },
  };
  const read = (cell: string) => readRow({ row: 1, line: 2, cells: [cell] }, { columns, program });
  expect(read('4006381333931')).toMatchObject({ person: { externalId: '4006381333931' } });
  expect(read('4006381333930').reason).toBe(
    'externalId: must be 13 digits of which the last is the check digit, because the cards show it as EAN13',
  );
});
