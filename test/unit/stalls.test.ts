// The rig's own: what a machine that stands still is forgiven, and that one that runs is forgiven nothing.
import { afterAll, describe, expect, it } from 'vitest';
import { steadily, watchStalls } from '../rig/stalls.js';
import { standStill } from '../rig/standStill.js';

it('a stall counts while it is not over yet, without what every timer is late', () => {
  const stalls = watchStalls();
  standStill(200);
  expect(stalls.stalledMs()).toBeGreaterThanOrEqual(150);
  stalls.stop();
});

describe('a test of short limits', () => {
  const tries = { stalled: 0, steady: 0 };
  afterAll(() => expect(tries).toEqual({ stalled: 3, steady: 1 }));

  it(
    'is made again for as long as the machine stands still',
    ...steadily(200, async () => {
      tries.stalled += 1;
      if (tries.stalled === 3) return;
      standStill(200);
      throw new Error('what a stall made of it');
    }),
  );

  const [options, body] = steadily(10_000, async () => {
    tries.steady += 1;
    throw new Error('what the code made of it');
  });
  it('fails at once on a machine that runs', { ...options, fails: true }, body);
});
