// Encrypted webhook secrets in the database: rotation of SECRETS_KEY, re-encryption, and revocation of old secrets.
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { placeOf as mailPlace } from '../../../activities/mail/queueMail.writes.js';
import {
  liveSecrets,
  resealSecrets,
  revokeOldSecrets,
  rotateSecret,
} from '../../../activities/webhooks/signingSecrets.writes.js';
import { createSecretBox } from '../../../platform/secretBox.js';
import type { MailRow } from '../../../schemas/mail/mail.rows.js';
import { newId } from '../../../schemas/shared/ids.js';
import { parseKeyRing } from '../../../schemas/shared/keyRing.rules.js';
import { secrets } from '../../../stack/commands/secrets.js';
import { webhooks } from '../../../stack/commands/webhooks.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { ok } from '../../rig/standins/responders.js';
import { sealUnbound } from '../../rig/standins/unboundSecret.js';
import { runOn } from '../../rig/start/commandLine.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const all = '/merchants/me/webhooks';
const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const idOf = (byte: number) => parseKeyRing(keyOf(byte)).newest.id;
/** The key of the test service. */
const first = 7;

let service: TestService;
let merchant: TestMerchant;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService();
  merchant = await aMerchant(service);
  receiver = await startReceiver(ok());
});
afterEach(clear);
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

async function subscribe(): Promise<{ id: string; secret: string }> {
  const { body } = await merchant.call(all, {
    body: { url: receiver.url, events: ['points.changed'] },
  });
  return body.data;
}

/** The dependencies of a process that has these keys, newest first. */
const withKeys = (...bytes: number[]) => ({
  ...service.deps,
  secrets: createSecretBox({ SECRETS_KEY: bytes.map(keyOf).join(',') }),
});

async function secretsOf(id: string, deps: ReturnType<typeof withKeys>): Promise<string[]> {
  const row = await service.deps.collections.subscriptions.findOne({ _id: id });
  if (!row) throw new Error('The subscription is not there.');
  return liveSecrets(deps, row, new Date());
}

async function clear(): Promise<void> {
  const { body } = await merchant.call(`${all}?pageSize=100`);
  for (const { id } of body.data.items) await merchant.call(`${all}/${id}`, { method: 'DELETE' });
}

/** A row that nobody sends within an hour. */
function waitingMail(sealed: string): MailRow & { sealed: string } {
  const _id = newId();
  const later = new Date(Date.now() + 3_600_000);
  return {
    ...{ _id, merchantId: merchant.id, kind: 'sign-in', language: 'en', state: 'queued', attempts: 0 },
    ...{ sealed: withKeys(first).secrets.seal(sealed, mailPlace(_id)), createdAt: new Date() },
    ...{ leasedUntil: later, triedUntil: later, dueAt: later },
  };
}

/** The secrets with which the next delivery is signed. */
async function verifiesWith(candidates: string[]): Promise<string[]> {
  const member = await merchant.enroll();
  const before = receiver.requests.length;
  await merchant.call(`/merchants/me/members/${member.id}/points`, { method: 'PATCH', body: { delta: 1 } });
  await receiver.waitFor((requests) => requests.length > before);
  const request = receiver.requests[before];
  if (!request) throw new Error('Nothing came.');
  return candidates.filter((secret) => {
    try {
      new Webhook(secret).verify(request.body, request.headers as Record<string, string>);
      return true;
    } catch {
      return false;
    }
  });
}

describe('npm run secrets', () => {
  it('re-encrypts everything with the newest key, so that the older keys are not needed any more', async () => {
    const subscriptions = [await subscribe(), await subscribe(), await subscribe()];
    const [one] = subscriptions;
    if (!one) throw new Error('unreachable');
    await merchant.call(`${all}/${one.id}/rotate-secret`, { method: 'POST' });
    const { mails } = service.deps.collections;
    const mail = waitingMail('the address');
    await mails.insertOne(mail);
    const ring = { SECRETS_KEY: `new:${keyOf(8)},old:${keyOf(first)}` };
    const status = await runOn(service, secrets, ['status'], ring);
    expect(status.lines.map((line) => line.split(/ +/))).toEqual([
      ['KEY', 'NAME', 'SECRETS'],
      [idOf(8), 'new', '0'],
      [idOf(first), 'old', '5'],
      '5 to reseal: npm run secrets -- reseal'.split(' '),
    ]);
    const done = (subscriptions: number, mails: number) => [
      `the secrets of ${subscriptions} subscriptions were resealed`,
      `the secrets of ${mails} mails were resealed`,
    ];
    expect(await runOn(service, secrets, ['reseal'], ring)).toEqual({ code: 0, lines: done(3, 1), errors: [] });
    expect((await runOn(service, secrets, ['status'], { SECRETS_KEY: keyOf(8) })).lines.at(-1)).toBe(
      'all secrets are sealed with the newest key',
    );
    for (const { id, secret } of subscriptions) expect(await secretsOf(id, withKeys(8))).toContain(secret);
    const waiting = await mails.findOne({ _id: mail._id });
    expect(withKeys(8).secrets.open(waiting?.sealed ?? '', mailPlace(mail._id))).toBe('the address');
    expect((await runOn(service, secrets, ['reseal'], ring)).lines).toEqual(done(0, 0));
    await mails.deleteOne({ _id: mail._id });
  });

  it('re-encrypts a secret from before secrets were bound to their row, and binds it', async () => {
    const { id, secret } = await subscribe();
    const sealed = sealUnbound(secret, keyOf(first));
    await service.deps.collections.subscriptions.updateOne({ _id: id }, { $set: { secrets: [{ sealed }] } });
    expect(await verifiesWith([secret])).toEqual([secret]);
    expect((await runOn(service, secrets, ['reseal'], { SECRETS_KEY: keyOf(first) })).code).toBe(0);
    expect(await secretsOf(id, withKeys(first))).toEqual([secret]);
    const row = await service.deps.collections.subscriptions.findOne({ _id: id });
    if (!row) throw new Error('The subscription is not there.');
    expect(() => liveSecrets(withKeys(first), { ...row, _id: 'another row' }, new Date())).toThrow();
  });

  it('names the secrets that it cannot decrypt, and re-encrypts the rest', async () => {
    const [lost, kept] = [await subscribe(), await subscribe()];
    const { mails } = service.deps.collections;
    const sealed = sealUnbound('x', keyOf(99));
    const [lostMail, keptMail] = [{ ...waitingMail('x'), sealed }, waitingMail('y')];
    await mails.insertMany([lostMail, keptMail]);
    await service.deps.collections.subscriptions.updateOne({ _id: lost.id }, { $set: { secrets: [{ sealed }] } });
    const ran = await runOn(service, secrets, ['reseal'], { SECRETS_KEY: `${keyOf(8)},${keyOf(first)}` });
    expect(ran.code).toBe(1);
    expect(ran.lines).toEqual(['the secrets of 1 subscriptions were resealed', 'the secrets of 1 mails were resealed']);
    const why = `A secret is sealed under key ${idOf(99)}, which is not in SECRETS_KEY.`;
    expect(ran.errors).toEqual([`subscription ${lost.id}: ${why}`, `mail ${lostMail._id}: ${why}`]);
    for (const { _id } of [lostMail, keptMail]) await mails.deleteOne({ _id });
    expect(await secretsOf(kept.id, withKeys(8))).toEqual([kept.secret]);
  });

  it('needs the key ring', async () => {
    expect(await runOn(service, secrets, ['reseal'])).toMatchObject({ code: 1, errors: ['SECRETS_KEY is required'] });
  });
});

