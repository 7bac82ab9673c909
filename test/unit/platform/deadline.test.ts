import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { deadline } from '../../../platform/deadline.js';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

it('aborts when its time is over, however often garbage is collected before', async () => {
  const other = new AbortController();
  const signal = deadline(200, other.signal);
  const aborted = once(signal, 'abort');
  for (let round = 0; round < 5; round += 1) {
    collectGarbage();
    await sleep(10);
  }
  await aborted;
  expect(signal.reason).toMatchObject({ name: 'TimeoutError', message: 'More than 200 ms have passed.' });
});

it('aborts with another signal, whose reason it has', async () => {
  const other = new AbortController();
  const signal = deadline(60_000, other.signal);
  const aborted = once(signal, 'abort');
  collectGarbage();
  other.abort(new Error('enough'));
  await aborted;
  expect(signal.reason).toEqual(new Error('enough'));
});
