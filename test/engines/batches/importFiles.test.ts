// Imports with real files: European spreadsheets, mapped columns, existing card numbers, dry runs, and imports without
// an event for each row.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newMemberCodes } from '../../../activities/members/memberCodes.reads.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { collectionNames } from '../../../schemas/tables/collections.js';
import { until } from '../../rig/checks/until.js';
import { aDesigner } from '../../rig/start/designer.js';
import { batchEnd, csvOf, type ImportForm, importForm, sendImport } from '../../rig/start/imports.js';
import { aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let merchant: TestMerchant;
let program: Program;

beforeAll(async () => {
  subscribed = await startSubscribedService(['member.created', 'pass.created', 'batch.completed']);
  merchant = subscribed.merchant;
  program = await merchant.program();
});
afterAll(() => subscribed.stop());

const small = (form: Omit<ImportForm, 'programId'>) => sendImport(merchant, { programId: program._id, ...form });
const large = (body: string | Uint8Array, { query = '', type = 'text/csv' } = {}) =>
  merchant.call(`/merchants/me/imports?programId=${program._id}${query}`, { body, headers: { 'Content-Type': type } });
const mapped = (mapping: Record<string, string | null>) => `&mapping=${encodeURIComponent(JSON.stringify(mapping))}`;
interface Enrolled {
  by?: TestMerchant;
  programId?: string;
  email?: string;
}
const enroll = (externalId: string, { by = merchant, programId = program._id, ...fields }: Enrolled = {}) =>
  by.call('/merchants/me/members', { body: { programId, externalId, ...fields } });
const bySerial = async (serial: string, query = ''): Promise<string[]> => {
  const { body } = await merchant.call(`/merchants/me/members?serial=${encodeURIComponent(serial)}${query}`);
  return body.data.items.map(({ id }: { id: string }) => id);
};

const german = { Vorname: 'firstName', 'E-Mail': 'email', Kartennummer: 'externalId', Bemerkung: null };
const latin = (name: string, card: string) =>
  new Uint8Array(
    Buffer.from(
      `Vorname;E-Mail;Kartennummer;Bemerkung\r\n${name};${card}@example.com;${card};"5 \x80; bar"\r\n`,
      'latin1',
    ),
  );

describe('a spreadsheet of Europe', () => {
  it('is imported by a form: its charset in the Content-Type of the part, its columns by the mapping', async () => {
    const file = latin('J\xfcrgen', 'form-1');
    const type = 'text/csv; charset=windows-1252';
    const { body } = await small({ file, type, fields: { mapping: JSON.stringify(german) } });
    expect(body.error).toBeUndefined();
    expect(body.data.counts).toEqual({ total: 1, created: 1, deduped: 0, failed: 0 });
    const { body: detail } = await merchant.call(`/merchants/me/members/${body.data.results[0].memberId}`);
    expect(detail.data).toMatchObject({ firstName: 'Jürgen', email: 'form-1@example.com', externalId: 'form-1' });
  });

  it('is imported as a stream: its charset in the Content-Type of the request, its mapping in the query', async () => {
    const type = 'text/csv; charset=windows-1252';
    const { status, body } = await large(latin('Zo\xeb', 'stream-1'), { query: mapped(german), type });
    expect([status, body.error]).toEqual([202, undefined]);
    const batch = await batchEnd(merchant, body.data.id);
    expect(batch).toMatchObject({ counts: { total: 1, created: 1 }, mapping: { 'e-mail': 'email', bemerkung: null } });
    const { body: found } = await merchant.call('/merchants/me/members?serial=stream-1');
    expect(found.data.items).toMatchObject([{ firstName: 'Zoë', externalId: 'stream-1' }]);
  });

  it('in UTF-16 with tabs is imported as a form with the fields before the file', async () => {
    const text = '\uFEFFEmail\tExternalId\r\nutf16@example.com\tutf16-1\r\n';
    const file = new Uint8Array(Buffer.from(text, 'utf16le'));
    const form = importForm({ programId: program._id, file, type: 'text/tab-separated-values', fieldsFirst: true });
    const { body } = await merchant.call('/merchants/me/imports', { body: form });
    expect((await batchEnd(merchant, body.data.id)).counts).toMatchObject({ total: 1, created: 1 });
    expect(await bySerial('utf16-1')).toHaveLength(1);
  });

  it('is refused in another charset, with unknown columns, and with an invalid mapping', async () => {
    const file = latin('J\xfcrgen', 'refused-1');
    const unknown = await small({ file, type: 'text/csv; charset=windows-1252' });
    expect(outcome(unknown)).toEqual([400, 'IMPORT_INVALID']);
    expect(unknown.body.error.details.unknownColumns).toContainEqual({ column: 2, header: 'E-Mail', nearest: 'email' });
    const said = await large(file, { query: mapped(german) });
    expect(said.body.error.message).toContain('charset=windows-1252');
    expect(outcome(await small({ file, type: 'text/csv; charset=koi8-r' }))).toEqual([400, 'IMPORT_INVALID']);
    expect(outcome(await large(file, { type: 'text/csv; charset=koi8-r' }))).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE']);
    for (const mapping of ['{', '[]', '{"Vorname":"name"}', `{"a":"${'x'.repeat(9_000)}"}`])
      expect(outcome(await small({ file, fields: { mapping } }))).toEqual([400, 'VALIDATION_FAILED']);
    const late = importForm({ file, fields: { mapping: '{}' } });
    const again = await merchant.call(`/merchants/me/imports?programId=${program._id}`, { body: late });
    expect(again.status).toBe(400);
    expect(await bySerial('refused-1')).toEqual([]);
  });

  it('that is too large for one answer is refused with the name of the endpoint for large files', async () => {
    const { body } = await small({ file: csvOf(5_001) });
    expect(body.error).toMatchObject({
      code: 'IMPORT_TOO_LARGE',
      message: expect.stringContaining('POST /merchants/me/imports takes up to 1000000 rows'),
    });
    const bytes = await small({ file: 'x'.repeat(1_200_000) });
    expect(bytes.body.error.message).toContain('POST /merchants/me/imports');
  });
});

describe('an external id', () => {
  it('belongs to one member of a program, also when two are enrolled at the same time', async () => {
    const first = await enroll('4001', { email: 'first.4001@example.com' });
    expect([first.status, first.body.data.externalId]).toEqual([201, '4001']);
    expect(outcome(await enroll(' 4001 '))).toEqual([409, 'EXTERNAL_ID_TAKEN']);
    // The email belongs to a member, so no member is created and no external id is taken.
    const known = await enroll('4001-b', { email: 'first.4001@example.com' });
    expect([known.status, known.body.data.deduped, known.body.data.externalId]).toEqual([200, true, '4001']);
    const answers = await Promise.all(Array.from({ length: 6 }, () => enroll('4002')));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    const refused = await Promise.all(['', ' ', 'x'.repeat(65), 'a\nb'].map((externalId) => enroll(externalId)));
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    const other = await aMerchant(subscribed.service);
    expect((await enroll('4001', { by: other, programId: (await other.program())._id })).status).toBe(201);
  });

  it('that is taken, or in an earlier row, fails only its row of an import', async () => {
    const file = 'email,externalId\na@4003.com,4003\nb@4003.com,4001\nc@4003.com,4003\na@4003.com,4001\n,4003-d\n';
    const { body } = await small({ file });
    expect(body.data.results).toMatchObject([
      { outcome: 'created' },
      { outcome: 'failed', reason: 'externalId: another member of the program has it' },
      { outcome: 'failed', reason: 'externalId: another member of the program has it' },
      { outcome: 'deduped' },
      { outcome: 'created' },
    ]);
    const rows = await subscribed.service.deps.collections.externalIds.countDocuments({ merchantId: merchant.id });
    const members = { merchantId: merchant.id, externalId: { $exists: true } };
    expect(rows).toBe(await subscribed.service.deps.collections.members.countDocuments(members));
  });

  it('finds its member as `serial` and by a scan, which needs the program when two programs have it', async () => {
    const second = await merchant.program();
    const scan = (body: Record<string, string>) => merchant.call('/merchants/me/scans', { body });
    const [one] = [await enroll('4004')];
    expect((await scan({ code: '4004' })).body.data.id).toBe(one.body.data.id);
    const other = await enroll('4004', { programId: second._id });
    expect(other.status).toBe(201);
    expect(await bySerial('4004')).toEqual([other.body.data.id, one.body.data.id]);
    expect(await bySerial('4004', `&programId=${second._id}`)).toEqual([other.body.data.id]);
    const unclear = await scan({ code: '4004' });
    expect(outcome(unclear)).toEqual([400, 'VALIDATION_FAILED']);
    expect(unclear.body.error.details).toEqual([{ path: 'programId', message: expect.stringContaining('required') }]);
    const clear = await scan({ code: '4004', programId: second._id });
    expect([clear.status, clear.body.data.id]).toEqual([200, other.body.data.id]);
    expect(outcome(await scan({ code: '4004', programId: 'no-such' }))).toEqual([404, 'MEMBER_NOT_FOUND']);
    const stranger = await aMerchant(subscribed.service);
    const foreign = await stranger.call('/merchants/me/members?serial=4004');
    expect(foreign.body.data.total).toBe(0);
  });

  it('is set, changed and removed by PATCH, and can then be used again', async () => {
    const member = (await enroll('4005')).body.data;
    const patch = (externalId: string | null) =>
      merchant.call(`/merchants/me/members/${member.id}`, { method: 'PATCH', body: { externalId } });
    expect(outcome(await patch('4001'))).toEqual([409, 'EXTERNAL_ID_TAKEN']);
    expect((await patch('4006')).body.data.externalId).toBe('4006');
    expect([await bySerial('4005'), await bySerial('4006')]).toEqual([[], [member.id]]);
    expect((await patch(null)).body.data).not.toHaveProperty('externalId');
    expect((await enroll('4006')).status).toBe(201);
  });

  it('is never what a scan reads as the code or serial number of another member of the program', async () => {
    const taken = (await enroll('4008')).body.data;
    const { memberCode, serialNumber } = taken;
    const codes = [memberCode, ` ${memberCode.toLowerCase()}`, serialNumber, serialNumber.toUpperCase()];
    for (const code of codes) expect([code, outcome(await enroll(code))]).toEqual([code, [409, 'EXTERNAL_ID_TAKEN']]);
    const change = (id: string, externalId: string) =>
      merchant.call(`/merchants/me/members/${id}`, { method: 'PATCH', body: { externalId } });
    const other = (await enroll('4009')).body.data;
    for (const code of codes) expect(outcome(await change(other.id, code))).toEqual([409, 'EXTERNAL_ID_TAKEN']);
    const file = `externalId\n${codes.join('\n')}\n4010\n`;
    const failed = { outcome: 'failed', reason: 'externalId: another member of the program has it' };
    const { body: dry } = await small({ file, fields: { dryRun: 'true' } });
    expect(dry.data.counts).toMatchObject({ created: 1, failed: codes.length });
    const { body } = await small({ file });
    expect(body.data.results).toMatchObject([...codes.map(() => failed), { outcome: 'created' }]);
    expect((await change(taken.id, memberCode)).status).toBe(200);
    expect(await bySerial(memberCode)).toEqual([taken.id]);
    const elsewhere = await enroll(memberCode, { programId: (await merchant.program())._id });
    expect(elsewhere.status).toBe(201);
  });

  it('is never the code of a new member, whatever its case', async () => {
    const { deps } = subscribed.service;
    for (const externalId of ['Card004011', 'cARD004012']) expect((await enroll(externalId)).status).toBe(201);
    const drawn = ['CARD004011', 'CARD004012', 'CARD004013', 'CARD004014'];
    const draw = () => drawn.shift() ?? 'CARD004015';
    const codes = await newMemberCodes(deps, { merchantId: merchant.id, count: 2, except: ['card004013'], draw });
    expect(codes).toEqual(['CARD004014', 'CARD004015']);
  });

  it('is refused wherever it is given when the card of the program cannot show it', async () => {
    const passTemplate = { barcode: 'externalId', barcodeFormat: 'EAN13' };
    const { _id: programId } = await merchant.program({ passTemplate });
    const must = 'must be 13 digits of which the last is the check digit, because the cards show it as EAN13';
    const refusal = { error: { code: 'VALIDATION_FAILED', details: [{ path: 'externalId', message: must }] } };
    expect((await enroll('4006381333932', { programId })).body).toMatchObject(refusal);
    const { id } = (await enroll('4006381333931', { programId })).body.data;
    const change = (externalId: string | null) =>
      merchant.call(`/merchants/me/members/${id}`, { method: 'PATCH', body: { externalId } });
    expect((await change('12')).body).toMatchObject(refusal);
    expect([(await change(null)).status, (await change('4006381333931')).status]).toEqual([200, 200]);
    const { body } = await small({ file: 'externalId\n5901234123457\n5901234123450\n', fields: { programId } });
    expect(body.data.results).toMatchObject([
      { outcome: 'created' },
      { outcome: 'failed', reason: `externalId: ${must}` },
    ]);
  });

  it('is shown on card and passes if the program says so; members without one show the member code', async () => {
    const shown = await merchant.program({ passTemplate: { barcode: 'externalId' } });
    const card = async (member: { apple: { passUrl: string } }) => (await fetch(member.apple.passUrl)).text();
    const plastic = (await enroll('4007-plastic', { programId: shown._id })).body.data;
    expect(await card(plastic)).toContain(`Code of Card number 4007-plastic, Member ID ${plastic.memberCode}`);
    const without = await merchant.call('/merchants/me/members', { body: { programId: shown._id } });
    expect(await card(without.body.data)).toContain(`Code of Member ID ${without.body.data.memberCode}`);
    const designer = await aDesigner(merchant);
    const draft = { slug: 'any', name: 'Any', style: 'points', fields: { primaryLabel: 'POINTS' } };
    const face = async (barcode: string) => {
      const body = {
        program: { ...draft, passTemplate: { barcode } },
        member: { externalId: '4008', memberCode: 'ABC' },
      };
      const { apple, google } = (await designer.call('/preview', { body })).body.data;
      return [apple.barcodes[0].message, apple.barcodes[0].altText, google.object.barcode.value];
    };
    expect(await face('externalId')).toEqual(['4008', '4008', '4008']);
    expect(await face('memberCode')).toEqual(['ABC', 'ABC', 'ABC']);
  });
});

describe('a dry run', () => {
  const written = ['members', 'emails', 'externalIds', 'memberSearchWords', 'counters', 'ledger', 'events', 'timeline'];
  const names = collectionNames.filter((name) => [...written, 'batches', 'importChunks'].includes(name));

  /** How many rows of the merchant each collection has, besides what numbers its requests, the dry run's among them. */
  const stored = async ({ id: merchantId }: TestMerchant) => {
    const { collections } = subscribed.service.deps;
    const counted = { merchantId, _id: { $ne: `requests:${merchantId}` } };
    return Promise.all(names.map(async (name) => [name, await collections[name].countDocuments(counted)]));
  };

  it('returns the expected result and all failures on both endpoints, and writes nothing', async () => {
    const merchant = await aMerchant(subscribed.service);
    const { _id: programId } = await merchant.program();
    const { events } = subscribed.service.deps.collections;
    await enroll('dry-taken', { by: merchant, programId, email: 'known@dry.com' });
    await until(async () => (await events.countDocuments({ merchantId: merchant.id, state: 'published' })) === 3);
    const twoLines = '"A\nB"';
    const kinds = [
      { text: 'bad;;', reason: /^email: [^;]*$/ },
      { text: `bad;1E+9;${twoLines}`, reason: /^externalId: .*; email: / },
      { text: '\n;;;;;;;', reason: undefined },
      { text: 'a@b.com;x;y;z', reason: /^the row has 4 cells/ },
      { text: `;${'x'.repeat(65)};`, reason: /^externalId: / },
    ];
    const rows = Array.from({ length: 1_875 }, (_, index) => kinds[(index * 7) % kinds.length] ?? kinds[0]);
    const lines = rows.map((kind) => kind?.text ?? '');
    let line = 7;
    const taken = {
      reason: 'externalId: another member of the program has it',
      mistakes: [{ field: 'externalId', display: 'another member has this number' }],
    };
    const wrong = rows.flatMap((kind) => {
      const at = line;
      line += (kind?.text ?? '').split('\n').length;
      return kind?.reason
        ? [{ line: at, reason: expect.stringMatching(kind.reason), mistakes: expect.any(Array) }]
        : [];
    });
    const file = [
      'Email;externalId;firstName',
      'known@dry.com;;',
      'new@dry.com;dry-1;Ada',
      'NEW@dry.com;;',
      'x@dry.com;dry-taken;',
      'y@dry.com;dry-1;',
      ...lines,
    ].join('\n');
    const asForm = () => sendImport(merchant, { programId, file, fields: { dryRun: 'true' } });
    const asQuery = () =>
      merchant.call('/merchants/me/members/import?dryRun=true', { body: importForm({ programId, file }) });
    const asStream = (body = file) =>
      merchant.call(`/merchants/me/imports?programId=${programId}&dryRun=true`, {
        body,
        headers: { 'Content-Type': 'text/csv' },
      });
    const before = await stored(merchant);
    for (const send of [asForm, asQuery, () => asStream()]) {
      const { status, body } = await send();
      expect([status, body.error]).toEqual([200, undefined]);
      expect(body.data).toMatchObject({
        dryRun: true,
        counts: { total: 1_505, created: 1, deduped: 2, failed: 1_502 },
        file: {
          charset: 'utf-8',
          delimiter: ';',
          columns: [
            { header: 'Email', field: 'email' },
            { header: 'externalId', field: 'externalId' },
            { header: 'firstName', field: 'firstName' },
          ],
        },
      });
      expect(Object.keys(body.data)).toEqual(['dryRun', 'counts', 'withoutEmail', 'failures', 'file']);
      expect(body.data.failures).toEqual([
        { row: 4, line: 5, ...taken },
        { row: 5, line: 6, ...taken },
        ...wrong.map((failure, index) => ({ row: 6 + index, ...failure })),
      ]);
    }
    expect(outcome(await asStream('who\na\n'))).toEqual([400, 'IMPORT_INVALID']);
    expect(await stored(merchant)).toEqual(before);
  });

  it('has the same counts as the import, even with repeated rows in the file', async () => {
    const cell = (name: string) => fc.constantFrom('', ...['a', 'b', 'c'].map((letter) => `${letter}.${name}`));
    let run = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(cell('mail@example.com'), cell('card')), { minLength: 1, maxLength: 12 }),
        async (rows) => {
          run += 1;
          const { _id: programId } = run % 3 === 1 ? await merchant.program() : program;
          const lines = rows.map(([email, card]) => `x,${email},${card}`);
          const file = ['firstName,email,externalId', ...lines].join('\n');
          const tried = await sendImport(merchant, { programId, file, fields: { dryRun: 'true' } });
          const done = await sendImport(merchant, { programId, file });
          expect(tried.body.data.counts).toEqual(done.body.data.counts);
          const failed = done.body.data.results.filter((row: { outcome: string }) => row.outcome === 'failed');
          expect(tried.body.data.failures).toEqual(
            failed.map(({ row, line, reason }: Record<string, unknown>) => ({
              row,
              line,
              reason,
              mistakes: expect.any(Array),
            })),
          );
        },
      ),
      { numRuns: 12 },
    );
  });
});

