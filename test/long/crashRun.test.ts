// A crash run of one minute, as `npm run crash` makes it: mixed load on a whole service whose processes and engines are killed
// and stopped as the seed says. In the end nothing is lost or doubled.
import { expect, it } from 'vitest';
import { runCrashes, tableOf } from '../crash/rig/crashRun.js';

/** Its blows include two wipes of Temporal, of which one may find Temporal down. */
const seed = 6;

it('loses nothing and doubles nothing in a minute of kills', async () => {
  const verdict = await runCrashes({ seed, minutes: 0.9, everyMs: 3_000, perSecond: 12 });
  console.log(`Seed ${seed}:\n${tableOf(verdict)}`);
  expect(verdict.findings).toEqual([]);
  expect(verdict.drainMs).not.toBeNull();
  expect(verdict.kills.reduce((sum, [, times]) => sum + times, 0)).toBeGreaterThanOrEqual(5);
  expect(verdict.wipes).toBeGreaterThanOrEqual(1);
  expect(verdict.evidence.operations.filter(({ outcome }) => outcome === 'acknowledged').length).toBeGreaterThan(50);
}, 600_000);
