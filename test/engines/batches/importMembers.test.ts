// The small import on real engines: every row gets an outcome, members are created once, and receivers get the events.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { batchEnd, csvHeader, csvOf, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['*']);
  merchant = subscribed.merchant;
});

afterAll(() => subscribed.stop());

const eventsOf = (type: string) =>
  subscribed.envelopes().filter((envelope) => envelope.type === `cards.service.${type}`);

describe('importing a file', () => {
  it('returns an outcome for every row, and ends in batch.completed with the same counts', async () => {
    const program = await merchant.program();
    const known = await merchant.call('/merchants/me/members', {
      body: { programId: program._id, email: 'known@example.com', firstName: 'Known' },
    });
    const file = [
      'Email,LASTNAME,initialPoints,phone,firstname',
      'ada@example.com,Lovelace,20,+49 170 1234567,Ada',
      'KNOWN@example.com,Other,5,,Other',
      'ada@Example.com ,Twin,1,,Twin',
      'not-an-email,Nobody,,,',
      ',,,,',
      '',
      ',NoEmail,,,Anna',
      'many@example.com,Many,1.5,,Many',
      'long@example.com,"Two ""quoted"", words",0,,Long',
    ].join('\n');
    const { status, body } = await sendImport(merchant, { programId: program._id, file });
    expect(body.error).toBeUndefined();
    expect(status).toBe(200);
    expect(body.data.counts).toEqual({ total: 7, created: 3, deduped: 2, failed: 2 });
    const [ada, other, twin, nobody, anna, many, long] = body.data.results;
    expect(ada).toMatchObject({ row: 1, line: 2, outcome: 'created', memberCode: expect.stringMatching(/^.{10}$/) });
    expect(other).toMatchObject({ row: 2, line: 3, outcome: 'deduped', memberId: known.body.data.id });
    expect(twin).toEqual({ row: 3, line: 4, outcome: 'deduped', memberId: ada.memberId, memberCode: ada.memberCode });
    expect(nobody).toMatchObject({ row: 4, line: 5, outcome: 'failed', reason: expect.stringMatching(/^email: /) });
    expect(anna).toMatchObject({ row: 5, line: 8, outcome: 'created' });
    expect(many).toEqual({ row: 6, line: 9, outcome: 'failed', reason: 'initialPoints: must be a whole number' });
    expect(long.outcome).toBe('created');

    const detail = await merchant.call(`/merchants/me/members/${ada.memberId}`);
    expect(detail.body.data).toMatchObject({ email: 'ada@example.com', firstName: 'Ada', fieldValues: { points: 20 } });
    const ledger = await merchant.call(`/merchants/me/members/${ada.memberId}/transactions`);
    expect(ledger.body.data.items).toMatchObject([
      { type: 'initial', previous: 0, current: 20, delta: 20, actor: { type: 'import', id: body.data.batchId } },
    ]);
    const batch = await batchEnd(merchant, body.data.batchId);
    expect(batch).toMatchObject({ phase: 'completed', percent: 100, passIssuance: { apple: 3, google: 3 } });
    const [completed] = await until(() => {
      const events = eventsOf('batch.completed').filter((event) => event.data.batchId === body.data.batchId);
      return events.length > 0 && events;
    });
    expect(completed.data).toMatchObject({ kind: 'members.import', counts: body.data.counts, programId: program._id });
    const created = eventsOf('member.created').filter((event) => event.data.source === 'import');
    expect(created.map((event) => event.data.memberId).sort()).toEqual(
      [ada.memberId, anna.memberId, long.memberId].sort(),
    );
    expect(created[0].data.passIssuance).toEqual({ apple: true, google: true });
  });

  it('reads phone numbers as people copy them, and takes a person without one that cannot be read', async () => {
    const program = await merchant.program();
    const file = [
      'firstName,email,phone',
      'Ada,ada@phone.example,(555)\u00a0010\u20111234',
      'Grace,grace@phone.example,ask her',
      'Alan,no address,ask him',
    ].join('\n');
    const counts = { total: 3, created: 2, deduped: 0, failed: 1, leftOut: 1 };
    const leftOut = 'phone: must be a phone number';
    const dry = await sendImport(merchant, { programId: program._id, file, fields: { dryRun: 'true' } });
    expect(dry.body.data).toMatchObject({
      counts,
      failures: [{ row: 3, line: 4, reason: expect.stringMatching(/^email: .*; phone: /) }],
      leftOut: [{ row: 2, line: 3, reason: leftOut }],
    });
    const { body } = await sendImport(merchant, { programId: program._id, file });
    expect(body.data.counts).toEqual(counts);
    const [ada, grace, alan] = body.data.results;
    expect(grace).toMatchObject({ outcome: 'created', leftOut });
    for (const other of [ada, alan]) expect(other).not.toHaveProperty('leftOut');
    expect(await batchEnd(merchant, body.data.batchId)).toMatchObject({ phase: 'completed', counts });
    const phoneOf = async ({ memberId }: { memberId: string }) =>
      (await merchant.call(`/merchants/me/members/${memberId}`)).body.data.phone;
    expect([await phoneOf(ada), await phoneOf(grace)]).toEqual(['(555) 010-1234', undefined]);
  });

  it('accepts the maximum number of rows, and the same file again creates no member twice', async () => {
    // Without a subscription and events; the events of an import are tested above.
    const merchant = await aMerchant(subscribed.service);
    const program = await merchant.program();
    const file = csvOf(5_000, 'many');
    const first = await sendImport(merchant, { programId: program._id, file, fields: { quiet: 'true' } });
    expect(first.body.data.counts).toEqual({ total: 5_000, created: 5_000, deduped: 0, failed: 0 });
    const headers = { 'Idempotency-Key': 'the-second-time' };
    const again = await sendImport(merchant, { programId: program._id, file }, { headers });
    expect(again.body.data.counts).toEqual({ total: 5_000, created: 0, deduped: 5_000, failed: 0 });
    const memberIds = (answer: typeof first) =>
      answer.body.data.results.map((row: { memberId: string }) => row.memberId);
    expect(memberIds(again)).toEqual(memberIds(first));
    const { body } = await merchant.call(`/merchants/me/members?programId=${program._id}`);
    expect(body.data.total).toBe(5_000);
    await batchEnd(merchant, first.body.data.batchId, 200_000);
  });

  it('with only a header is answered with zeros', async () => {
    const program = await merchant.program();
    const { status, body } = await sendImport(merchant, { programId: program._id, file: `${csvHeader}\n` });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({ counts: { total: 0, created: 0, deduped: 0, failed: 0 }, results: [] });
    expect(await batchEnd(merchant, body.data.batchId)).toMatchObject({ phase: 'completed', percent: 100 });
  });
});
