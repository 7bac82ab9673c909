// Kills a real process once at each crash point of the code; test/long/plays/crashPoints.test.ts does so in each kind of
// change. The client gets its answer from another process, and in the end nothing is lost or doubled.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crashPoints as allCrashPoints, type CrashPoint } from '../../platform/crashPoint.js';
import { taskQueues } from '../../schemas/tables/workflows.js';
import { until } from '../rig/checks/until.js';
import { hang, status } from '../rig/standins/responders.js';
import { type SmtpServer, startSmtpServer } from '../rig/standins/smtpServer.js';
import type { Caller } from './rig/caller.js';
import type { Cluster, Role } from './rig/cluster.js';
import { type CrashTest, startCrashTest } from './rig/crashTest.js';
import { allReachTemporal, dieAt as dieDuring, eraseAt, ofChanges } from './rig/deaths.js';
import { enrollSomebody, eraseAsOwner, ownerToken, type Somebody, toldOf, tracesOfErased } from './rig/erasures.js';
import type { Known, Load } from './rig/load.js';
import type { SubscribedReceiver } from './rig/receivers.js';
import { merchantId, type World } from './rig/world.js';

const crashPoints: Record<Role, readonly CrashPoint[]> = {
  api: [...ofChanges, 'mid-upload'],
  worker: [
    'after-push-before-record',
    'after-post-before-log',
    'after-log-before-mark',
    'before-workflow-start',
    'after-workflow-start',
    'mid-chunk',
    'mid-list',
    'mid-expiry',
    'mid-erasure',
    'before-erasure-end',
    'between-relay-read-and-write',
    'after-mail-before-mark',
  ],
};

let test: CrashTest;
let receiver: SubscribedReceiver;
let smtp: SmtpServer;
let cluster: Cluster;
let world: World;
let caller: Caller;
let load: Load;
let withPhone: Known;
let withoutPhone: Known;

beforeAll(async () => {
  smtp = await startSmtpServer();
  const mail = { SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, SMTP_TIMEOUT_MS: '1000' };
  // With few workflows for single changes, a burst leaves some events to the relay.
  const env = { ...mail, CHANGE_WORKFLOWS_PER_SECOND: '5' };
  test = await startCrashTest({ seed: 8, members: 2, phones: 1, env, crashPoints });
  ({ receiver, cluster, world, caller, load } = test);
  const [first, second] = load.known;
  if (!first || !second) throw new Error('Nobody was enrolled.');
  [withPhone, withoutPhone] = [first, second];
});

afterAll(async () => {
  await test?.stop();
  await smtp?.close();
});

const dieAt = (role: Role, point: CrashPoint, work: () => Promise<unknown>) => dieDuring(test, { role, point }, work);

const delta = (member: Known) => load.keyedChange('delta', member);

describe('an API process that dies', () => {
  it.each(ofChanges)(
    '%s of a change that is pushed: the same key gets the answer, and the change is applied once',
    async (point) => {
      await dieAt('api', point, () => delta(withPhone));
      expect(load.operations.at(-1)).toMatchObject({ outcome: 'acknowledged' });
    },
  );

  it('after the commit of a change without a phone: the key gets its answer, applied once', async () => {
    await dieAt('api', 'after-commit', () => delta(withoutPhone));
    expect(load.operations.at(-1)).toMatchObject({ outcome: 'acknowledged' });
  });

  it('after the commit of a reversal: the key gets its answer, and the entry is reversed once', async () => {
    await load.keyedChange('earn', withPhone);
    const { keyedChangeId } = load.operations.at(-1) ?? {};
    await dieAt('api', 'after-commit', () => load.keyedChange('reverse', withPhone, keyedChangeId));
    expect(load.operations.at(-1)).toMatchObject({ kind: 'reverse', outcome: 'acknowledged' });
  });

  it('in the middle of an upload: the file sent again is imported once, and the upload fails within a minute', async () => {
    const { diedAt } = await dieAt('api', 'mid-upload', () => load.importFile());
    expect(load.operations.at(-1)).toMatchObject({ outcome: 'acknowledged' });
    const { batches, importChunks } = cluster.deps.collections;
    const broken = await until(() => batches.findOne({ phase: 'failed', uploadSeenAt: { $exists: true } }));
    await until(async () => (await importChunks.countDocuments({ batchId: broken._id })) === 0);
    const tookMs = Date.now() - diedAt;
    console.log(`  the upload of the killed API had ended after ${tookMs} ms at most`);
    expect((broken.finishedAt?.getTime() ?? Number.NaN) - diedAt).toBeLessThan(60_000);
  });

  it('after the commit of an enrollment: the same email finds the member', async () => {
    await dieAt('api', 'after-commit', () => load.enroll('crash-tiers'));
    expect(load.operations.at(-1)).toMatchObject({ outcome: 'acknowledged' });
  });
});

