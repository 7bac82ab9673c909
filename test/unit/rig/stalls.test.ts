// A test of the rig: the measurement of stalls.
import { expect, it } from 'vitest';
import { watchStalls } from '../../rig/checks/stalls.js';
import { blockProcess } from '../../rig/standins/blockProcess.js';

it('a stall is counted before it is over, without the usual delay of timers', () => {
  const stalls = watchStalls();
  blockProcess(200);
  expect(stalls.stalledMs()).toBeGreaterThanOrEqual(150);
  stalls.stop();
});
