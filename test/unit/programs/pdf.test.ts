// Which PDFs are a picture of a pass, and the size of their page.
import { buffer } from 'node:stream/consumers';
import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import PDFDocument from 'pdfkit';
import { expect, it } from 'vitest';
import { readPdf } from '../../../schemas/programs/pdf.rules.js';
import { onePagePdf } from '../../rig/standins/anyPicture.js';

async function drawn(options: PDFKit.PDFDocumentOptions, draw: (pdf: PDFKit.PDFDocument) => void = () => undefined) {
  const pdf = new PDFDocument(options);
  draw(pdf);
  pdf.end();
  return buffer(pdf);
}
const size: [number, number] = [160, 50];
const plain = onePagePdf(160, 50).toString('latin1');
const changed = (from: string, to: string) => Buffer.from(plain.replace(from, to), 'latin1');

it('the page of a plain PDF has its size in points', async () => {
  expect(readPdf(await drawn({ size }, (pdf) => pdf.rect(0, 0, 9, 9).fill('red')))).toMatchObject({
    ...{ ok: true, width: 160, height: 50 },
  });
  expect(readPdf(changed('[0 0 160 50]', '[-10.5 0 149.5 50]'))).toEqual({ ok: true, width: 160, height: 50 });
  expect(readPdf(changed('/MediaBox', '/CropBox [0 0 80 20] /MediaBox'))).toMatchObject({ width: 80, height: 20 });
  expect(readPdf(changed('/Parent', '/Rotate 90 /Parent'))).toMatchObject({ width: 50, height: 160 });
  expect(readPdf(changed('/Root', '/Info << /Title (A livestream) >> /Root'))).toMatchObject({ ok: true });
});

const objects = (text: string) =>
  Buffer.concat([
    Buffer.from('%PDF-1.5\n1 0 obj << /Type /ObjStm /N 3 /Filter /FlateDecode >> stream\n'),
    deflateSync(text),
    Buffer.from('\nendstream endobj\nstartxref\n0\n%%EOF\n'),
  ]);

it('packed objects are read, too', () => {
  const page = '<< /Type /Page /MediaBox [0 0 38 38] >>';
  expect(readPdf(objects(page))).toEqual({ ok: true, width: 38, height: 38 });
  expect(readPdf(objects(`${page} << /S /Java#53cript /JS (x) >>`))).toMatchObject({ ok: false });
  expect(readPdf(objects(page + ' '.repeat(2_000_000)))).toEqual({ ok: false, problem: 'is damaged' });
});

it.each([
  ['a PNG', async () => Buffer.from('\x89PNG'), 'is not a PDF'],
  ['a PDF that is cut off', async () => onePagePdf(38, 38).subarray(0, -20), 'is cut off'],
  ['a stream without an end', async () => changed('endstream', ''), 'is damaged'],
  ['a PDF with a password', () => drawn({ size, userPassword: 'a', pdfVersion: '1.7' }), 'is encrypted'],
  [
    'a script',
    async () => changed('/Pages 2', '/OpenAction << /S /JavaScript /JS (app.alert\\(1\\)) >> /Pages 2'),
    'has scripts, actions or attachments',
  ],
  ['two pages', () => drawn({ size }, (pdf) => pdf.addPage()), 'has 2 pages, not one'],
  ['no page', async () => changed('/Type /Page ', ''), 'has 0 pages, not one'],
  ['a page without size', async () => changed('[0 0 160 50]', '5 0 R'), 'has a page of a size that cannot be read'],
  ['a larger unit', async () => changed('/Parent', '/UserUnit 2 /Parent'), 'has a page of a size that cannot be read'],
  ['an empty page', async () => changed('[0 0 160 50]', '[0 0 0 50]'), 'has a page of a size that cannot be read'],
])('%s is refused', async (_, bytes, problem) => {
  expect(readPdf(await bytes())).toEqual({ ok: false, problem });
});

it('any bytes are read within a moment', () => {
  const word = fc.constantFrom('<<', '>>', 'stream\n', 'endstream', 'obj', '/Type /ObjStm', '/Type', ' ', '[0 ', '#4a');
  fc.assert(
    fc.property(fc.array(word, { maxLength: 20 }), (words) => {
      const start = process.cpuUsage();
      readPdf(Buffer.from(`%PDF-${words.join('').repeat(4_000)}%%EOF`));
      expect(process.cpuUsage(start).user).toBeLessThan(4_000_000);
    }),
    { numRuns: 50 },
  );
});
