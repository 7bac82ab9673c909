import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { loadGoogleCredentials } from '../../activities/google/credentials.js';
import type { GoogleFace, GoogleProgram } from '../../activities/google/faces.js';
import type { GoogleWallet } from '../../activities/google/googleWallet.js';
import { createTokenBucket, type TokenBucket } from '../../activities/google/tokenBucket.js';
import { createGoogleWallet } from '../../activities/google/walletObjects.js';
import { makeGoogleClassId, makeGoogleObjectId } from '../../schemas/googleIds.js';
import { type GoogleFault, type GoogleServer, startGoogleServer } from '../rig/googleServer.js';
import { steadily } from '../rig/stalls.js';

const program: GoogleProgram = {
  programId: 'demo-points',
  name: 'Coffee Club',
  issuerName: 'Coffee',
  hexBackgroundColor: '#14532d',
  logoUrl: 'https://example.com/logo.png',
  callbackUrl: 'https://example.com/wallet/google/callback',
};
const face = (changes: Partial<GoogleFace> = {}): GoogleFace => ({
  programId: 'demo-points',
  memberId: '1f0c9d54-2f8a-4e66-9b0a-0f4a5d3e7c11',
  memberCode: '7K3M9PXQ2A',
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

/** Of all the connections of a test, as all workers share one. */
let bucket: TokenBucket;
const noBucket: TokenBucket = { take: async () => {} };

function connect(changes: { bucket?: TokenBucket; timeoutMs?: number } = {}): GoogleWallet {
  const credentials = loadGoogleCredentials(google.settings);
  if (credentials.mode === 'stub') throw new Error(credentials.reason);
  const note = (...said: unknown[]) => void lines.push(said.map((each) => JSON.stringify(each)).join(' '));
  return createGoogleWallet({ credentials, bucket, log: { info: note, warn: note }, ...changes });
}

const kinds = () => google.requests.map(({ kind }) => kind);
const objectId = () => makeGoogleObjectId(google.issuerId, face().memberId);
const classId = () => makeGoogleClassId(google.issuerId, program.programId);
const message = (id: string) => ({ id, header: 'Coffee Club', body: `Message ${id}` });

beforeEach(async () => {
  time = Date.parse('2026-05-01T12:00:00Z');
  lines = [];
  bucket = createTokenBucket();
  google = await startGoogleServer({ now: () => time });
});
afterEach(() => google.close());

describe("a program's class at Google", () => {
  it('is made once, left alone while nothing changes, and changed when it does', async () => {
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

  it('can be changed after Google approved it, and an unchanged one is not sent to review again', async () => {
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

  it('made by two workers at once is made once', async () => {
    const outcomes = await Promise.all([connect().upsertClass(program), connect().upsertClass(program)]);
    expect(outcomes.map(({ outcome }) => outcome).sort()).toEqual(['inserted', 'updated']);
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
    expect(await wallet.insertObject(face())).toEqual({ objectId: objectId(), outcome: 'inserted' });
    expect(await wallet.insertObject(face({ balance: 9 }))).toEqual({ objectId: objectId(), outcome: 'existed' });
    expect(await wallet.getObject(objectId())).toEqual({
      objectId: objectId(),
      classId: classId(),
      state: 'ACTIVE',
      hasUsers: false,
      balance: '0',
      messages: [],
    });
  });

  it('whose class was never made is not found, and so is one that was never inserted', async () => {
    const wallet = connect();
    await expect(wallet.insertObject(face())).rejects.toMatchObject({ kind: 'not_found', reason: 'classNotFound' });
    await expect(wallet.patchObject(face(), { notify: false })).rejects.toMatchObject({
      kind: 'not_found',
      status: 404,
    });
    await expect(wallet.addMessage(objectId(), message('1'))).rejects.toMatchObject({ kind: 'not_found' });
    expect(await wallet.getObject(objectId())).toBeNull();
  });

  it('follows its member through balance, tier and status', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    await wallet.insertObject(face({ tier: 'Bronze' }));
    google.rules.setHasUsers(objectId(), true);
    const changed = await wallet.patchObject(face({ balance: 2 ** 40, tier: 'Gold' }), { notify: false });
    expect(changed).toMatchObject({ hasUsers: true, balance: String(2 ** 40), notified: false });
    await wallet.patchObject(face({ balance: 5, status: 'voided' }), { notify: false });
    const stored = google.rules.objects.get(objectId());
    expect(stored).toMatchObject({
      state: 'INACTIVE',
      loyaltyPoints: { balance: { int: 5 } },
      accountId: '7K3M9PXQ2A',
    });
    expect(stored).not.toHaveProperty('secondaryLoyaltyPoints');
  });

  it('notifies of three changes a day, and makes the others silently', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    await wallet.insertObject(face());
    google.rules.setHasUsers(objectId(), true);
    const notified = [];
    for (const balance of [1, 2, 3, 4, 5]) {
      notified.push((await wallet.patchObject(face({ balance }), { notify: true })).notified);
    }
    expect(notified).toEqual([true, true, true, false, false]);
    expect(await wallet.getObject(objectId())).toMatchObject({ balance: '5' });
    expect(google.rules.notices(objectId())).toHaveLength(3);
    time += 24 * 3_600_000;
    expect(await wallet.patchObject(face({ balance: 6 }), { notify: true })).toMatchObject({ notified: true });
  });
});

describe('messages on a pass', () => {
  beforeEach(async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    await wallet.insertObject(face());
    google.rules.setHasUsers(objectId(), true);
  });

  it('notify three times a day; the others arrive silently and say so in the log', async () => {
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

  it('past the tenth push the oldest out, and notify nobody of the ones that stay', async () => {
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

  it('whose answer was lost are not added twice when the second attempt looks first', async () => {
    const wallet = connect();
    google.fail({ on: 'addMessage', how: 'lost' });
    await expect(wallet.addMessage(objectId(), message('1'))).rejects.toMatchObject({ kind: 'transient' });
    expect(await wallet.addMessage(objectId(), message('1'), { checkFirst: true })).toEqual({ outcome: 'existed' });
    expect((await wallet.getObject(objectId()))?.messages).toHaveLength(1);
  });
});

describe('when Google fails', () => {
  it.each([
    ['hang', 'timeout'],
    ['stall', 'timeout'],
    ['reset', expect.stringMatching(/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET|ERR_STREAM_PREMATURE_CLOSE)$/)],
  ] as const)(
    'a call that meets a %s is transient within its time, and was sent once',
    ...steadily(1_000, async (how: GoogleFault['how'], reason: string) => {
      const wallet = connect({ timeoutMs: 1_000 });
      await wallet.getObject(objectId());
      google.fail({ on: 'objectGet', how, times: 5 });
      google.requests.length = 0;
      await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'transient', status: null, reason });
      expect(kinds()).toEqual(['objectGet']);
    }),
  );

  it.each([429, 500, 503])(
    'an answer of %i is transient, and nothing is tried again behind the bucket',
    async (status) => {
      const wallet = connect();
      google.fail({ on: 'objectGet', how: { status }, times: 5 });
      await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'transient', status });
      expect(kinds()).toEqual(['token', 'objectGet']);
    },
  );

  it(
    'a token endpoint that hangs or fails costs one request and its time',
    ...steadily(1_000, async () => {
      const wallet = connect({ timeoutMs: 1_000 });
      google.fail({ on: 'token', how: 'hang' });
      await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'transient', reason: 'timeout' });
      google.fail({ on: 'token', how: { status: 503 } });
      await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'transient', status: 503 });
      expect(kinds()).toEqual(['token', 'token']);
      expect(await wallet.getObject(objectId())).toBeNull();
    }),
  );

  it('a service account that Google does not know is forbidden', async () => {
    const stranger = await startGoogleServer();
    const account: unknown = JSON.parse(stranger.settings.GOOGLE_WALLET_CREDENTIALS);
    await stranger.close();
    const credentials = loadGoogleCredentials({
      ...google.settings,
      GOOGLE_WALLET_CREDENTIALS: JSON.stringify(Object.assign({}, account, { token_uri: `${google.origin}/token` })),
    });
    if (credentials.mode === 'stub') throw new Error(credentials.reason);
    const wallet = createGoogleWallet({ credentials, bucket, log: { info() {}, warn() {} } });
    await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'forbidden', reason: 'invalid_grant' });
  });

  it('an account without access to the issuer is forbidden', async () => {
    const credentials = loadGoogleCredentials({ ...google.settings, GOOGLE_WALLET_ISSUER_ID: '3388000000099999999' });
    if (credentials.mode === 'stub') throw new Error(credentials.reason);
    const wallet = createGoogleWallet({ credentials, bucket, log: { info() {}, warn() {} } });
    await expect(wallet.upsertClass(program)).rejects.toMatchObject({ kind: 'forbidden', reason: 'permissionDenied' });
  });

  it('an access token that stopped working is replaced, once for all calls under way', async () => {
    const wallet = connect({ bucket: noBucket });
    await wallet.upsertClass(program);
    google.revokeTokens();
    google.requests.length = 0;
    await Promise.all(Array.from({ length: 5 }, () => wallet.insertObject(face())));
    expect(kinds().filter((kind) => kind === 'token')).toHaveLength(1);
    expect(google.rules.objects.size).toBe(1);
  });

  it('an access token that never works is forbidden after one more try', async () => {
    const wallet = connect();
    google.fail({ on: 'objectGet', how: { status: 401 }, times: 5 });
    await expect(wallet.getObject(objectId())).rejects.toMatchObject({ kind: 'forbidden', status: 401 });
    expect(kinds()).toEqual(['token', 'objectGet', 'token', 'objectGet']);
  });

  it('a change whose answer was lost is made again without harm', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    google.fail({ on: 'objectInsert', how: 'lost' });
    await expect(wallet.insertObject(face())).rejects.toMatchObject({ kind: 'transient' });
    expect(await wallet.insertObject(face())).toMatchObject({ outcome: 'existed' });
  });
});

