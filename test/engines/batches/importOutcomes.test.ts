// Every row of an import is created, known or failed, and whatever made no member can be downloaded: failed rows with
// all their reasons, known rows with the points that they did not give.
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { delimiters } from '../../../schemas/shared/csv.rules.js';
import { until } from '../../rig/checks/until.js';
import { sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service, { roleIds: ['owner'] });
});
afterAll(() => service.stop());

const enroll = async (programId: string, person: Record<string, string>) =>
  (await merchant.call('/merchants/me/members', { body: { programId, ...person } })).body.data;

type Row = { outcome: string; memberId?: string; reason?: string };
const imported = async (
  programId: string,
  file: string,
): Promise<{ batchId: string; counts: object; results: Row[] }> =>
  (await sendImport(merchant, { programId, file })).body.data;

async function download(batchId: string, name: string): Promise<string> {
  const url = `${service.baseUrl}/merchants/me/batches/${batchId}/${name}`;
  const answer = await fetch(url, { headers: { 'X-API-Key': merchant.apiKey } });
  return Buffer.from(await answer.arrayBuffer()).toString();
}

const taken = 'externalId: another member of the program has it';

describe('a row with the card number of a member', () => {
  it('and without an address is known at the second try', async () => {
    const { _id: programId } = await merchant.program();
    const file = 'externalId,firstName,initialPoints\n0815,Ada,10\n4711,Bob,20\n';
    const first = await imported(programId, file);
    expect(first.counts).toEqual({ total: 2, created: 2, deduped: 0, failed: 0 });
    const again = await imported(programId, `${file}4711,Bob again,5\n`);
    expect(again.counts).toEqual({ total: 3, created: 0, deduped: 3, failed: 0 });
    const ids = first.results.map(({ memberId }) => memberId);
    expect(again.results.map(({ memberId }) => memberId)).toEqual([...ids, ids[1]]);
    expect(again.results[2]).toHaveProperty('memberCode');
  });

  it('is not known with an address that the member lacks, or when the number is the code of a member', async () => {
    const { _id: programId } = await merchant.program();
    const one = await enroll(programId, { externalId: 'one', email: 'one@cards.example' });
    const two = await enroll(programId, { externalId: 'two' });
    const file = [
      'email,externalId',
      ',one',
      ',two',
      'ONE@cards.example,one',
      'one@cards.example,two',
      'two@cards.example,two',
      'other@cards.example,one',
      `,${two.memberCode}`,
    ].join('\n');
    const { results } = await imported(programId, file);
    expect(results.map(({ memberId, reason }) => memberId ?? reason)).toEqual([
      one.id,
      two.id,
      one.id,
      one.id,
      taken,
      taken,
      taken,
    ]);
    const elsewhere = await imported((await merchant.program())._id, 'externalId\none\ntwo\n');
    expect(elsewhere.counts).toMatchObject({ created: 2 });
  });
});

describe('known.csv', () => {
  it('has the rows that met a member, as they were, and what they did not give; an erased member leaves none', async () => {
    const { _id: programId } = await merchant.program();
    const known = await enroll(programId, { email: 'known@known.example' });
    const lines = [
      'Email;initialPoints;firstName',
      'KNOWN@known.example ;1200;=1+1',
      'new@known.example;7;New',
      'known@known.example;;"Ada; B"',
    ];
    const { batchId, counts } = await imported(programId, lines.join('\r\n'));
    expect(counts).toMatchObject({ created: 1, deduped: 2 });
    const text = await download(batchId, 'known.csv');
    expect(text).toBe(
      [
        '\uFEFFrow;Email;initialPoints;firstName;pointsNotGiven',
        "1;KNOWN@known.example ;1200;'=1+1;1200",
        '3;known@known.example;;"Ada; B";0',
        '',
      ].join('\r\n'),
    );
    const elsewhere = (await merchant.program())._id;
    const moved = await imported(elsewhere, text);
    expect(moved.counts).toMatchObject({ created: 1, deduped: 1 });
    const names = service.deps.collections.members.distinct('firstName', { programId: elsewhere });
    expect(await names).toEqual(['=1+1']);
    await merchant.call(`/merchants/me/members/${known.id}`, { method: 'DELETE' });
    await until(async () => !/known@|Ada|1200/i.test(await download(batchId, 'known.csv')));
  });
});

describe('every row of a file', () => {
  const cell = (...values: string[]) => fc.constantFrom(...values);
  const row = fc.record({
    email: cell('', 'a@model.example', 'b@model.example', 'nobody'),
    card: cell('', 'c1', 'c2', 'CODE', '4,00E+12'),
    points: cell('', '5', '-0', 'many'),
  });

  const reasonsOf = ({ email, card, points }: { email: string; card: string; points: string }) => [
    ...(points === 'many' || points === '-0' ? ['initialPoints: must be a whole number'] : []),
    ...(card === '4,00E+12' ? ['externalId: was shortened by a spreadsheet; format the column as text'] : []),
    ...(email === 'nobody' ? ['email: must be an email address'] : []),
  ];

  it('is created, known or failed, and each that made no member is in one download, with all its reasons', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(row, { maxLength: 8 }), { minLength: 1, maxLength: 3 }),
        fc.constantFrom(...delimiters),
        async (files, delimiter) => {
          const { _id: programId } = await merchant.program();
          const { memberCode } = await enroll(programId, {});
          const owners = new Set<string>();
          const cards = new Set<string>();
          for (const rows of files) {
            const expected = rows.map((given): string[] => {
              const { email, card } = given;
              const reasons = reasonsOf(given);
              if (reasons.length > 0) return ['failed', ...reasons];
              if (owners.has(email)) return ['deduped'];
              if (cards.has(card) && email === '') return ['deduped'];
              if (cards.has(card) || card === 'CODE') return ['failed', taken];
              if (email !== '') owners.add(email);
              if (card !== '') cards.add(card);
              return ['created'];
            });
            const cellsOf = ({ email, card, points }: (typeof rows)[number], index: number) => [
              `Row ${index + 1}`,
              email,
              card === 'CODE' ? memberCode : card,
              points,
            ];
            const written = [['firstName', 'email', 'externalId', 'initialPoints'], ...rows.map(cellsOf)];
            const file = written.map((cells) => cells.map((one) => `"${one}"`).join(delimiter)).join('\n\n');
            const { batchId, counts, results } = await imported(programId, file);
            expect(results.map(({ outcome, reason = '' }) => [outcome, reason])).toEqual(
              expected.map(([outcome, ...reasons]) => [outcome, reasons.join('; ')]),
            );
            const count = (outcome: string) => expected.filter(([one]) => one === outcome).length;
            const [created, deduped, failed] = ['created', 'deduped', 'failed'].map(count);
            expect(counts).toEqual({ total: rows.length, created, deduped, failed });
            const listed = async (name: string, last: string) => {
              const [header, ...body]: string[][] = parse(await download(batchId, name), { bom: true, delimiter });
              expect(header).toEqual(['row', ...(written[0] ?? []), last]);
              return body;
            };
            const of = (outcome: string, last: (index: number) => string) =>
              rows.flatMap((given, index) =>
                expected[index]?.[0] === outcome ? [[String(index + 1), ...cellsOf(given, index), last(index)]] : [],
              );
            expect(await listed('errors.csv', 'reason')).toEqual(
              of('failed', (index) => (expected[index] ?? []).slice(1).join('; ')),
            );
            expect(await listed('known.csv', 'pointsNotGiven')).toEqual(
              of('deduped', (index) => rows[index]?.points || '0'),
            );
          }
        },
      ),
      { numRuns: 10 },
    );
  });
});
