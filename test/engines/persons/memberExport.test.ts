// The export of a member holds all that is kept about it, and nothing of anybody else; that of a merchant holds all its
// rows, and its removal leaves none. All three work from schemas/persons/personalData.schema.ts.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clearObjects } from '../../../activities/wallets/google/clearObjects.activity.js';
import { createWallets } from '../../../activities/wallets/wallets.client.js';
import { newId, spentCodeId } from '../../../schemas/shared/ids.js';
import { collectionNames } from '../../../schemas/tables/collections.js';
import { makeGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import { merchants } from '../../../stack/commands/merchants.js';
import { findTraces } from '../../rig/checks/findTraces.js';
import { until } from '../../rig/checks/until.js';
import { type GoogleServer, startGoogleServer } from '../../rig/standins/googleServer.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { status } from '../../rig/standins/responders.js';
import { runOn } from '../../rig/start/commandLine.js';
import { batchEnd, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let other: TestMerchant;
let receiver: Receiver;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-export-'));
  service = await startService({ env: { MAIL_FOLDER: join(folder, 'mail') } });
  [merchant, other, receiver] = await Promise.all([aMerchant(service), aMerchant(service), startReceiver()]);
  receiver.setResponder(status(500));
  await Promise.all([fill(merchant, 'own'), fill(other, 'other')]);
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
  rmSync(folder, { recursive: true, force: true });
});

const members: Record<string, { id: string; serialNumber: string; programId: string }> = {};

/** A member with data in every collection, together with a delivery, a campaign and an import. */
async function fill(of: TestMerchant, who: string): Promise<void> {
  const { deps } = service;
  const retryPolicy = { maxAttempts: 5, backoffMs: 600_000 };
  await of.call('/merchants/me/webhooks', { body: { url: receiver.url, events: ['*'], retryPolicy } });
  const member = await of.enroll({ firstName: `Name-of-${who}`, email: `${who}@example.com`, initialPoints: 5 });
  members[who] = member;
  const path = `/merchants/me/members/${member.id}`;
  await of.call(`${path}/tags`, { body: { tags: [`tag of ${who}`] } });
  const status = (to: string) => ({ method: 'PATCH', body: { status: to, reason: `reason of ${who}, ${to}` } });
  await of.call(`${path}/status`, status('voided'));
  await of.call(`${path}/status`, status('active'));
  await of.call(`${path}/points`, { method: 'PATCH', body: { delta: 7, changeMessage: `message to ${who}` } });
  const imported = await sendImport(of, {
    programId: member.programId,
    file: `firstName,email\nx,${who}@example.com\ny,${who}.2@example.com\n`,
  });
  await batchEnd(of, imported.body.data.batchId);
  const campaign = await of.call('/merchants/me/campaigns', { body: { message: `campaign of ${who}` } });
  await batchEnd(of, campaign.body.data.id);
  const given = { merchantId: of.id, memberId: member.id };
  await deps.collections.devices.insertOne({
    ...{ _id: newId(), ...given, deviceLibraryIdentifier: newId(), passTypeIdentifier: 'pass.test' },
    ...{ serialNumber: member.serialNumber, pushToken: `push-token-of-${who}`, registeredAt: new Date() },
  });
  await deps.collections.removals.insertOne({ _id: newId(), ...given, reportedAt: new Date() });
  await deps.collections.deviceLogs.insertOne({
    ...{ _id: newId(), message: `log of ${who}`, serialNumber: member.serialNumber, receivedAt: new Date() },
  });
  await until(() => deps.collections.deliveries.findOne({ merchantId: of.id, eventType: 'points.changed' }));
  await until(async () => (await deps.collections.events.countDocuments({ merchantId: of.id, state: 'new' })) === 0);
}

