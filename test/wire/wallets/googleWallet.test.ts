// The Google client by itself: classes, objects, messages, failures and batches.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadGoogleCredentials } from '../../../activities/wallets/google/credentials.rules.js';
import { createGoogleWalletApi } from '../../../activities/wallets/google/googleWallet.client.js';
import type { GoogleWalletApi } from '../../../activities/wallets/google/googleWallet.schema.js';
import { type PushGoogle, pushGoogle } from '../../../activities/wallets/google/pushGoogle.effect.js';
import { createRequestPacer, type RequestPacer } from '../../../activities/wallets/google/requestPacer.client.js';
import type { GoogleWallet } from '../../../activities/wallets/wallets.client.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { makeGoogleClassId, makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import type { GooglePassView, GoogleProgramView } from '../../../schemas/wallets/google/pass.view.js';
import { type GoogleFault, type GoogleServer, startGoogleServer } from '../../rig/standins/googleServer.js';

const program: GoogleProgramView = {
  programId: 'demo-points',
  name: 'Coffee Club',
  issuerName: 'Coffee',
  hexBackgroundColor: '#14532d',
  logoUrl: 'https://example.com/logo.png',
  callbackUrl: 'https://example.com/wallet/google/callback',
};
const view = (changes: Partial<GooglePassView> = {}): GooglePassView => ({
  programId: 'demo-points',
  memberId: '1f0c9d54-2f8a-4e66-9b0a-0f4a5d3e7c11',
  memberCode: '7K3M9PXQ2A',
  barcode: '7K3M9PXQ2A',
  accountName: 'Ada L',
  label: 'POINTS',
  balance: 0,
  status: 'active',
  ...changes,
});

const storedMessages = z.object({ messages: z.array(z.object({ messageType: z.string() })) });

let google: GoogleServer;
let lines: string[];
let time = Date.parse('2026-05-01T12:00:00Z');

/** One pacer for all connections of a test, as all workers share one. */
let pacer: RequestPacer;
const noBucket: RequestPacer = { take: async () => {} };

function connect(changes: { pacer?: RequestPacer; timeoutMs?: number } = {}): GoogleWalletApi {
  const credentials = loadGoogleCredentials(google.settings);
  if (credentials.mode === 'stub') throw new Error(credentials.reason);
  const note = (...said: unknown[]) => void lines.push(said.map((each) => JSON.stringify(each)).join(' '));
  return createGoogleWalletApi({ credentials, pacer, log: { info: note, warn: note }, ...changes });
}

const kinds = () => google.requests.map(({ kind }) => kind);
const objectId = () => makeGoogleObjectId(google.issuerId, view().memberId);
const classId = () => makeGoogleClassId(google.issuerId, program.programId);
const message = (id: string) => ({ id, header: 'Coffee Club', body: `Message ${id}` });

beforeEach(async () => {
  time = Date.parse('2026-05-01T12:00:00Z');
  lines = [];
  pacer = createRequestPacer();
  google = await startGoogleServer({ now: () => time });
});
afterEach(() => google.close());

