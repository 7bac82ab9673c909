// Automatic messages: rules that are off at first, a workflow while one is on, and one message to each member on each
// occasion.
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { runAutomaticRule } from '../../../activities/batches/automaticMessages.activity.js';
import { snapshotCampaign } from '../../../activities/batches/campaigns.activity.js';
import { reviveBatches } from '../../../activities/batches/reviveBatches.activity.js';
import type { WorkerDeps } from '../../../activities/workerDeps.js';
import type { AutomaticAudience } from '../../../schemas/members/audiences.rules.js';
import { automaticCampaignId, automaticId, campaignId, newId, ruleIdOf } from '../../../schemas/shared/ids.js';
import { taskQueues } from '../../../schemas/tables/workflows.js';
import { pastCache } from '../../rig/checks/pastCache.js';
import { until } from '../../rig/checks/until.js';
import { aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

const dayMs = 86_400_000;
/** A time zone in which it is about noon, so that no day ends during a test. */
const ahead = 12 - new Date().getUTCHours();
const timeZone = `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`;
const day = (after = 0) => new Date(Date.now() + ahead * 3_600_000 + after * dayMs).toISOString().slice(0, 10);

let service: TestService;
let worker: TestWorker;
let merchant: TestMerchant;
let programId: string;

beforeAll(async () => {
  service = await startService({ env: { MERCHANT_MAX_CAMPAIGNS_A_DAY: '1' } });
  worker = await startTestWorker(service);
});
afterAll(async () => {
  await worker.close();
  await service.stop();
});
beforeEach(async () => {
  merchant = await aMerchant(service);
  programId = (await merchant.program({ timeZone, goal: 10 }))._id;
});

const path = () => `/merchants/me/programs/${programId}/automatic-messages`;
/** On a busy machine a count may take too long, and says so. */
const list = () =>
  until(async () => {
    const rules = (await merchant.call(path())).body.data;
    return rules.every(({ complete }: { complete: boolean }) => complete) && rules;
  });
const change = (audience: AutomaticAudience, fields: object) =>
  merchant.call(path(), { method: 'PATCH', body: { audience, ...fields } });
/** Until its workflow has looked at the rule. */
const looked = (audience: AutomaticAudience) =>
  until(async () => ((await ruleOf(audience)).checkAt?.getTime() ?? 0) > Date.now() + 60_000);
async function switchOn(audience: AutomaticAudience) {
  const answer = await change(audience, { on: true, message: `To ${audience}`, hour: 12 });
  await looked(audience);
  return answer;
}
const ruleOf = async (audience: AutomaticAudience) => {
  const rule = await service.deps.collections.automaticMessages.findOne({ _id: ruleIdOf(programId, audience) });
  if (!rule) throw new Error('There is no rule.');
  return rule;
};
const handleOf = (audience: AutomaticAudience) =>
  service.client.workflow.getHandle(automaticId(ruleIdOf(programId, audience)));
const campaigns = () => service.deps.collections.batches.find({ merchantId: merchant.id, automatic: true }).toArray();
const member = async (id: string) => {
  const row = await service.deps.collections.members.findOne({ _id: id });
  if (!row) throw new Error('There is no member.');
  return row;
};
const edit = (id: string, fields: object) => service.deps.collections.members.updateOne({ _id: id }, { $set: fields });
const enroll = (fields: object = {}) => merchant.enroll({ programId, ...fields });

/** Moves the time of a rule back, as if its hour had come. */
const makeDue = (audience: AutomaticAudience, ago = 0) =>
  service.deps.collections.automaticMessages.updateOne(
    { _id: ruleIdOf(programId, audience) },
    { $set: { dueAt: new Date(Date.now() - ago) }, $inc: { version: 1 } },
  );

/** What a worker does on a later day. */
const onDay = (after: number, deps: WorkerDeps = worker.deps): WorkerDeps => ({
  ...deps,
  now: () => new Date(Date.now() + after * dayMs),
});
const run = (audience: AutomaticAudience, deps: WorkerDeps = worker.deps) =>
  runAutomaticRule(deps, { merchantId: merchant.id, ruleId: ruleIdOf(programId, audience) });

const sentAll = (count: number) =>
  until(async () => {
    const found = await campaigns();
    return found.length === count && found.every(({ phase }) => phase === 'completed') && found;
  });

describe('the automatic messages of a program', () => {
  it('are off at first, and say whom each would tell', async () => {
    const [full, away] = [await enroll({ initialPoints: 9 }), await enroll()];
    await edit(full.id, { deviceCount: 1 });
    await edit(away.id, { seenAt: new Date(Date.now() - 31 * dayMs) });
    const rule = { on: false, hour: 10, complete: true };
    expect(await list()).toEqual([
      { ...rule, audience: 'nearlyFull', matched: 1, reachable: 1 },
      { ...rule, audience: 'away', matched: 1, reachable: 0 },
      { ...rule, audience: 'joined', matched: 2, reachable: 1 },
    ]);
    await edit(full.id, { told: { joined: new Date() } });
    expect((await list())[2]).toMatchObject({ matched: 1, reachable: 0 });
    await expect(handleOf('away').describe()).rejects.toThrow('not found');
  });

  it('need a text before they are switched on, an audience of theirs, and a program', async () => {
    expect((await change('away', { on: true })).body.error).toMatchObject({
      code: 'VALIDATION_FAILED',
      details: [{ path: 'message' }],
    });
    for (const wrong of [{ hour: 24 }, { message: 'x'.repeat(201) }, { audience: 'today' }])
      expect((await change('away', wrong)).status).toBe(400);
    expect(outcome(await merchant.call('/merchants/me/programs/none/automatic-messages'))).toEqual([
      404,
      'PROGRAM_NOT_FOUND',
    ]);
    expect((await change('away', { hour: 8, message: 'We miss you' })).body.data).toMatchObject({ on: false, hour: 8 });
    expect((await change('away', { on: true })).body.data).toMatchObject({ on: true, message: 'We miss you', hour: 8 });
  });

  it('are changed with an entry of the audit that names the card', async () => {
    await switchOn('joined');
    const owner = { Authorization: `Bearer ${await merchant.token({ roleIds: ['owner'] })}` };
    const { items } = (await merchant.call('/merchants/me/audit', { credential: owner })).body.data;
    expect(items[0]).toMatchObject({
      action: 'automatic.edit',
      targetId: `${programId}:joined`,
      targetName: 'Test program',
      fields: ['audience', 'on', 'message', 'hour'],
      changes: [
        { field: 'on', from: false, to: true },
        { field: 'message', to: 'To joined' },
        { field: 'hour', from: 10, to: 12 },
      ],
    });
  });
});

describe('a rule that is on', () => {
  it('has a workflow that operators find, sends a campaign when its hour comes, and ends when it is off', async () => {
    const { id } = await enroll();
    expect((await switchOn('joined')).body.data.nextAt).toBe((await ruleOf('joined')).dueAt?.toISOString());
    const running = await handleOf('joined').describe();
    expect([running.status.name, running.type]).toEqual(['RUNNING', 'sendAutomaticMessages']);
    expect(running.searchAttributes).toMatchObject({ MerchantId: [merchant.id], ProgramId: [programId] });
    expect(await campaigns()).toEqual([]);

    await makeDue('joined');
    await change('joined', { message: 'Welcome' });
    const [sent] = await sentAll(1);
    expect(sent).toMatchObject({
      _id: automaticCampaignId(ruleIdOf(programId, 'joined'), day()),
      campaign: { message: 'Welcome', audience: 'joined' },
      counts: { total: 1 },
    });
    expect(await member(id)).toMatchObject({ pass: { message: 'Welcome' }, told: { joined: expect.any(Date) } });
    const { items } = (await merchant.call('/merchants/me/batches?kind=campaign')).body.data;
    expect(items).toMatchObject([{ id: sent?._id, automatic: true }]);
    expect((await merchant.call(`/merchants/me/campaigns/${sent?._id}`)).body.data).toMatchObject({ automatic: true });
    expect((await service.client.workflow.getHandle(campaignId(sent?._id ?? '')).describe()).type).toBe(
      'sendPlannedCampaign',
    );
    const own = await merchant.call('/merchants/me/campaigns', { body: { programId, message: 'By hand' } });
    expect(own.status).toBe(202);

    await change('joined', { on: false });
    await handleOf('joined').result();
    expect(await ruleOf('joined')).toMatchObject({ on: false, lastDay: day() });
    expect((await ruleOf('joined')).checkAt).toBeUndefined();
    await change('joined', { on: true });
    expect((await handleOf('joined').describe()).status.name).toBe('RUNNING');
  });

  it('writes to each member once a day, also after a second workflow, a retry and a reset', async () => {
    await enroll();
    await switchOn('joined');
    await makeDue('joined');
    // A worker that dies when the campaign is stored, before its workflow has begun.
    const dying = () => {
      throw new Error('It died.');
    };
    const dead = { ...worker.deps, workflowClient: { ...worker.deps.workflowClient, available: dying } };
    await expect(run('joined', dead)).rejects.toThrow('It died.');
    expect(await campaigns()).toMatchObject([{ phase: 'queued' }]);
    const others = [1, 2].map(() =>
      service.client.workflow.start('sendAutomaticMessages', {
        workflowId: `automatic:a-test:${newId()}`,
        taskQueue: taskQueues.workflows,
        args: [{ merchantId: merchant.id, ruleId: ruleIdOf(programId, 'joined') }],
      }),
    );
    await Promise.all([...others, run('joined'), run('joined')]);
    const [sent] = await sentAll(1);
    // As if the worker had died before the rule was moved to its next day.
    await service.deps.collections.automaticMessages.updateOne(
      { _id: ruleIdOf(programId, 'joined') },
      { $set: { dueAt: new Date() }, $unset: { lastDay: '' }, $inc: { version: 1 } },
    );
    expect((await run('joined')).said).toContain(campaignId(sent?._id ?? ''));
    expect(await campaigns()).toHaveLength(1);
    await change('joined', { on: false });
    await Promise.all((await Promise.all(others)).map((handle) => handle.terminate('a test')));
  });

  it('is woken again when its workflow was lost, and when it did not learn of a change', async () => {
    await enroll();
    await switchOn('joined');
    const lost = await handleOf('joined').describe();
    await handleOf('joined').terminate('a test');
    await makeDue('joined');
    await service.deps.collections.automaticMessages.updateOne(
      { _id: ruleIdOf(programId, 'joined') },
      { $set: { checkAt: new Date() } },
    );
    await reviveBatches(worker.deps, {});
    await sentAll(1);
    const { runId, status } = await handleOf('joined').describe();
    expect([status.name, runId === lost.runId]).toEqual(['RUNNING', false]);
  });

  it('makes a day up until it is over, then skips it and says so', async () => {
    await enroll();
    await switchOn('joined');
    await makeDue('joined', dayMs);
    expect((await run('joined')).said).toMatch(new RegExp(`^${day(-1)} was skipped: .* ${day()}: campaign:`));
    await sentAll(1);
  });

  it('sends nothing while its program is archived', async () => {
    await enroll();
    await switchOn('joined');
    await makeDue('joined');
    await service.deps.collections.programs.updateOne({ _id: programId }, { $set: { archived: true } });
    await pastCache();
    expect((await run('joined')).said).toMatch(/^Waits until /);
    expect(await campaigns()).toEqual([]);
  });
});

describe('a member', () => {
  it('is told once in each round to the reward', async () => {
    const { id } = await enroll({ initialPoints: 9 });
    const give = (delta: number) =>
      merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta } });
    await switchOn('nearlyFull');
    await makeDue('nearlyFull');
    await run('nearlyFull');
    await sentAll(1);
    expect((await run('nearlyFull', onDay(1))).said).toContain(`${day(1)}: nobody to write to.`);
    await give(1);
    expect((await merchant.call(`/merchants/me/members/${id}/redeem`, { method: 'POST' })).status).toBe(200);
    await give(9);
    await run('nearlyFull', onDay(2));
    await sentAll(2);
    expect((await member(id)).pass.messageSequence).toBe(2);
  });

  it('is told once in each absence, and by each rule for itself', async () => {
    const { id } = await enroll();
    const now = Date.now();
    const ago = (days: number) => new Date(now - days * dayMs);
    await edit(id, { seenAt: ago(70), told: { away: ago(60), joined: ago(70) } });
    await switchOn('away');
    await makeDue('away');
    expect((await run('away')).said).toContain('nobody to write to');
    await edit(id, { seenAt: ago(40) });
    await run('away', onDay(1));
    await sentAll(1);
    const { told } = await member(id);
    expect(told?.away?.getTime()).toBeGreaterThan(Date.now() - 60_000);
    expect(told?.joined).toEqual(ago(70));
  });

  it('who was told while a later campaign of the rule waited is left out when it is written', async () => {
    const [first, second] = [await enroll(), await enroll()];
    await switchOn('joined');
    await makeDue('joined');
    const deps = { ...worker.deps, workflowClient: { ...worker.deps.workflowClient, available: () => false } };
    await run('joined', deps);
    await edit(first.id, { told: { joined: new Date() } });
    await service.deps.collections.batches.updateOne(
      { merchantId: merchant.id, automatic: true },
      { $set: { startedAt: new Date(Date.now() - 60_000) } },
    );
    await reviveBatches(worker.deps, {});
    await sentAll(1);
    expect([(await member(first.id)).pass.message, (await member(second.id)).pass.message]).toEqual([
      undefined,
      'To joined',
    ]);
  });

  it('is told again after a visit that a till books late, although it was before the message', async () => {
    const { id } = await enroll();
    const told = { away: new Date(), nearlyFull: new Date(), joined: new Date() };
    await edit(id, { seenAt: new Date(Date.now() - 40 * dayMs), told });
    const occurredAt = new Date(Date.now() - 3_600_000).toISOString();
    const change = (body: object) =>
      merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { ...body, occurredAt } });
    expect((await change({ delta: 10 })).status).toBe(200);
    expect(Object.keys((await member(id)).told ?? {}).toSorted()).toEqual(['joined', 'nearlyFull']);
    expect((await merchant.call(`/merchants/me/members/${id}/redeem`, { method: 'POST' })).status).toBe(200);
    expect((await member(id)).told).toEqual({ joined: told.joined });
  });

  it('is not told by a rule that is switched off while its audience is read', async () => {
    await enroll();
    await switchOn('joined');
    await makeDue('joined');
    const { batches } = service.deps.collections;
    const reading = vi.spyOn(batches, 'findOne').mockImplementationOnce(async () => {
      await change('joined', { on: false });
      return null;
    });
    expect(await run('joined')).toEqual({});
    reading.mockRestore();
    expect(await campaigns()).toEqual([]);
  });

  it('who came since the campaign was listed is not told that they were away', async () => {
    const [first, second] = [await enroll(), await enroll()];
    const away = { seenAt: new Date(Date.now() - 40 * dayMs) };
    await Promise.all([edit(first.id, away), edit(second.id, away)]);
    await switchOn('away');
    await makeDue('away');
    const deps = { ...worker.deps, workflowClient: { ...worker.deps.workflowClient, available: () => false } };
    await run('away', deps);
    const [batch] = await campaigns();
    await snapshotCampaign(worker.deps, { batchId: batch?._id ?? '' });
    await edit(first.id, { seenAt: new Date() });
    await service.deps.collections.batches.updateOne(
      { _id: batch?._id ?? '' },
      { $set: { startedAt: new Date(Date.now() - 60_000) } },
    );
    await reviveBatches(worker.deps, {});
    await sentAll(1);
    expect([(await member(first.id)).told, (await member(second.id)).told?.away]).toEqual([
      undefined,
      expect.any(Date),
    ]);
  });

  it('finds in the export when automatic messages were written, and an erasure leaves none of it', async () => {
    const { id } = await enroll();
    await edit(id, { told: { joined: new Date('2026-11-26T10:00:00Z') } });
    const credential = { Authorization: `Bearer ${await merchant.token({ roleIds: ['owner'] })}` };
    const { text } = await merchant.call(`/merchants/me/members/${id}/export`, { credential });
    expect(text).toContain('"told":{"joined":"2026-11-26T10:00:00.000Z"}');
    await merchant.call(`/merchants/me/members/${id}`, { method: 'DELETE', credential });
    expect(await service.deps.collections.members.findOne({ _id: id })).toBeNull();
  });
});