describe('the export of a member', () => {
  it('contains the rows of each collection about it, and no secret', async () => {
    const { id, serialNumber } = members.own ?? { id: '', serialNumber: '' };
    const { status: answered, body, headers } = await merchant.call(`/merchants/me/members/${id}/export`);
    expect(answered).toBe(200);
    expect(headers.get('content-disposition')).toMatch(/member-\w{10}\.json/);
    const { kept } = body.data as { kept: Record<string, Document[]> };
    const empty = Object.entries(kept).filter(([, rows]) => rows.length === 0);
    expect(empty.map(([name]) => name).toSorted()).toEqual(['erasures', 'externalIds', 'mails']);
    expect(kept.members?.[0]).toMatchObject({ _id: id, email: 'own@example.com', tags: ['tag of own'] });
    expect(kept.ledger?.map(({ delta }) => delta).toSorted()).toEqual([5, 7]);
    expect(kept.events?.some(({ envelope }) => envelope?.data?.changeMessage === 'message to own')).toBe(true);
    const reasons = kept.events?.map(({ envelope }) => envelope?.data?.reason).filter(Boolean);
    expect(reasons?.toSorted()).toEqual(['reason of own, active', 'reason of own, voided']);
    expect(kept.importChunks).toMatchObject([{ cells: ['x', 'own@example.com'], outcome: { outcome: 'deduped' } }]);
    expect(kept.devices).toMatchObject([{ pushToken: 'push-token-of-own', serialNumber }]);
    expect(kept.deliveries?.length).toBeGreaterThan(2);
    const text = JSON.stringify(body);
    expect(text).not.toContain('authenticationToken');
    expect(text).not.toContain('other');
    expect(text).not.toContain('own.2@');
  });

  it('names what it leaves out: who may not see the audit sees nothing of it here', async () => {
    const { id } = members.own ?? { id: '' };
    const roleId = newId();
    const permissions = ['merchants.members:view' as const];
    await service.deps.collections.roles.insertOne({ _id: roleId, merchantId: merchant.id, name: 'r', permissions });
    const credential = { Authorization: `Bearer ${await merchant.token({ roleIds: [roleId] })}` };
    const path = `/merchants/me/members/${id}/export`;
    const { data } = (await merchant.call(path, { credential })).body;
    expect([data.leftOut, data.kept.audit, data.kept.members.length]).toEqual([['audit'], undefined, 1]);
    const owner = { Authorization: `Bearer ${await merchant.token()}` };
    const all = (await merchant.call(path, { credential: owner })).body.data;
    expect(all.leftOut).toEqual([]);
    expect(all.kept.audit.length).toBeGreaterThan(0);
  });

  it('is 404 for another merchant, and 403 without the permission to read members', async () => {
    const path = `/merchants/me/members/${members.own?.id}/export`;
    expect((await other.call(path)).status).toBe(404);
    const till = { Authorization: `Bearer ${await merchant.token({ roleIds: ['till'] })}` };
    expect((await merchant.call(path, { credential: till })).status).toBe(403);
  });
});

describe('a mail about a member', () => {
  it('is removed with the member, also from the folder', async () => {
    const { deps, client } = service;
    const since = new Date();
    const { slug } = await merchant.program();
    const email = 'mailed.somebody@example.com';
    const joined = await merchant.call(`/enroll/${slug}/submit`, { body: { email }, credential: null });
    expect(joined.status).toBe(201);
    const { memberId = '' } = await until(() => deps.collections.mails.findOne({ state: 'sent' }));
    const traces = () => findTraces({ deps, temporal: client, since, folders: [join(folder, 'mail')] }, [email]);
    expect((await traces()).map(({ place }) => place.endsWith('.eml'))).toContain(true);
    const credential = { Authorization: `Bearer ${await merchant.token()}` };
    expect((await merchant.call(`/merchants/me/members/${memberId}`, { method: 'DELETE', credential })).status).toBe(
      200,
    );
    await until(async () => (await traces()).length === 0);
    expect(await deps.collections.mails.countDocuments({ memberId })).toBe(0);
  });
});