describe("a program's class at Google", () => {
  it('is created once, not touched without a change, and updated after one', async () => {
    const wallet = connect();
    expect(await wallet.upsertClass(program)).toEqual({ classId: classId(), outcome: 'inserted' });
    expect(await wallet.upsertClass(program)).toEqual({ classId: classId(), outcome: 'unchanged' });
    expect(await wallet.upsertClass({ ...program, hexBackgroundColor: '#000000' })).toMatchObject({
      outcome: 'updated',
    });
    expect(google.rules.classes.get(classId())).toMatchObject({
      hexBackgroundColor: '#000000',
      programName: 'Coffee Club',
    });
    expect(kinds()).toEqual(['token', 'classGet', 'classInsert', 'classGet', 'classGet', 'classUpdate']);
  });

  it('has the links and places of the program, and none once the program has none', async () => {
    const wallet = connect();
    const links = [{ id: 'order', uri: 'https://example.com/order', description: 'example.com' }];
    const places = [{ latitude: 51.5, longitude: -0.12 }];
    const kept = () => {
      const { linksModuleData, merchantLocations } = google.rules.classes.get(classId()) ?? {};
      return { linksModuleData, merchantLocations };
    };
    await wallet.upsertClass({ ...program, links, places });
    expect(kept()).toEqual({ linksModuleData: { uris: links }, merchantLocations: places });
    const site = { id: 'website', uri: 'https://example.com/', description: 'example.com' };
    const more = { links: [...links, site], places: [...places, { latitude: 48.1, longitude: 11.6 }] };
    await wallet.upsertClass({ ...program, ...more });
    expect(kept()).toEqual({ linksModuleData: { uris: more.links }, merchantLocations: more.places });
    for (const fewer of [
      { ...more, links },
      { links, places },
    ]) {
      expect(await wallet.upsertClass({ ...program, ...fewer })).toMatchObject({ outcome: 'updated' });
      expect(kept()).toEqual({ linksModuleData: { uris: fewer.links }, merchantLocations: fewer.places });
    }
    const without = { ...program, links: [], places: [] };
    expect(await wallet.upsertClass(without)).toMatchObject({ outcome: 'updated' });
    expect(kept()).toEqual({});
    expect(await wallet.upsertClass(without)).toMatchObject({ outcome: 'unchanged' });
  });

  it('can be changed after Google approved it, and an unchanged one is not submitted for review again', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    google.rules.approve(classId());
    await wallet.upsertClass(program);
    expect(google.rules.classes.get(classId())).toMatchObject({ reviewStatus: 'APPROVED' });
    expect(await wallet.upsertClass({ ...program, name: 'Tea Club' })).toMatchObject({ outcome: 'updated' });
    expect(google.rules.classes.get(classId())).toMatchObject({
      reviewStatus: 'UNDER_REVIEW',
      programName: 'Tea Club',
    });
  });

  it('created by two workers at the same time is created once', async () => {
    const outcomes = await Promise.all([connect().upsertClass(program), connect().upsertClass(program)]);
    // The other one is too late, or finds the class.
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual([
      'inserted',
      expect.stringMatching(/^(updated|unchanged)$/),
    ]);
    expect(google.rules.classes.size).toBe(1);
  });

  it('without a logo is refused as invalid', async () => {
    const { logoUrl: _, ...bare } = program;
    await expect(connect().upsertClass(bare)).rejects.toMatchObject({ kind: 'invalid', status: 400 });
  });
});

describe("a member's object at Google", () => {
  it('is inserted once, and a second insert is a success that changes nothing', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    expect(await wallet.insertObject(view())).toEqual({ objectId: objectId(), outcome: 'inserted' });
    expect(await wallet.insertObject(view({ balance: 9 }))).toEqual({ objectId: objectId(), outcome: 'existed' });
    expect(await wallet.getObject(objectId())).toEqual({
      objectId: objectId(),
      classId: classId(),
      state: 'ACTIVE',
      hasUsers: false,
      balance: '0',
      messages: [],
    });
  });

  it('whose class does not exist is not found, like one that was never inserted', async () => {
    const wallet = connect();
    await expect(wallet.insertObject(view())).rejects.toMatchObject({ kind: 'not_found', reason: 'classNotFound' });
    await expect(wallet.patchObject(view(), { notify: false })).rejects.toMatchObject({
      kind: 'not_found',
      status: 404,
    });
    await expect(wallet.addMessage(objectId(), message('1'))).rejects.toMatchObject({ kind: 'not_found' });
    expect(await wallet.getObject(objectId())).toBeNull();
  });

  it('follows its member through balance, tier and status', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    await wallet.insertObject(view({ tier: 'Bronze' }));
    google.rules.setHasUsers(objectId(), true);
    const changed = await wallet.patchObject(view({ balance: 2 ** 40, tier: 'Gold' }), { notify: false });
    expect(changed).toMatchObject({ hasUsers: true, balance: String(2 ** 40), notified: false });
    await wallet.patchObject(view({ balance: 5, status: 'voided' }), { notify: false });
    const stored = google.rules.objects.get(objectId());
    expect(stored).toMatchObject({
      state: 'INACTIVE',
      loyaltyPoints: { balance: { int: 5 } },
      accountId: '7K3M9PXQ2A',
    });
    expect(stored).not.toHaveProperty('secondaryLoyaltyPoints');
  });

  it('shows a notice for three changes a day, and makes the others silently', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    await wallet.insertObject(view());
    google.rules.setHasUsers(objectId(), true);
    const notified = [];
    for (const balance of [1, 2, 3, 4, 5]) {
      notified.push((await wallet.patchObject(view({ balance }), { notify: true })).notified);
    }
    expect(notified).toEqual([true, true, true, false, false]);
    expect(await wallet.getObject(objectId())).toMatchObject({ balance: '5' });
    expect(google.rules.notices(objectId())).toHaveLength(3);
    time += 24 * 3_600_000;
    expect(await wallet.patchObject(view({ balance: 6 }), { notify: true })).toMatchObject({ notified: true });
  });
});

