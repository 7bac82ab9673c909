// Requests that start a batch, sent more than once: an Idempotency-Key starts one batch, and without a key the same
// file for the same program within a minute is one import.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { batchEnd, sendImport } from '../../rig/start/imports.js';
import { type Answer, aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['campaign.sent']);
  merchant = subscribed.merchant;
});
afterAll(() => subscribed.stop());

const withKey = (key: string) => ({ 'Idempotency-Key': key });
const isReplayed = ({ headers }: Answer) => headers.get('Idempotent-Replayed');
const membersOf = (programId: string) =>
  subscribed.service.deps.collections.members.countDocuments({ merchantId: merchant.id, programId });

type Send = (programId: string, file: string, headers?: Record<string, string>) => Promise<Answer>;
const small: Send = (programId, file, headers = {}) => sendImport(merchant, { programId, file }, { headers });
const large: Send = (programId, file, headers = {}) =>
  merchant.call(`/merchants/me/imports?programId=${programId}`, {
    body: file,
    headers: { 'Content-Type': 'text/csv', ...headers },
  });
const idOf = ({ body }: Answer): string => body.data.batchId ?? body.data.id;
/** As if the earlier request had been accepted this long ago. */
async function age(key: string, byMs: number): Promise<void> {
  const { idempotencyKeys } = subscribed.service.deps.collections;
  const _id = `import:${merchant.id}:${key}`;
  const row = await idempotencyKeys.findOne({ _id });
  const createdAt = new Date((row?.createdAt.getTime() ?? 0) - byMs);
  expect((await idempotencyKeys.updateOne({ _id }, { $set: { createdAt } })).matchedCount).toBe(1);
}

describe.each([
  ['a small import', small],
  ['a large import', large],
])('%s', (_name, send) => {
  const file = 'firstName\r\nAda\r\nGrace\r\n';

  it('that is sent twice at once makes its members once', async () => {
    const { _id } = await merchant.program();
    const answers = await Promise.all([1, 2, 3].map(() => send(_id, file)));
    expect(new Set(answers.map(idOf)).size).toBe(1);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(isReplayed)).toHaveLength(2);
    const batch = await batchEnd(merchant, idOf(answers[0] as Answer));
    expect([batch.counts.created, await membersOf(_id)]).toEqual([2, 2]);
    const { items } = (await merchant.call('/merchants/me/batches?kind=members.import')).body.data;
    expect(items.filter(({ programId }: { programId: string }) => programId === _id)).toHaveLength(1);
  });

  it('is the same within a minute, and another one after it or with other options', async () => {
    const { _id } = await merchant.program();
    const first = await send(_id, file);
    await batchEnd(merchant, idOf(first));
    const again = await send(_id, file);
    expect([again.text, isReplayed(again)]).toEqual([first.text, 'true']);
    const key = first.headers.get('Idempotency-Key') ?? '';
    expect(again.headers.get('Idempotency-Key')).toBe(key);
    const other = await send((await merchant.program())._id, file);
    expect(idOf(other)).not.toBe(idOf(first));
    const quiet = await merchant.call(`/merchants/me/imports?programId=${_id}&quiet=true`, {
      body: file,
      headers: { 'Content-Type': 'text/csv' },
    });
    expect(idOf(quiet)).not.toBe(idOf(first));
    await age(key, 61_000);
    const later = await send(_id, file);
    expect([idOf(later) === idOf(first), isReplayed(later)]).toEqual([false, null]);
    expect(idOf(await send(_id, file))).toBe(idOf(later));
  });

  it('with a key is answered again byte for byte for days, and another file with the key is refused', async () => {
    const { _id } = await merchant.program();
    const key = `file-of-${_id}`;
    const answers = await Promise.all([send(_id, file, withKey(key)), send(_id, file, withKey(key))]);
    const [first, second] = answers as [Answer, Answer];
    expect([first.text, first.headers.get('Idempotency-Key')]).toEqual([second.text, key]);
    await batchEnd(merchant, idOf(first));
    await age(key, 3_600_000);
    const again = await send(_id, file, withKey(key));
    expect([again.text, isReplayed(again)]).toEqual([first.text, 'true']);
    expect(outcome(await send(_id, `${file}Alan\r\n`, withKey(key)))).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    const other = await send(_id, file, withKey(`${key}-2`));
    expect(idOf(other)).not.toBe(idOf(first));
    await batchEnd(merchant, idOf(other));
    expect(await membersOf(_id)).toBe(4);
  });

  it('with a key is answered again after its program was archived, and a new one is not', async () => {
    const { _id } = await merchant.program();
    const key = `before-archive-${_id}`;
    const first = await send(_id, file, withKey(key));
    await batchEnd(merchant, idOf(first));
    await subscribed.service.deps.collections.programs.updateOne({ _id }, { $set: { archived: true } });
    const again = await send(_id, file, withKey(key));
    expect([again.text, isReplayed(again)]).toEqual([first.text, 'true']);
    expect(outcome(await send(_id, `${file}Alan\r\n`, withKey(key)))).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    const tried = await merchant.call(`/merchants/me/imports?programId=${_id}&dryRun=true`, {
      body: file,
      headers: { 'Content-Type': 'text/csv', ...withKey(key) },
    });
    expect(outcome(tried)).toEqual([400, 'PROGRAM_ARCHIVED']);
    for (const headers of [{}, withKey(`${key}-2`)])
      expect(outcome(await send(_id, file, headers))).toEqual([400, 'PROGRAM_ARCHIVED']);
    expect(await membersOf(_id)).toBe(2);
  });

  it('that was refused leaves its key free', async () => {
    const { _id } = await merchant.program();
    const key = `refused-${_id}`;
    expect(outcome(await send(_id, 'shoes\r\n45\r\n', withKey(key)))).toEqual([400, 'IMPORT_INVALID']);
    expect(outcome(await send(_id, file, withKey('short')))).toEqual([400, 'IDEMPOTENCY_KEY_MALFORMED']);
    expect(isReplayed(await send(_id, file, withKey(key)))).toBeNull();
  });
});