describe('a worker that dies', () => {
  it('between a push and its record: the other worker pushes again, and the event is delivered', async () => {
    await dieAt('worker', 'after-push-before-record', () => delta(withPhone));
  });

  it('between the POST and the delivery log: the same bytes are sent again within seconds', async () => {
    const { diedAt } = await dieAt('worker', 'after-post-before-log', () => delta(withoutPhone));
    const arrivals = receiver.arrivals().filter((arrival) => arrival.at > diedAt);
    const resumedMs = (arrivals[0]?.at ?? Number.NaN) - diedAt;
    console.log(`  work of the killed worker resumed after ${resumedMs} ms`);
    expect(resumedMs).toBeLessThan(30_000);
  });

  it('between the delivery log and the mark on the event: nothing is sent again', async () => {
    const { diedAt } = await dieAt('worker', 'after-log-before-mark', () => delta(withoutPhone));
    expect(receiver.arrivals().filter((arrival) => arrival.at > diedAt)).toEqual([]);
  });

  it.each([
    ['before-workflow-start', 'a retry', status(500)],
    ['after-workflow-start', 'a retry', status(500)],
    // Publishing seldom waits until the attempt has failed, so that the delivery is taken up once it is overdue.
    ['before-workflow-start', 'a retry after no answer', hang()],
  ] as const)('%s of %s: the event is delivered', async (point, _retry, responder) => {
    receiver.setResponder(responder);
    await dieAt('worker', point, () => delta(withoutPhone));
  });

  it('in the middle of a chunk of an import: each member is created once', async () => {
    await dieAt('worker', 'mid-chunk', () => load.importFile());
  });

  it('in the middle of an expiry: points expire once for each member', async () => {
    for (let index = 0; index < 3; index += 1) await load.enroll('crash-tiers');
    const members = load.known.filter(({ programId }) => programId === 'crash-tiers');
    await dieAt('worker', 'mid-expiry', async () => {
      await Promise.all(members.map((member) => load.oldSale(member)));
      // Its next turn may be a minute away, or it may run already.
      await cluster.temporal.workflow.start('expirePoints', {
        workflowId: 'expire-points',
        workflowIdConflictPolicy: 'USE_EXISTING',
        args: [{}],
        taskQueue: taskQueues.workflows,
      });
    });
    const expired = () => cluster.deps.collections.ledger.find({ type: 'expiry' }).toArray();
    // What a run has missed that was going on before is found a minute later.
    const rows = await until(async () => {
      const found = await expired();
      return found.length >= members.length && found;
    });
    expect(rows.map(({ memberId }) => memberId).toSorted()).toEqual(members.map(({ id }) => id).toSorted());
  });

  it('after the relay has read events and before it has leased them: the next relay takes the events', async () => {
    const burst = () => Promise.all(Array.from({ length: 40 }, () => delta(withoutPhone)));
    await dieAt('worker', 'between-relay-read-and-write', burst);
  });
});

// Last, because the checkers do not support campaigns.
describe('a worker that dies while it creates the list of a campaign', () => {
  it('is followed by one that continues the list, and each member gets the message once', async () => {
    await allReachTemporal(cluster);
    const hit = cluster.arm('worker', 'mid-list');
    const body = { programId: 'crash-points', message: 'Hello' };
    const { answer } = await caller.call({ method: 'POST', path: '/merchants/me/campaigns', body });
    if (!('text' in answer)) throw new Error('No answer.');
    const { id: batchId } = JSON.parse(answer.text).data as { id: string };
    const { batches, batchTargets, members } = cluster.deps.collections;
    await until(async () => hit() && (await batches.findOne({ _id: batchId }))?.phase === 'completed');
    await cluster.allUp();
    expect(await batchTargets.countDocuments({ batchId })).toBe(1);
    const active = await members.find({ programId: 'crash-points', status: 'active' }).toArray();
    expect(active.length).toBeGreaterThan(0);
    expect(active.map(({ pass }) => pass.messageSequence)).toEqual(active.map(() => 1));
    expect((await batches.findOne({ _id: batchId }))?.counts.total).toBe(active.length);
  });
});