describe('messages on a pass', () => {
  beforeEach(async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    await wallet.insertObject(view());
    google.rules.setHasUsers(objectId(), true);
  });

  it('show a notice three times a day; the others arrive silently, and the log says so', async () => {
    const wallet = connect();
    const outcomes = [];
    for (const id of ['1', '2', '3', '4', '5'])
      outcomes.push((await wallet.addMessage(objectId(), message(id))).outcome);
    expect(outcomes).toEqual(['notified', 'notified', 'notified', 'silent', 'silent']);
    expect((await wallet.getObject(objectId()))?.messages).toEqual(['1', '2', '3', '4', '5'].map(message));
    expect(google.rules.notices(objectId()).map(({ text }) => text)).toEqual(['Message 1', 'Message 2', 'Message 3']);
    expect(lines.filter((line) => line.includes('google.message.silent'))).toHaveLength(2);
    time += 24 * 3_600_000;
    expect(await wallet.addMessage(objectId(), message('6'))).toEqual({ outcome: 'notified' });
  });

  it('after the tenth remove the oldest one, and show no notice for those that stay', async () => {
    const wallet = connect();
    for (let id = 1; id <= 12; id += 1) await wallet.addMessage(objectId(), message(String(id)));
    const kept = (await wallet.getObject(objectId()))?.messages.map(({ id }) => Number(id));
    expect(kept).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    expect(google.rules.notices(objectId())).toHaveLength(3);
    const types = storedMessages
      .parse(google.rules.objects.get(objectId()))
      .messages.map(({ messageType }) => messageType);
    expect(new Set(types)).toEqual(new Set(['TEXT']));
  });

  it('are sent once, also when a push is repeated because its worker died or Google lost the answer', async () => {
    const credentials = loadGoogleCredentials(google.settings);
    const { programId: _id, memberId, ...shown } = view({ balance: 3 });
    const file = { _id, slug: _id, name: program.name, style: 'points', fields: { primaryLabel: shown.label } };
    const pass = { tag: new Date(time) };
    const member = { ...shown, _id: memberId, field: 'points', lifetimePoints: 3, pass } as unknown as MemberRow;
    const push = (id: string, given: Partial<PushGoogle> = {}) =>
      pushGoogle({ credentials, api: connect() } as GoogleWallet, {
        member,
        program: { ...programFile.parse(file), merchantId: 'm' },
        readAgain: async () => member,
        message: { id, body: id },
        notify: true,
        now: () => new Date(time),
        withinMs: 10_000,
        ...given,
      });
    expect((await push('one')).detail).toBe('message notified');
    expect((await push('one')).detail).toBe('message existed');
    google.fail({ on: 'addMessage', how: 'lost' });
    expect(await push('two')).toMatchObject({ answer: 'transient', unreached: true });
    expect((await push('two')).detail).toBe('message existed');
    // A process that is paused reads the answers that came in that time before its timers fire.
    const paused = { withinMs: 2_000, readAgain: async () => blockUntil(Date.now() + 2_000, member) };
    expect(await push('three', paused)).toMatchObject({ answer: 'transient', unreached: true });
    expect(google.rules.notices(objectId()).map(({ text }) => text)).toEqual(['one', 'two']);
  });
});

