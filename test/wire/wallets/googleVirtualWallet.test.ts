// A test of the rig: the virtual Google wallet, with the save links that it opens.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { decodeJwt } from 'jose';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadGoogleCredentials } from '../../../activities/wallets/google/credentials.rules.js';
import { createGoogleWalletApi } from '../../../activities/wallets/google/googleWallet.client.js';
import type { GoogleWalletApi } from '../../../activities/wallets/google/googleWallet.schema.js';
import { createRequestPacer } from '../../../activities/wallets/google/requestPacer.client.js';
import { type GoogleCallbackEvent, verifyCallback } from '../../../api/wallets/google/callback.rules.js';
import { createCallbackKeys } from '../../../api/wallets/google/callbackKeys.client.js';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import type { GooglePassView, GoogleProgramView } from '../../../schemas/wallets/google/pass.view.js';
import { type GoogleServer, startGoogleServer } from '../../rig/standins/googleServer.js';
import {
  createVirtualGoogleWallet,
  forgeries,
  type VirtualGoogleWallet,
} from '../../rig/standins/virtualGoogleWallet.js';

const view: GooglePassView = {
  programId: 'demo-points',
  memberId: '1f0c9d54-2f8a-4e66-9b0a-0f4a5d3e7c11',
  memberCode: '7K3M9PXQ2A',
  barcode: '7K3M9PXQ2A',
  accountName: 'Ada Lovelace',
  label: 'POINTS',
  balance: 0,
  status: 'active',
};

let google: GoogleServer;
let phone: VirtualGoogleWallet;
let wallet: GoogleWalletApi;
let receiver: Server;
let events: GoogleCallbackEvent[];
let program: GoogleProgramView;

/** The service's route: accepts callbacks that Google signed and refuses all others. */
async function listen(): Promise<string> {
  const keys = createCallbackKeys({ url: `${google.origin}/gp/m/issuer/keys` });
  receiver = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    const checked = verifyCallback(
      { issuerId: google.issuerId, rootKeys: await keys.rootKeys(), now: new Date() },
      body,
    );
    if (checked.ok) events.push(checked.event);
    response.writeHead(checked.ok ? 200 : 401).end();
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/wallet/google/callback`;
}

beforeEach(async () => {
  events = [];
  google = await startGoogleServer();
  phone = createVirtualGoogleWallet(google);
  const credentials = loadGoogleCredentials(google.settings);
  if (credentials.mode === 'stub') throw new Error(credentials.reason);
  wallet = createGoogleWalletApi({ credentials, pacer: createRequestPacer(), log: { info() {}, warn() {} } });
  program = {
    programId: 'demo-points',
    name: 'Coffee Club',
    issuerName: 'Coffee',
    hexBackgroundColor: '#14532d',
    logoUrl: 'https://example.com/logo.png',
    callbackUrl: await listen(),
  };
});
afterEach(async () => {
  receiver.closeAllConnections();
  receiver.close();
  await google.close();
});

async function issue(): Promise<{ objectId: string; saveUrl: string }> {
  const { classId } = await wallet.upsertClass(program);
  const { objectId } = await wallet.insertObject(view);
  return { objectId, saveUrl: await wallet.saveUrl(objectId, classId) };
}

describe('a customer with Google Wallet', () => {
  it("saves the pass from its link, and the service gets Google's callback", async () => {
    const { objectId, saveUrl } = await issue();
    expect(await phone.save(saveUrl)).toEqual({ objectId, statuses: [200] });
    expect(events).toMatchObject([{ eventType: 'save', objectId, classId: `${google.issuerId}.program-demo-points` }]);
    expect(await wallet.getObject(objectId)).toMatchObject({ hasUsers: true });
  });

  it('shows changes of balance, state and messages', async () => {
    const { objectId, saveUrl } = await issue();
    await phone.save(saveUrl);
    await wallet.patchObject({ ...view, balance: 30, tier: 'Silver' }, { notify: false });
    await wallet.addMessage(objectId, { id: 'g-1', header: 'Coffee Club', body: 'You have 30 points' });
    expect(phone.card(objectId)).toMatchObject({
      label: 'POINTS',
      balance: '30',
      secondary: 'Silver',
      state: 'ACTIVE',
      accountName: 'Ada Lovelace',
      barcode: '7K3M9PXQ2A',
      background: '#14532d',
      messages: [{ header: 'Coffee Club', body: 'You have 30 points', messageType: 'TEXT_AND_NOTIFY' }],
      notices: [{ kind: 'message', text: 'You have 30 points' }],
    });
    await wallet.patchObject({ ...view, balance: 30, status: 'voided' }, { notify: false });
    expect(phone.card(objectId)).toMatchObject({ state: 'INACTIVE', secondary: null });
  });

  it('deletes the pass, and the service gets that callback, too', async () => {
    const { objectId, saveUrl } = await issue();
    await phone.save(saveUrl);
    expect(await phone.remove(objectId)).toEqual({ statuses: [200] });
    expect(events.map(({ eventType }) => eventType)).toEqual(['save', 'del']);
    expect(await wallet.getObject(objectId)).toMatchObject({ hasUsers: false });
  });

  it('is reported several times with the same nonce', async () => {
    const { saveUrl } = await issue();
    expect((await phone.save(saveUrl, { times: 3 })).statuses).toEqual([200, 200, 200]);
    expect(new Set(events.map(({ nonce }) => nonce)).size).toBe(1);
  });

  it.each(forgeries)('is not reported by a forged callback: %s', async (forge) => {
    const { objectId } = await issue();
    expect(await phone.call('save', objectId, { forge })).toEqual([401]);
    expect(events).toEqual([]);
  });

  it('is still reported after forged callbacks, which cause no fetch of keys', async () => {
    const { objectId, saveUrl } = await issue();
    await phone.call('save', objectId);
    for (const forge of forgeries) await phone.call('save', objectId, { forge });
    expect(google.requests.filter(({ kind }) => kind === 'keys')).toHaveLength(1);
    expect((await phone.save(saveUrl)).statuses).toEqual([200]);
  });
});

describe('a save link', () => {
  it('contains ids and no data of the member, and is short enough for a link', async () => {
    const { objectId, saveUrl } = await issue();
    const claims = decodeJwt(saveUrl.slice(saveUrl.lastIndexOf('/') + 1));
    expect(claims).toEqual({
      iss: google.clientEmail,
      aud: 'google',
      typ: 'savetowallet',
      iat: expect.any(Number),
      origins: [],
      payload: { loyaltyObjects: [{ id: objectId, classId: `${google.issuerId}.program-demo-points` }] },
    });
    expect(saveUrl.length).toBeLessThan(1_800);
  });

  it('of an object that was never inserted, or signed by another account, saves nothing', async () => {
    const { classId } = await wallet.upsertClass(program);
    const objectId = makeGoogleObjectId(google.issuerId, 'nobody');
    await expect(phone.save(await wallet.saveUrl(objectId, classId))).rejects.toThrow('never inserted');
    const stranger = await startGoogleServer();
    const credentials = loadGoogleCredentials(stranger.settings);
    await stranger.close();
    if (credentials.mode === 'stub') throw new Error(credentials.reason);
    const other = createGoogleWalletApi({ credentials, pacer: createRequestPacer(), log: { info() {}, warn() {} } });
    await wallet.insertObject(view);
    const link = await other.saveUrl(makeGoogleObjectId(google.issuerId, view.memberId), classId);
    await expect(phone.save(link)).rejects.toThrow('signature');
  });
});
