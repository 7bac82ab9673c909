// What an import says to people: columns that it left out, people without an email, wrong cells by their own titles,
// and all of it in the language of who reads it.
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { batchEnd, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let programId: string;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service?.stop());
beforeEach(async () => {
  merchant = await aMerchant(service);
  ({ _id: programId } = await merchant.program());
});

const header = 'Kundennummer;Vorname;Cognome;Adresse e-mail;Puntos;Geburtstag';
const file = [
  header,
  'K-1;Ada;"Love\nlace";;3;10.12.1815',
  'K-2;Grace;Hopper;grace@example.com;4;',
  '',
  'K-3;Alan;Turing;alan at example.com;1,5;',
].join('\r\n');

const mapping = JSON.stringify({
  ...{ Kundennummer: 'externalId', Vorname: 'firstName', Cognome: 'lastName', Puntos: 'initialPoints' },
  ...{ 'Adresse e-mail': 'email', Geburtstag: null },
});
const mapped = `&mapping=${encodeURIComponent(mapping)}`;
const large = (body: string | Uint8Array<ArrayBuffer>, { language = '', query = '', type = 'text/csv' } = {}) =>
  merchant.call(`/merchants/me/imports?programId=${programId}${query}`, {
    body,
    headers: { 'Content-Type': type, ...(language && { 'Accept-Language': language }) },
  });

describe('a file with titles of its own', () => {
  it('is read with a mapping; the dry run and the batch name the column that it leaves out', async () => {
    const tried = await large(file.replace('\nlace', 'lace'), { query: `&dryRun=true${mapped}` });
    expect(tried.body.data).toMatchObject({
      counts: { total: 3, created: 2, failed: 1 },
      withoutEmail: 1,
      unusedColumns: ['Geburtstag'],
    });
    const columns = tried.body.data.file.columns.map(({ field }: { field: string | null }) => field);
    expect(columns).toEqual(['externalId', 'firstName', 'lastName', 'email', 'initialPoints', null]);
    const { body } = await sendImport(merchant, {
      ...{ programId, file: file.replace('\nlace', 'lace'), fields: { mapping } },
    });
    expect(body.data.counts).toMatchObject({ created: 2, failed: 1 });
    const batch = await batchEnd(merchant, body.data.batchId);
    expect(batch.unusedColumns).toEqual(['Geburtstag']);
    const grace = await merchant.call(`/merchants/me/members/${body.data.results[1].memberId}`);
    expect(grace.body.data).toMatchObject({
      ...{ firstName: 'Grace', lastName: 'Hopper', email: 'grace@example.com', externalId: 'K-2' },
      fieldValues: { points: 4 },
    });
    const plain = await sendImport(merchant, { programId, file: 'email\nplain@example.com\n' });
    expect(await batchEnd(merchant, plain.body.data.batchId)).not.toHaveProperty('unusedColumns');
  });

  it('has its wrong cells named in the language of the caller, with the line at which its row begins', async () => {
    const { body } = await large(file, { query: `&dryRun=true${mapped}`, language: 'de-AT,en;q=0.5' });
    expect(body.data.failures).toEqual([
      { row: 1, line: 2, reason: expect.stringMatching(/^lastName: /), mistakes: [expect.any(Object)] },
      {
        ...{ row: 3, line: 6, reason: 'initialPoints: must be a whole number; email: must be an email address' },
        mistakes: [
          { field: 'initialPoints', display: 'muss eine ganze Zahl sein' },
          { field: 'email', display: 'muss eine E-Mail-Adresse sein' },
        ],
      },
    ]);
  });

  it('gives back its failed rows with the reasons as they are in the answers, or for people', async () => {
    const { body } = await sendImport(merchant, { programId, file, fields: { mapping } });
    const { batchId, results } = body.data;
    const rowsIn = async (query: string) => {
      const { text, status } = await merchant.call(`/merchants/me/batches/${batchId}/errors.csv${query}`);
      expect(status).toBe(200);
      return parse(text, { bom: true, delimiter: ';' }) as string[][];
    };
    const [, first, third] = await rowsIn('');
    expect([first?.at(-1), third?.at(-1)]).toEqual([results[0].reason, results[2].reason]);
    const [titles, , shown] = await rowsIn('?language=de');
    expect(titles).toEqual(['row', ...header.split(';'), 'reason']);
    expect(shown?.at(-1)).toBe(
      'Puntos: muss eine ganze Zahl sein („1,5“); Adresse e-mail: muss eine E-Mail-Adresse sein („alan at example.com“) – Zeile 6 der Datei',
    );
    expect(shown?.slice(1, -1)).toEqual(['K-3', 'Alan', 'Turing', 'alan at example.com', '1,5', '']);
    const [, , english] = await rowsIn('?language=en');
    expect(english?.at(-1)).toContain('Puntos: must be a whole number (“1,5”)');
    const wrong = await merchant.call(`/merchants/me/batches/${batchId}/errors.csv?language=xx`);
    expect([wrong.status, wrong.body.error.code]).toEqual([400, 'VALIDATION_FAILED']);
  });
});

describe('a file that is refused', () => {
  it.each([
    ['a workbook', Buffer.from('PK\x03\x04rest', 'latin1'), 'Das ist eine Arbeitsmappe.'],
    ['letters of another charset', Buffer.from('firstName\nJ\xfcrgen\n', 'latin1'), 'Nahe Zeile 2'],
    ['a quote that stays open', Buffer.from('firstName\n"Ada\n'), 'In Zeile 2 beginnt'],
    ['an unknown column', Buffer.from('firstName;Hobby\nAda;Chess\n'), 'nennen kein Feld: 2'],
    ['two columns for one field', Buffer.from('phone;Phone\n1;2\n'), 'das noch eine andere hat: 2'],
    ['nothing', Buffer.from(''), 'Die Datei ist leer.'],
  ])('for %s says so in the language of the caller, and in English to developers', async (_what, bytes, said) => {
    const { status, body } = await large(new Uint8Array(bytes), { language: 'de' });
    expect([status, body.error.code]).toEqual([400, 'IMPORT_INVALID']);
    expect(body.error.display).toContain(said);
    expect(body.error.message).toMatch(/^The file cannot be imported; nothing was created: /);
    const other = await large(new Uint8Array(bytes), { language: 'fr' });
    expect(other.body.error.display).not.toBe(body.error.display);
  });
});