describe('an API process that dies between a publication and the start of its rebuild', () => {
  it('leaves a batch that a worker starts later', async () => {
    await allReachTemporal(cluster);
    const token = await ownerToken(world);
    const design = (method: string, path: string, body: object) =>
      fetch(`${cluster.apis['api-1']}/merchants/me/programs/crash-points${path}`, {
        method,
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    expect((await design('PATCH', '', { goal: 7 })).status).toBe(200);
    const hit = cluster.arm('api', 'after-commit');
    await design('POST', '/publish', {}).catch(() => undefined);
    await until(hit);
    const { batches, programs } = cluster.deps.collections;
    const batch = await batches.findOne({ programId: 'crash-points', kind: 'passes.rebuild' });
    const _id = batch?._id ?? '';
    expect([batch?.phase, (await programs.findOne({ _id: 'crash-points' }))?.goal]).toEqual(['queued', 7]);
    // A batch younger than half a minute may still be started by its request.
    await batches.updateOne({ _id }, { $set: { startedAt: new Date(Date.now() - 60_000) } });
    await cluster.allUp();
    await until(async () => (await batches.findOne({ _id }))?.phase === 'completed');
    expect((await batches.findOne({ _id }))?.counts).toMatchObject({ total: 1, created: 1 });
  });
});

describe('a worker that dies while the people of an import are mailed their cards', () => {
  it.each([
    ['between two people', 'mid-chunk', 0],
    ['after a mail was accepted', 'after-mail-before-mark', 1],
  ] as const)(
    '%s: each person gets one mail, twice with the same id if the worker had not marked it',
    async (_when, point, repeatsAtLeast) => {
      const { batches, mails } = cluster.deps.collections;
      const before = smtp.mails.length;
      await load.importFile();
      await test.toRest();
      const [{ _id = '', counts } = {}] = await batches
        .find({ kind: 'members.import' })
        .sort({ startedAt: -1 })
        .toArray();
      const path = `/merchants/me/batches/${_id}/card-mails`;
      const { diedAt } = await dieAt('worker', point, () => caller.call({ method: 'POST', path }));
      const mailing = { kind: 'cards.mail', mailsCardsOf: _id } as const;
      await until(async () => (await batches.findOne(mailing))?.phase === 'completed');
      const people = counts?.created ?? 0;
      expect((await batches.findOne(mailing))?.counts).toMatchObject({ total: people, created: people, failed: 0 });
      const arrived = () => smtp.mails.slice(before).map(({ to, parsed }) => `${to} ${parsed.messageId}`);
      const repeats = () => arrived().filter((mail, index, all) => all.indexOf(mail) < index);
      await until(() => new Set(arrived()).size >= people && repeats().length >= repeatsAtLeast);
      expect([people > 1, new Set(arrived()).size]).toEqual([true, people]);
      expect(new Set(arrived().map((mail) => mail.split(' ')[0])).size).toBe(people);
      // Several mails may have been under way in the worker that died; each of them is sent once more.
      expect(new Set(repeats()).size).toBe(repeats().length);
      for (const mail of repeats()) {
        const row = await mails.findOne({ _id: mail.split('<')[1]?.split('@')[0] ?? '' });
        expect(row?.sentAt?.getTime()).toBeGreaterThan(diedAt);
      }
    },
  );
});

describe('a worker that dies after the mail server accepted a mail', () => {
  it('is followed by one that sends it once more, with the same id', async () => {
    await allReachTemporal(cluster);
    const programId = 'crash-points';
    const { slugs, mails } = cluster.deps.collections;
    await slugs.updateOne({ _id: programId }, { $setOnInsert: { merchantId, programId } }, { upsert: true });
    const hit = cluster.arm('worker', 'after-mail-before-mark');
    const joined = await fetch(`${cluster.apis['api-1']}/enroll/${programId}/submit`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.org' }),
    });
    expect(joined.status).toBe(201);
    const unsent = { merchantId, state: { $ne: 'sent' } } as const;
    await until(async () => hit() && (await mails.countDocuments(unsent)) === 0);
    await cluster.allUp();
    const ids = smtp.mails.filter(({ to }) => to.includes('ada@example.org')).map(({ parsed }) => parsed.messageId);
    expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
  });
});

// After the checkers, which do not support erasures. Each erasure continues while the process of the next one dies.
describe('a process that dies while a member is erased', () => {
  const begun = new Date();
  const erased: Somebody[] = [];

  it.each([
    ['after the commit in the API, with a phone', 'api', 'after-commit', true],
    ['before the start of its workflow, without a phone', 'api', 'before-workflow-start', false],
    ['in the middle of it, in a worker', 'worker', 'mid-erasure', true],
    ['before its end, in a worker', 'worker', 'before-erasure-end', true],
  ] as const)('%s: the member is gone', async (_when, role, point, phone) => {
    erased.push(await eraseAt(test, { role, point }, phone));
  });

  it('leaves no personal data, and each erasure was published at least once with the same bytes', async () => {
    for (const somebody of erased) {
      expect(await tracesOfErased(world, somebody, begun)).toEqual([]);
      await until(() => toldOf(world, somebody).accepted > 0);
      expect(toldOf(world, somebody).variants).toBe(1);
    }
    const { events, erasures } = cluster.deps.collections;
    expect(await events.countDocuments({ type: 'member.deleted' })).toBe(erased.length);
    expect(await erasures.countDocuments()).toBe(erased.length);
  });

  it('continues the erasures when Temporal has lost all its data', async () => {
    await allReachTemporal(cluster);
    const somebody = await enrollSomebody(world, { caller, phone: false });
    await Promise.all([eraseAsOwner(world, somebody.id), cluster.wipeTemporal()]);
    await cluster.allUp();
    expect(await tracesOfErased(world, somebody, begun)).toEqual([]);
  });
});

it('every crash point of the code was hit', () => {
  const { api, worker } = crashPoints;
  expect(new Set([...api, ...worker])).toEqual(new Set(allCrashPoints));
});