describe('many members at once', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => face({ memberId: `m-${index}`, memberCode: `CODE${index}` }));

  it('are inserted by the hundred in a few requests, each with its own outcome', async () => {
    const wallet = connect();
    await wallet.upsertClass(program);
    await wallet.insertObject(face({ memberId: 'm-7' }));
    const faces = many(120);
    const bad = { ...face({ memberId: 'm-bad' }), programId: 'never-made' };
    google.requests.length = 0;
    const outcomes = await wallet.batchInsert([...faces, bad]);
    expect(kinds()).toEqual(['batch', 'batch', 'batch']);
    expect(outcomes.map(({ memberId }) => memberId)).toEqual([...faces.map(({ memberId }) => memberId), 'm-bad']);
    expect(outcomes.filter(({ outcome }) => outcome === 'inserted')).toHaveLength(119);
    expect(outcomes[7]).toMatchObject({ memberId: 'm-7', outcome: 'existed' });
    expect(outcomes[120]).toMatchObject({ outcome: 'failed', error: { kind: 'not_found', reason: 'classNotFound' } });
    expect(google.rules.objects.get(makeGoogleObjectId(google.issuerId, 'm-99'))).toMatchObject({
      accountId: 'CODE99',
    });
  });

  it('lose only the batch that failed, and are whole after a second try', async () => {
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

  it('of nobody ask nothing', async () => {
    expect(await connect().batchInsert([])).toEqual([]);
    expect(google.requests).toEqual([]);
  });
});

describe('the limit of requests', () => {
  it('is kept by the bucket, and broken without it', async () => {
    const unbounded = connect({ bucket: noBucket });
    const wild = await Promise.allSettled(Array.from({ length: 30 }, () => unbounded.getObject(objectId())));
    expect(wild.some(({ status }) => status === 'rejected')).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const bounded = connect();
    const tame = await Promise.allSettled(Array.from({ length: 45 }, () => bounded.getObject(objectId())));
    expect(tame.every(({ status }) => status === 'fulfilled')).toBe(true);
  });
});
