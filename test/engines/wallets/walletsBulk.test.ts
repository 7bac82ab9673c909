// Many passes at once: Google gets them in batches of a hundred, Apple's are signed without blocking other work, a pass
// that is issued twice has one event, and a pass that a wallet refuses delays only itself.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApplePasses, issueGooglePasses } from '../../../activities/wallets/issuePasses.activity.js';
import { newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { type Receiver, startReceiver } from '../../rig/standins/receiver.js';
import { batchEnd, csvHeader, sendImport } from '../../rig/start/imports.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

const many = 60;
let real: RealWallets;
let worker: TestWorker;
let memberIds: string[];
let receiver: Receiver;

beforeAll(async () => {
  real = await startRealWallets({ env: { CHANGE_WORKFLOWS_PER_SECOND: '0' } });
  worker = await startTestWorker(real.service);
  receiver = await startReceiver();
  await real.service.stopWorker();
  const program = await real.merchant.program();
  for (let at = 0; at < many; at += 1) await real.merchant.enroll({ programId: program._id });
  const rows = await real.service.deps.collections.members.find({ programId: program._id }).toArray();
  memberIds = rows.map(({ _id }) => _id);
});
afterAll(async () => {
  await worker.close();
  await real.stop();
  await receiver.stop();
});

describe('issuing many passes', () => {
  it('signs all of them and lets other work run in between', async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const input = { memberIds, leaseOwner: 'a-test' };
    const built = await issueApplePasses(worker.deps, input);
    isDone = true;
    expect(built.newEventIds).toHaveLength(many);
    expect(turns).toBeGreaterThan(many / 20);
    expect(await issueApplePasses(worker.deps, input)).toEqual({ newEventIds: [] });
  });

  it('sends them to Google in batches, under the class of their program', async () => {
    const before = real.google.requests.length;
    const input = { memberIds, leaseOwner: 'a-test' };
    expect((await issueGooglePasses(worker.deps, input)).newEventIds).toHaveLength(many);
    const kinds = real.google.requests.slice(before).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'batch')).toHaveLength(2);
    expect(kinds).not.toContain('objectInsert');
    expect([real.google.rules.objects.size, real.google.rules.classes.size]).toEqual([many, 1]);
    const rows = await real.service.deps.collections.members.find({ _id: { $in: memberIds } }).toArray();
    for (const { pass } of rows) expect(pass.googleSaveUrl).toMatch(/^https:\/\/pay\.google\.com\/gp\/v\/save\//);
    expect(await issueGooglePasses(worker.deps, input)).toEqual({ newEventIds: [] });
  });
});

/** The distinct events about a member in any order, such as `member.created {...}` and `pass.created google`. */
const eventsOf = (memberId: string): string[] => {
  const lines = receiver.requests.flatMap(({ body }) => {
    const { event, data } = JSON.parse(body.toString('utf8'));
    if (data.memberId !== memberId) return [];
    if (event === 'pass.created') return [`${event} ${data.platform}`];
    return [`${event} ${JSON.stringify(data.passIssuance)}`];
  });
  return [...new Set(lines)];
};
const created = (apple: boolean, google: boolean) => `member.created ${JSON.stringify({ apple, google })}`;

