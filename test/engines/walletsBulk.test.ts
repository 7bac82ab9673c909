// Many passes at once: Google gets them by the hundred in a few requests, Apple's are signed without holding up anybody else,
// and whatever is issued twice is told once.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApplePasses, issueGooglePasses } from '../../activities/wallets/issuePasses.js';
import { type Effects, startEffects } from '../rig/effects.js';
import { type RealWallets, startRealWallets } from '../rig/realWallets.js';

const many = 60;
let real: RealWallets;
let effects: Effects;
let memberIds: string[];

beforeAll(async () => {
  real = await startRealWallets({ env: { GESTURE_WORKFLOWS_PER_SECOND: '0' } });
  effects = await startEffects(real.service);
  await real.service.stopWorker();
  const program = await real.merchant.program();
  for (let at = 0; at < many; at += 1) await real.merchant.enroll({ programId: program._id });
  const rows = await real.service.store.rows.members.find({ programId: program._id }).toArray();
  memberIds = rows.map(({ _id }) => _id);
});
afterAll(async () => {
  await effects.close();
  await real.stop();
});

describe('issuing many passes', () => {
  it('signs them all and lets others have their turn in between', async () => {
    let turns = 0;
    let isDone = false;
    const count = () => {
      turns += 1;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    const input = { memberIds, holder: 'a-test' };
    const built = await issueApplePasses(effects.deps, input);
    isDone = true;
    expect(built.eventIds).toHaveLength(many);
    expect(turns).toBeGreaterThan(many / 20);
    expect(await issueApplePasses(effects.deps, input)).toEqual({ eventIds: [] });
  });

  it('sends them to Google in batches, under the class of their program', async () => {
    const before = real.google.requests.length;
    const input = { memberIds, holder: 'a-test' };
    expect((await issueGooglePasses(effects.deps, input)).eventIds).toHaveLength(many);
    const kinds = real.google.requests.slice(before).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'batch')).toHaveLength(2);
    expect(kinds).not.toContain('objectInsert');
    expect([real.google.rules.objects.size, real.google.rules.classes.size]).toEqual([many, 1]);
    const rows = await real.service.store.rows.members.find({ _id: { $in: memberIds } }).toArray();
    for (const { pass } of rows) expect(pass.googleSaveUrl).toMatch(/^https:\/\/pay\.google\.com\/gp\/v\/save\//);
    expect(await issueGooglePasses(effects.deps, input)).toEqual({ eventIds: [] });
  });
});