it('an import that was cancelled or has failed is not the same as the next one without a key', async () => {
  const { _id } = await merchant.program();
  const file = 'firstName\r\nAda\r\n';
  const first = await sendImport(merchant, { programId: _id, file });
  await batchEnd(merchant, idOf(first));
  const { batches } = subscribed.service.deps.collections;
  await batches.updateOne({ _id: idOf(first) }, { $set: { phase: 'failed' } });
  expect(idOf(await sendImport(merchant, { programId: _id, file }))).not.toBe(idOf(first));
});

it('a key of one merchant means nothing at another one', async () => {
  const other = await aMerchant(subscribed.service);
  const key = withKey('the-same-key-of-two');
  const [mine, theirs] = [await merchant.program(), await other.program()];
  const first = await small(mine._id, 'firstName\r\nAda\r\n', key);
  const second = await sendImport(other, { programId: theirs._id, file: 'firstName\r\nAda\r\n' }, { headers: key });
  expect([second.status, isReplayed(second), idOf(second) === idOf(first)]).toEqual([200, null, false]);
});

describe('with a key', () => {
  it('a campaign that is sent twice at once goes out once, and is answered as the first time', async () => {
    const { _id: programId } = await merchant.program();
    const send = (message: string, key: string) =>
      merchant.call('/merchants/me/campaigns', { body: { programId, message }, headers: withKey(key) });
    const answers = await Promise.all([1, 2].map(() => send('Double points', 'campaign-of-may')));
    expect(answers.map(({ status }) => status)).toEqual([202, 202]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    await batchEnd(merchant, idOf(answers[0] as Answer));
    const again = await send('Double points', 'campaign-of-may');
    expect([again.text, isReplayed(again)]).toEqual([answers[0]?.text, 'true']);
    expect(outcome(await send('Triple points', 'campaign-of-may'))).toEqual([400, 'IDEMPOTENCY_KEY_REUSED']);
    expect(await subscribed.service.deps.collections.batches.countDocuments({ kind: 'campaign', programId })).toBe(1);
    expect(idOf(await send('Double points', 'campaign-of-june'))).not.toBe(idOf(again));
  });

  it('a campaign that an operator cancelled in Temporal is not sent again', async () => {
    const { _id: programId } = await merchant.program();
    const body = { programId, message: 'Double points', sendAt: new Date(Date.now() + 3_600_000).toISOString() };
    const send = () => merchant.call('/merchants/me/campaigns', { body, headers: withKey('campaign-of-july') });
    const first = await send();
    const { workflow } = subscribed.service.client;
    await workflow.getHandle(`campaign:${idOf(first)}`).cancel();
    expect((await batchEnd(merchant, idOf(first))).phase).toBe('cancelled');
    const again = await send();
    expect([again.text, isReplayed(again)]).toEqual([first.text, 'true']);
  });

  it('a replay of a subscription that is sent twice at once is one batch', async () => {
    const { data } = (await merchant.call('/merchants/me/webhooks')).body;
    const path = `/merchants/me/webhooks/${data.items[0].id}/replay`;
    const body = { since: new Date(Date.now() - 3_600_000).toISOString() };
    const answers = await Promise.all([1, 2].map(() => merchant.call(path, { body, headers: withKey('replay-1') })));
    expect(answers.map(outcome)).toEqual([
      [202, 'ok'],
      [202, 'ok'],
    ]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect(answers.filter(isReplayed)).toHaveLength(1);
    const other = await merchant.call(path, { body, headers: withKey('replay-2') });
    expect(idOf(other)).not.toBe(idOf(answers[0] as Answer));
  });

  it('a replay is answered again after its subscription was disabled, and a new one is refused', async () => {
    const url = 'http://127.0.0.1:9/never';
    const { id } = (await merchant.call('/merchants/me/webhooks', { body: { url, events: ['pass.scanned'] } })).body
      .data;
    const path = `/merchants/me/webhooks/${id}/replay`;
    const body = { since: new Date(Date.now() - 60_000).toISOString() };
    const send = (key: string) => merchant.call(path, { body, headers: withKey(key) });
    const first = await send('replay-before');
    expect(first.status).toBe(202);
    await merchant.call(`/merchants/me/webhooks/${id}`, { method: 'PATCH', body: { enabled: false } });
    const again = await send('replay-before');
    expect([again.text, isReplayed(again)]).toEqual([first.text, 'true']);
    expect(outcome(await send('replay-after'))).toEqual([400, 'VALIDATION_FAILED']);
  });
});