const run = (line: string, env?: Record<string, string>) => runOn(service, merchants, line.split(' '), env);
const rowsIn = (file: string) =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as { collection?: string; row?: Document; complete?: true });
const keysOf = (file: string) => rowsIn(file).map(({ collection, row }) => `${collection} ${row?._id}`);

describe('the export of a merchant', () => {
  it('contains all its rows without secrets, and an end mark', async () => {
    const ran = await run(`export ${merchant.id}`);
    expect(ran.code).toBe(0);
    expect(ran.lines.at(-1)).toBe('{"complete":true}');
    const kept = ran.lines.slice(0, -1).map((line) => JSON.parse(line) as { collection: string; row: Document });
    for (const name of collectionNames) {
      const stored = await service.deps.collections[name as 'members'].countDocuments({ merchantId: merchant.id });
      expect([name, kept.filter(({ collection }) => collection === name).length]).toEqual([name, stored]);
    }
    const text = ran.lines.join('\n');
    for (const secret of ['"sealed"', '"hash"', 'authenticationToken', 'other@example.com'])
      expect([secret, text.includes(secret)]).toEqual([secret, false]);
    expect(ran.errors.join('\n')).toMatch(/exported events: \d+ rows/);
  });

  it('ends with exit code 1 and a sentence for a merchant of which nothing is kept, and leaves no file', async () => {
    const to = join(folder, 'nobody.jsonl');
    for (const line of ['export nobody-at-all', `export nobody-at-all --to ${to}`]) {
      const ran = await run(line);
      expect([ran.code, ran.lines]).toEqual([1, []]);
      expect(ran.errors.join('\n')).toContain('nothing is kept of the merchant nobody-at-all');
    }
    expect([existsSync(to), existsSync(`${to}.part`)]).toEqual([false, false]);
  });

  it('continues in the file where it was interrupted, also in the middle of a line', async () => {
    const whole = join(folder, 'whole.jsonl');
    await run(`export ${merchant.id} --to ${whole}`);
    const broken = join(folder, 'broken.jsonl');
    const bytes = readFileSync(whole);
    for (const part of [0.0005, 0.3, 0.6, 0.95, 1]) {
      rmSync(broken, { force: true });
      writeFileSync(`${broken}.part`, bytes.subarray(0, Math.floor(bytes.length * part)));
      expect((await run(`export ${merchant.id} --to ${broken}`)).code).toBe(0);
      expect(keysOf(broken)).toEqual(keysOf(whole));
      expect(existsSync(`${broken}.part`)).toBe(false);
    }
    const again = await run(`export ${merchant.id} --to ${broken}`);
    expect(again.errors).toEqual([`${broken} is complete`]);
    expect((await run(`export ${other.id} --to ${broken}`)).code).toBe(1);
  });

  it('is a file for its owner alone, which has its name only when it is complete', async () => {
    const file = join(folder, 'own.jsonl');
    await run(`export ${merchant.id} --to ${file}`);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['a text without a last line', 'precious, and not ours'],
    ['lines of something else', 'one\ntwo\nthr'],
    ['JSON of something else', '{"collection":"programs","row":{"_id":"p","merchantId":"another"}}\n{"coll'],
    ['nothing that could be a line', Buffer.alloc(3_000, 255)],
  ])('leaves a file alone that it has not written: %s', async (_title, bytes) => {
    const file = join(folder, `${newId()}.jsonl`);
    for (const name of [file, `${file}.part`]) {
      writeFileSync(name, bytes);
      const { code, errors } = await run(`export ${merchant.id} --to ${file}`);
      expect([code, errors.join()]).toEqual([1, expect.stringContaining(name)]);
      expect(readFileSync(name)).toEqual(Buffer.from(bytes));
      rmSync(name);
    }
  });
});

