// A test of the rig: the measurement of stalls.
import { expect, it } from 'vitest';
import { blockProcess } from '../rig/blockProcess.js';
import { watchStalls } from '../rig/stalls.js';

it('a stall is counted before it is over, without the usual delay of timers', () => {
  const stalls = watchStalls();
  blockProcess(200);
  expect(stalls.stalledMs()).toBeGreaterThanOrEqual(150);
  stalls.stop();
});