function blockUntil<T>(end: number, value: T): T {
  while (Date.now() < end);
  return value;
}

describe('when Google fails', () => {
  it.each([
    ['hang', 'timeout'],
    ['stall', 'timeout'],
    ['reset', expect.stringMatching(/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE)$/)],
  ] as const)(
    'a call that meets a %s is transient within its time limit, and was sent once',
    async (how: GoogleFault['how'], reason: string) => {
      const wallet = connect({ timeoutMs: 3_000 });
      await wallet.getObject(objectId());
      google.fail({ on: 'objectGet', how, times: 5 });
      google.requests.length = 0;
      await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'transient', status: null, reason });
      expect(kinds()).toEqual(['objectGet']);
    },
  );

  it.each([429, 500, 503])('an answer of %i is transient, and no retry bypasses the pacer', async (status) => {
    const wallet = connect();
    google.fail({ on: 'objectGet', how: { status }, times: 5 });
    await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'transient', status });
    expect(kinds()).toEqual(['token', 'objectGet']);
  });

  it('a token endpoint that hangs or fails costs one request within its time limit', async () => {
    const wallet = connect({ timeoutMs: 3_000 });
    google.fail({ on: 'token', how: 'hang' });
    await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'transient', reason: 'timeout' });
    google.fail({ on: 'token', how: { status: 503 } });
    await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'transient', status: 503 });
    expect(kinds()).toEqual(['token', 'token']);
    expect(await wallet.getObject(objectId())).toBeNull();
  });

  it('an unknown service account is forbidden', async () => {
    const stranger = await startGoogleServer();
    const account: unknown = JSON.parse(stranger.settings.GOOGLE_WALLET_CREDENTIALS);
    await stranger.close();
    const credentials = loadGoogleCredentials({
      ...google.settings,
      GOOGLE_WALLET_CREDENTIALS: JSON.stringify(Object.assign({}, account, { token_uri: `${google.origin}/token` })),
    });
    if (credentials.mode === 'stub') throw new Error(credentials.reason);
    const wallet = createGoogleWalletApi({ credentials, pacer, log: { info() {}, warn() {} } });
    await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'forbidden', reason: 'invalid_grant' });
  });

  it('an account without access to the issuer is forbidden', async () => {
    const credentials = loadGoogleCredentials({ ...google.settings, GOOGLE_WALLET_ISSUER_ID: '3388000000099999999' });
    if (credentials.mode === 'stub') throw new Error(credentials.reason);
    const wallet = createGoogleWalletApi({ credentials, pacer, log: { info() {}, warn() {} } });
    await expect(wallet.upsertClass(program)).rejects.toMatchObject({ kind: 'forbidden', reason: 'permissionDenied' });
  });

  it('an access token that stopped working is replaced, once for all calls under way', async () => {
    const wallet = connect({ pacer: noBucket });
    await wallet.upsertClass(program);
    google.revokeTokens();
    google.requests.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => wallet.insertObject(view())));
    expect(kinds().filter((kind) => kind === 'token')).toHaveLength(1);
    expect(google.rules.objects.size).toBe(1);
  });

  it('an access token that never works is forbidden after one more try', async () => {
    const wallet = connect();
    google.fail({ on: 'objectGet', how: { status: 401 }, times: 5 });
    await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'forbidden', status: 401 });
    expect(kinds()).toEqual(['token', 'objectGet', 'token', 'objectGet']);
  });

  it('a change whose answer was lost can be repeated', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    google.fail({ on: 'objectInsert', how: 'lost' });
    await expect(wallet.insertObject(view())).rejects.toMatchObject({ kind: 'transient' });
    expect(await wallet.insertObject(view())).toMatchObject({ outcome: 'existed' });
  });
});