describe('erasures that are made again after a restore', () => {
  it('erase the same members, with the same event, from the list or from the log', async () => {
    const { collections } = service.deps;
    const owner = { Authorization: `Bearer ${await merchant.token()}` };
    const [first, second] = [await merchant.enroll({ email: 'restored@example.com' }), await merchant.enroll()];
    for (const { id } of [first, second])
      await until(() => collections.events.findOne({ memberId: id, type: 'member.created', state: 'published' }));
    const stored = await collections.members.find({ _id: { $in: [first.id, second.id] } }).toArray();
    const emails = await collections.emails.find({ memberId: first.id }).toArray();
    // The test must not restore rows that a worker would have removed in the meantime.
    await service.stopWorker();
    for (const { id } of [first, second])
      await merchant.call(`/merchants/me/members/${id}`, { method: 'DELETE', credential: owner });
    const told = await collections.events.findOne({ type: 'member.deleted', 'data.memberId': first.id });
    const listed = await run(`erasures --since 2026-01-01T00:00:00Z`);
    expect(listed.lines.map((line) => JSON.parse(line).memberId)).toEqual(
      expect.arrayContaining([first.id, second.id]),
    );
    // As in an older backup.
    await collections.members.insertMany(stored);
    await collections.emails.insertMany(emails);
    for (const { _id, merchantId, memberCode } of stored) {
      await collections.erasures.deleteOne({ _id });
      await collections.spentCodes.deleteOne({ _id: spentCodeId(merchantId, memberCode) });
    }
    for (const id of [first.id, second.id])
      await collections.events.deleteOne({ type: 'member.deleted', 'data.memberId': id });
    const file = join(folder, 'erasures.jsonl');
    const logged = { level: 30, msg: 'a member was erased', memberId: second.id, merchantId: merchant.id };
    const ofLog = JSON.stringify({ ...logged, erasedAt: '2026-11-23T10:00:00.000Z' });
    const line = listed.lines.find((one) => one.includes(first.id));
    writeFileSync(file, `${line}\n${ofLog}\n${JSON.stringify({ ...JSON.parse(ofLog), memberId: newId() })}\n`);
    const ran = await run(`re-erase ${file}`);
    expect(ran.lines[0]).toMatch(/^erased 2 members again; 1 were not there/);
    await service.startWorker();
    for (const { id } of [first, second]) expect((await merchant.call(`/merchants/me/members/${id}`)).status).toBe(404);
    const again = await collections.events.findOne({ type: 'member.deleted', 'data.memberId': first.id });
    expect([again?._id, String(again?.envelope)]).toEqual([told?._id, String(told?.envelope)]);
    writeFileSync(file, 'no erasure\n');
    expect((await run(`re-erase ${file}`)).errors).toEqual(['line 1 is no erasure']);
  });
});