describe('a pass that a wallet does not accept, of a member in the relay', () => {
  const enroll = async (programId: string, names: string[]): Promise<string[]> => {
    const made = await Promise.all(names.map((firstName) => real.merchant.enroll({ programId, firstName })));
    return made.map(({ id }) => id);
  };
  const eventsOfAll = (ids: string[], times: number) =>
    until(() => ids.every((id) => eventsOf(id).length >= times) && ids.map(eventsOf));
  const built = async (memberId: string, platform: string) => {
    const { body } = await real.merchant.call(`/merchants/me/members/${memberId}/events`);
    return body.data.items
      .filter((line: { type: string; platform?: string }) => line.type === 'pass_built' && line.platform === platform)
      .map(({ outcome, detail }: { outcome: string; detail?: string }) => [outcome, detail])
      .reverse();
  };

  beforeAll(async () => {
    const events = ['member.created', 'pass.created'];
    await real.merchant.call('/merchants/me/webhooks', { body: { url: receiver.url, events } });
  });

  it('delays no other member, is reported as missing, and is issued when the wallet accepts it', async () => {
    const program = await real.merchant.program();
    real.google.rules.refuses = ({ accountName }) => accountName === 'Refused';
    const ids = await enroll(program._id, ['Ada', 'Refused', 'Bob']);
    await real.service.startWorker();
    const [ada = '', refused = '', bob = ''] = ids;
    for (const lucky of await eventsOfAll([ada, bob], 3)) expect(lucky).toContain(created(true, true));
    expect((await eventsOfAll([refused], 2)).flat().sort()).toEqual([created(true, false), 'pass.created apple']);
    expect(await built(refused, 'google')).toEqual([['failure', 'invalid: invalid; is tried again']]);

    real.google.rules.refuses = () => false;
    await eventsOfAll(ids, 3);
    expect(eventsOf(refused)).toContain('pass.created google');
    expect((await built(refused, 'google')).map(([outcome]: string[]) => outcome)).toEqual(['failure', 'success']);
  });

  it('because Google does not answer, delays no event', async () => {
    const program = await real.merchant.program();
    await eventsOfAll(await enroll(program._id, ['Before']), 3);
    real.google.fail({ on: 'objectInsert', how: 'hang', times: 1_000 });
    const [id = ''] = await enroll(program._id, ['Ada']);
    await eventsOfAll([id], 2);
    expect(eventsOf(id).sort()).toEqual([created(true, false), 'pass.created apple']);
    real.google.mend();
    await eventsOfAll([id], 3);
    expect(eventsOf(id)).toContain('pass.created google');
  });

  it('because its template is broken, is issued when the template is corrected', async () => {
    const program = await real.merchant.program();
    const { collections } = real.service.deps;
    const change = (icon: string) =>
      collections.programs.updateOne(
        { _id: program._id },
        icon ? { $set: { 'passTemplate.images.icon': icon } } : { $unset: { 'passTemplate.images.icon': '' } },
      );
    await change('bm90IGEgcGljdHVyZQ==');
    const [id = ''] = await enroll(program._id, ['Ada']);
    await eventsOfAll([id], 2);
    expect(eventsOf(id).sort()).toEqual([created(false, true), 'pass.created google']);
    expect(await built(id, 'apple')).toMatchObject([['failure', expect.stringContaining('icon')]]);
    await change('');
    await eventsOfAll([id], 3);
    expect(eventsOf(id)).toContain('pass.created apple');
  });

  it('delays no other member of the same import', async () => {
    const program = await real.merchant.program();
    real.google.rules.refuses = ({ accountName }) => accountName === 'Refused';
    const names = ['Ada', 'Bob', 'Refused', 'Eve'];
    const file = [csvHeader, ...names.map((name) => `${name},,${name}@${newId()}.example.com,,0`)].join('\r\n');
    const { body } = await sendImport(real.merchant, { programId: program._id, file });
    const batch = await batchEnd(real.merchant, body.data.batchId);
    expect(batch).toMatchObject({ phase: 'completed', passIssuance: { apple: 4, google: 3 } });
    const ids: string[] = body.data.results.map(({ memberId }: { memberId: string }) => memberId);
    const said = (google: boolean) => (lines: string[]) => lines.includes(created(true, google));
    await until(() => ids.every((id) => eventsOf(id).some((line) => line.startsWith('member.created'))));
    expect(ids.map(eventsOf).map(said(true))).toEqual([true, true, false, true]);
    expect(ids.map(eventsOf).map(said(false))).toEqual([false, false, true, false]);

    real.google.rules.refuses = () => false;
    await eventsOfAll(ids, 3);
    const after = await until(async () => {
      const answer = await real.merchant.call(`/merchants/me/batches/${body.data.batchId}`);
      return answer.body.data.passIssuance.google === 4 && answer.body.data;
    });
    expect(after).toMatchObject({ phase: 'completed', passIssuance: { apple: 4, google: 4 } });
  });
});