describe('a rotation of SECRETS_KEY', () => {
  it('loses nothing, twice in a row, wherever the re-encryption was killed', async () => {
    const killedAfter = fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 4 }));
    const known = await Promise.all([subscribe(), subscribe(), subscribe(), subscribe()]);
    let newest = first;
    await fc.assert(
      fc.asyncProperty(killedAfter, async ([firstRows, secondRows]) => {
        let older = [newest];
        for (const rows of [firstRows, secondRows]) {
          newest += 1;
          const deps = withKeys(newest, ...older);
          const resealing = resealSecrets(deps);
          for (let done = 0; done < rows; done += 1) await resealing.next();
          await resealing.return(undefined);
          for (const { id, secret } of known) expect(await secretsOf(id, deps)).toEqual([secret]);
          older = [newest, ...older];
        }
        for await (const { mistake } of resealSecrets(withKeys(...older))) expect(mistake).toBeUndefined();
        for (const { id, secret } of known) expect(await secretsOf(id, withKeys(newest))).toEqual([secret]);
      }),
      { numRuns: 20 },
    );
  });

  it('concurrent with rotations and revocations keeps each new secret and restores no old one', async () => {
    const deps = withKeys(8, first);
    for (let round = 0; round < 10; round += 1) {
      const { id, secret } = await subscribe();
      const at = { merchantId: merchant.id, id };
      const reseal = async () => {
        for await (const { mistake } of resealSecrets(deps)) expect(mistake).toBeUndefined();
      };
      const [rotated] = await Promise.all([rotateSecret(withKeys(first), at), reseal(), reseal()]);
      expect(await secretsOf(id, deps)).toEqual([rotated.secret, secret]);
      await Promise.all([reseal(), revokeOldSecrets(deps, id), reseal()]);
      await reseal();
      expect(await secretsOf(id, withKeys(8))).toEqual([rotated.secret]);
    }
  });
});

describe('an old webhook secret', () => {
  it('is revoked at once by a rotation with `revokePrevious`', async () => {
    const { id, secret } = await subscribe();
    const { body: kept } = await merchant.call(`${all}/${id}/rotate-secret`, { method: 'POST' });
    const { status, body } = await merchant.call(`${all}/${id}/rotate-secret`, { body: { revokePrevious: true } });
    expect(status).toBe(200);
    expect(Date.parse(body.data.previousSecretExpiresAt)).toBeLessThanOrEqual(Date.now());
    expect(await verifiesWith([secret, kept.data.secret, body.data.secret])).toEqual([body.data.secret]);
  });

  it("is revoked at once by the operator's command, which creates no new one", async () => {
    const { id, secret } = await subscribe();
    const { body } = await merchant.call(`${all}/${id}/rotate-secret`, { method: 'POST' });
    const said = '1 old secret revoked; only the newest one signs';
    expect(await runOn(service, webhooks, ['revoke-secrets', id])).toEqual({ code: 0, lines: [said], errors: [] });
    expect(await verifiesWith([secret, body.data.secret])).toEqual([body.data.secret]);
    expect((await runOn(service, webhooks, ['revoke-secrets', 'nobody'])).code).toBe(1);
    expect((await runOn(service, webhooks, ['revoke-secrets'])).errors).toEqual(['name one subscription']);
  });

  it('is not revoked by a request with any other value', async () => {
    const { id } = await subscribe();
    const { status } = await merchant.call(`${all}/${id}/rotate-secret`, { body: { revoke: true } });
    expect(status).toBe(400);
  });
});