describe('the removal of a merchant', () => {
  const mailFolder = () => join(folder, 'mail');
  const mailsTo = (address: string) =>
    readdirSync(mailFolder()).filter((name) => readFileSync(join(mailFolder(), name), 'utf8').includes(address));

  async function joinByMail(of: TestMerchant, email: string): Promise<void> {
    const { slug } = await of.program();
    expect((await of.call(`/enroll/${slug}/submit`, { body: { email }, credential: null })).status).toBe(201);
    await until(() => mailsTo(email).length > 0);
  }

  /** Gives a member an object at Google, with its name. */
  async function saveAtGoogle(google: GoogleServer, memberId: string): Promise<string> {
    const objectId = makeGoogleObjectId(google.issuerId, memberId);
    const object = { id: objectId, classId: `${google.issuerId}.class`, state: 'ACTIVE', accountName: 'Ada Lovelace' };
    google.rules.objects.set(objectId, { ...object, messages: [{ id: 'm', header: 'h', body: 'Dear Ada Lovelace' }] });
    await service.deps.collections.members.updateOne({ _id: memberId }, { $set: { 'pass.googleSaveUrl': 'saved' } });
    return objectId;
  }

  it('clears its objects at Google and its mail files, and waits for no answer of Google', async () => {
    const leaving = await aMerchant(service);
    const google = await startGoogleServer();
    const program = await leaving.program();
    const all = await Promise.all([1, 2].map(() => leaving.enroll({ programId: program._id })));
    const objects = await Promise.all(all.map(({ id }) => saveAtGoogle(google, id)));
    const elsewhere = await saveAtGoogle(google, members.other?.id ?? '');
    const owner = { Authorization: `Bearer ${await leaving.token()}` };
    await leaving.call('/merchants/me/users', {
      body: { email: 'invited@example.org', roleIds: ['viewer'] },
      credential: owner,
    });
    await joinByMail(leaving, 'leaving@example.org');
    await joinByMail(other, 'staying@example.org');
    await until(() => mailsTo('invited@example.org').length > 0);

    const env = { ...google.settings, MAIL_FOLDER: mailFolder() };
    google.fail({ on: 'objectUpdate', how: { status: 403 }, times: 1 });
    expect((await run(`remove ${leaving.id} --yes`, env)).code).toBe(0);
    google.mend();
    const { googleClears, members: left } = service.deps.collections;
    expect(await left.countDocuments({ merchantId: leaving.id })).toBe(0);
    const ofMerchant = { _id: { $in: all.map(({ id }) => id) } };
    const owed = await googleClears.find(ofMerchant).toArray();
    expect(owed).toEqual([{ _id: expect.any(String), dueAt: expect.any(Date) }]);
    const log = service.deps.log;
    const wallets = await createWallets({ config: { ...service.deps.config, ...google.settings }, log });
    if (wallets.google) await clearObjects(service.deps, wallets.google, owed);
    await wallets.close();
    expect(await googleClears.countDocuments(ofMerchant)).toBe(0);
    for (const objectId of objects) {
      const object = google.rules.objects.get(objectId);
      expect(object).toMatchObject({ state: 'INACTIVE' });
      expect(JSON.stringify(object)).not.toContain('Lovelace');
    }
    expect(google.rules.objects.get(elsewhere)).toMatchObject({ accountName: 'Ada Lovelace' });
    expect([mailsTo('leaving@example.org'), mailsTo('invited@example.org')]).toEqual([[], []]);
    expect(mailsTo('staying@example.org')).toHaveLength(1);
    await google.close();
  });

  it('needs --yes, and removes all rows and workflows of the merchant, and nothing of another one', async () => {
    const count = async (id: string) => {
      const found = collectionNames.map(async (name) => {
        const rows = await service.deps.collections[name as 'members'].countDocuments({ merchantId: id });
        return [name, rows] as const;
      });
      return (await Promise.all(found)).filter(([, rows]) => rows > 0);
    };
    const before = await count(other.id);
    expect((await run(`remove ${merchant.id}`)).errors.join()).toContain('--yes is required');
    const ran = await run(`remove ${merchant.id} --yes`);
    // While members are there, so are their programs.
    expect(ran.errors.join('\n')).toMatch(/removed members: \d+ rows[\s\S]*removed programs: \d+ rows/);
    expect(ran.code).toBe(0);
    expect(await count(merchant.id)).toEqual([['audit', 1]]);
    expect(await service.deps.collections.audit.findOne({ merchantId: merchant.id })).toMatchObject({
      action: 'merchant.remove',
      actor: { type: 'operator' },
    });
    expect(await count(other.id)).toEqual(before);
    const { collections } = service.deps;
    expect(await collections.deviceLogs.find().toArray()).toMatchObject([{ message: 'log of other' }]);
    expect(await collections.merchants.findOne({ _id: merchant.id })).toMatchObject({ suspendedAt: expect.any(Date) });
    const query = `MerchantId = '${merchant.id}' AND ExecutionStatus = 'Running'`;
    await until(async () => {
      for await (const _ of service.client.workflow.list({ query })) return false;
      return true;
    });
    expect((await other.call('/merchants/me/members')).body.data.total).toBeGreaterThan(0);
    expect((await merchant.call('/merchants/me/members')).status).toBe(401);
    expect((await run(`remove ${merchant.id} --yes`)).code).toBe(0);
  });
});