describe('a quiet import', () => {
  it('creates members and passes without an event for each row, and its final event says so', async () => {
    const { deps } = subscribed.service;
    const loud = await small({ file: csvOf(2, 'loud') });
    const quiet = await small({ file: csvOf(3, 'quiet'), fields: { quiet: 'true' } });
    const streamed = await large(csvOf(3, 'silent'), { query: '&quiet=true' });
    const ids = [quiet.body.data.batchId, streamed.body.data.id];
    for (const id of ids) {
      const batch = await batchEnd(merchant, id);
      expect(batch).toMatchObject({ phase: 'completed', quiet: true, passIssuance: { apple: 3, google: 3 } });
      const end = () => subscribed.envelopes().find(({ data }) => data.batchId === id);
      expect((await until(end)).data).toMatchObject({ quiet: true, counts: { created: 3 } });
    }
    expect(await batchEnd(merchant, loud.body.data.batchId)).not.toHaveProperty('quiet');
    const made = await deps.collections.members.find({ email: /^(quiet|silent)\./ }).toArray();
    expect(made.map(({ pass }) => [pass.appleIssuedAt, pass.googleIssuedAt])).toEqual(
      Array.from({ length: 6 }, () => [expect.any(Date), expect.any(Date)]),
    );
    const memberIds = made.map(({ _id }) => _id);
    expect(await deps.collections.events.countDocuments({ memberId: { $in: memberIds } })).toBe(0);
    expect(await deps.collections.timeline.countDocuments({ memberId: { $in: memberIds }, type: 'pass_built' })).toBe(
      12,
    );
    const [first = ''] = memberIds;
    await merchant.call(`/merchants/me/members/${first}/points`, { method: 'PATCH', body: { delta: 5 } });
    await until(() => deps.collections.events.findOne({ memberId: first, type: 'points.changed' }));
    const said = await until(() => {
      const loudIds = loud.body.data.results.map(({ memberId }: { memberId: string }) => memberId);
      const seen = subscribed.envelopes().filter(({ data }) => loudIds.includes(data.memberId));
      return seen.length >= 6 && seen;
    });
    expect(new Set(said.map(({ event }) => event))).toEqual(new Set(['member.created', 'pass.created']));
  });
});