describe('many members at once', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => view({ memberId: `m-${index}`, memberCode: `CODE${index}` }));

  it('are inserted in batches of a hundred, each with its own outcome', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    await wallet.insertObject(view({ memberId: 'm-7' }));
    const views = many(120);
    const bad = { ...view({ memberId: 'm-bad' }), programId: 'never-made' };
    google.requests.length = 0;
    const outcomes = await wallet.batchInsert([...views, bad]);
    expect(kinds()).toEqual(['batch', 'batch', 'batch']);
    expect(outcomes.map(({ memberId }) => memberId)).toEqual([...views.map(({ memberId }) => memberId), 'm-bad']);
    expect(outcomes.filter(({ outcome }) => outcome === 'inserted')).toHaveLength(119);
    expect(outcomes[7]).toMatchObject({ memberId: 'm-7', outcome: 'existed' });
    expect(outcomes[120]).toMatchObject({ outcome: 'failed', error: { kind: 'not_found', reason: 'classNotFound' } });
    expect(google.rules.objects.get(makeGoogleObjectId(google.issuerId, 'm-99'))).toMatchObject({
      accountId: 'CODE99',
    });
  });

  it('lose only the batch that failed, and are complete after a second attempt', async () => {
    const wallet = connect({ timeoutMs: 2_000 });
    await wallet.upsertClass(program);
    google.fail({ on: 'batch', how: 'lost' });
    const first = await wallet.batchInsert(many(60));
    expect(first.slice(0, 50).every((each) => each.outcome === 'failed' && each.error.kind === 'transient')).toBe(true);
    expect(first.slice(50).every((each) => each.outcome === 'inserted')).toBe(true);
    const second = await wallet.batchInsert(many(60));
    expect(second.every((each) => each.outcome === 'existed')).toBe(true);
    expect(google.rules.objects.size).toBe(60);
  });

  it('of patches report for each object whether a customer has it, and change all that Google accepts', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    const views = many(60);
    await wallet.batchInsert(views);
    google.rules.setHasUsers(makeGoogleObjectId(google.issuerId, 'm-3'), true);
    google.requests.length = 0;
    const changed = [...views.map((each) => ({ ...each, balance: 77 })), view({ memberId: 'm-never' })];
    const outcomes = await wallet.batchPatch(changed);
    expect(kinds()).toEqual(['batch', 'batch']);
    expect(outcomes.map(({ memberId }) => memberId)).toEqual(changed.map(({ memberId }) => memberId));
    expect(outcomes.flatMap((each) => (each.outcome === 'patched' && each.hasUsers ? [each.memberId] : []))).toEqual([
      'm-3',
    ]);
    expect(outcomes[60]).toMatchObject({ outcome: 'failed', error: { kind: 'not_found' } });
    expect((await wallet.getObject(makeGoogleObjectId(google.issuerId, 'm-59')))?.balance).toBe('77');
    google.fail({ on: 'batch', how: { status: 503 } });
    const refused = await wallet.batchPatch(changed.slice(0, 2));
    expect(refused).toMatchObject(Array(2).fill({ outcome: 'failed', error: { kind: 'transient' } }));
  });

  it('without members send no request', async () => {
    expect(await connect().batchInsert([])).toEqual([]);
    expect(google.requests).toEqual([]);
  });
});

describe('the limit of requests', () => {
  it('is kept with the pacer, and exceeded without it', async () => {
    const unbounded = connect({ pacer: noBucket });
    const wild = () => Promise.allSettled(Array.from({ length: 30 }, () => unbounded.getObject(objectId())));
    const refused = { status: 'rejected', reason: expect.objectContaining({ status: 429 }) };
    await expect.poll(wild).toContainEqual(refused);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const bounded = connect();
    const tame = await Promise.allSettled(Array.from({ length: 45 }, () => bounded.getObject(objectId())));
    expect(tame.every(({ status }) => status === 'fulfilled')).toBe(true);
  });
});
