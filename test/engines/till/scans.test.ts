// A scan of a pass at the till: the member is found by the scanned code, with an event for the merchant and an entry in
// the timeline.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { type SubscribedService, startSubscribedService } from '../../rig/start/subscribedService.js';

let subscribed: SubscribedService;
let service: TestService;
let merchant: TestMerchant;

beforeAll(async () => {
  subscribed = await startSubscribedService(['pass.scanned']);
  ({ service, merchant } = subscribed);
});
afterAll(() => subscribed.stop());

const scan = (code: unknown) => merchant.call('/merchants/me/scans', { body: { code } });

describe('a scan', () => {
  it('answers with the member and its program, by member code in any case or by legacy serial', async () => {
    const member = await merchant.enroll({ firstName: 'Ada', initialPoints: 7 });
    const answers = await Promise.all(
      [member.memberCode, member.memberCode.toLowerCase(), member.serialNumber].map(scan),
    );
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect(body.data).toMatchObject({
        id: member.id,
        fieldValues: { points: 7 },
        program: { _id: member.programId, fields: { primaryLabel: 'POINTS' } },
      });
    }
  });

  it('finds a member by what scanners and keyboards make of its code', async () => {
    const member = await merchant.enroll({ externalId: 'Ａ-００42' });
    expect(member.externalId).toBe('A-0042');
    const wide = (code: string) =>
      code.replace(/[!-~]/g, (character) => String.fromCharCode(character.charCodeAt(0) + 0xfee0));
    for (const code of [member.memberCode, 'A-0042']) {
      for (const read of [`${code}\r\n`, `\t${code} `, wide(code), `\u200e${wide(code)}\n`]) {
        expect([read, (await scan(read)).body.data?.id]).toEqual([read, member.id]);
        const listed = await merchant.call(`/merchants/me/members?serial=${encodeURIComponent(read)}`);
        expect([read, listed.body.data?.items[0]?.id]).toEqual([read, member.id]);
      }
    }
  });

  it('leaves the time at which the member was last changed, and a change moves it', async () => {
    const { id, memberCode, updatedAt } = await merchant.enroll({ firstName: 'Ada', initialPoints: 7 });
    const { body } = await scan(memberCode);
    expect(body.data.updatedAt).toBe(updatedAt);
    const read = async () => (await merchant.call(`/merchants/me/members/${id}`)).body.data.updatedAt;
    expect(await read()).toBe(updatedAt);
    await merchant.call(`/merchants/me/members/${id}`, { method: 'PATCH', body: { lastName: 'Lovelace' } });
    expect(Date.parse(await read())).toBeGreaterThan(Date.parse(updatedAt));
  });

  it('adds a timeline entry and an event with the next version, and does not change balance and ledger', async () => {
    const member = await merchant.enroll({ initialPoints: 7 });
    await scan(member.memberCode);
    const { body } = await merchant.call(`/merchants/me/members/${member.id}/events`);
    expect(body.data.items).toContainEqual(
      expect.objectContaining({ type: 'pass_scanned', outcome: 'success', detail: 'test key' }),
    );
    expect((await until(() => subscribed.envelopes(member.id)[0])).data).toEqual({
      memberId: member.id,
      memberCode: member.memberCode,
      programId: member.programId,
      merchantId: merchant.id,
      memberVersion: 2,
      code: member.memberCode,
      scannedBy: 'test key',
      actor: { type: 'api-key', id: expect.any(String), name: 'test key' },
    });
    const ledger = await merchant.call(`/merchants/me/members/${member.id}/transactions`);
    expect(ledger.body.data.total).toBe(1);
  });

  it("finds no member by an unknown code or another merchant's, and refuses an invalid code", async () => {
    const other = await aMerchant(service);
    const theirs = await other.enroll();
    for (const code of ['0000000000', theirs.memberCode, theirs.serialNumber, 'x'.repeat(64)])
      expect([code, (await scan(code)).body.error.code]).toEqual([code, 'MEMBER_NOT_FOUND']);
    for (const code of ['', 'x'.repeat(65), 7, null, { $gt: '' }, ['a'], 'a\u0000'])
      expect([code, (await scan(code)).status]).toEqual([code, 400]);
  });
});
