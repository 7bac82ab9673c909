// Kills an API process at each crash point of a change in each kind of change. The client gets its answer from another
// process, and in the end nothing is lost or doubled.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrashTest, startCrashTest } from '../../crash/rig/crashTest.js';
import { allReachTemporal, dieAt, eraseAt, ofChanges } from '../../crash/rig/deaths.js';
import { type Somebody, toldOf, tracesOfErased } from '../../crash/rig/erasures.js';
import type { Known } from '../../crash/rig/load.js';
import { until } from '../../rig/checks/until.js';

let test: CrashTest;
let withPhone: Known;
let withoutPhone: Known;

beforeAll(async () => {
  const env = { CHANGE_WORKFLOWS_PER_SECOND: '5' };
  test = await startCrashTest({ seed: 8, members: 2, phones: 1, env, crashPoints: { api: ofChanges, worker: [] } });
  const [first, second] = test.load.known;
  if (!first || !second) throw new Error('Too few members were enrolled.');
  [withPhone, withoutPhone] = [first, second];
});
afterAll(() => test?.stop());

describe('an API process that dies', () => {
  it.each(ofChanges)('%s of a change without a phone: the key gets its answer, applied once', async (point) => {
    await dieAt(test, { role: 'api', point }, () => test.load.keyedChange('delta', withoutPhone));
    expect(test.load.operations.at(-1)).toMatchObject({ outcome: 'acknowledged' });
  });

  it.each(ofChanges)('%s of a reversal: the key gets its answer, and the entry is reversed once', async (point) => {
    const { load } = test;
    await load.keyedChange('earn', withPhone);
    const { keyedChangeId } = load.operations.at(-1) ?? {};
    await dieAt(test, { role: 'api', point }, () => load.keyedChange('reverse', withPhone, keyedChangeId));
    expect(load.operations.at(-1)).toMatchObject({ kind: 'reverse', outcome: 'acknowledged' });
  });
});

// After the checkers, which do not support erasures.
describe('an API process that dies while a member is erased', () => {
  const begun = new Date();
  const erased: Somebody[] = [];

  const erases = (phone: boolean) => async (point: (typeof ofChanges)[number]) => {
    erased.push(await eraseAt(test, { role: 'api', point }, phone));
  };

  it.each(ofChanges)('%s, with a phone: the member is gone', erases(true));

  it.each(ofChanges)('%s, without a phone: the member is gone', erases(false));

  it('leaves no personal data, and each erasure was published at least once with the same bytes', async () => {
    await allReachTemporal(test.cluster);
    for (const somebody of erased) {
      expect(await tracesOfErased(test.world, somebody, begun)).toEqual([]);
      await until(() => toldOf(test.world, somebody).accepted > 0);
      expect(toldOf(test.world, somebody).variants).toBe(1);
    }
    expect(await test.cluster.deps.collections.erasures.countDocuments()).toBe(erased.length);
  });
});
