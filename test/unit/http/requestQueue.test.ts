// The log of requests is written in the background: a full or broken one drops and counts, and never blocks.
import { expect, it } from 'vitest';
import { createRequestQueue } from '../../../api/http/requestQueue.js';
import { timed } from '../../rig/checks/stalls.js';
import { aGate } from '../../rig/standins/gate.js';

function aQueue(write: (rows: number[]) => Promise<void>, most = 1_000) {
  let lost = 0;
  const queue = createRequestQueue<number>({
    write,
    dropped(rows) {
      lost += rows;
    },
    most,
    everyMs: 5,
  });
  return { ...queue, lost: () => lost };
}

it('writes what was noted since the last time together', async () => {
  const written: number[][] = [];
  const queue = aQueue(async (rows) => void written.push(rows));
  for (let row = 0; row < 100; row += 1) queue.note(row);
  await expect.poll(() => written.flat()).toHaveLength(100);
  expect(written).toHaveLength(1);
  queue.note(100);
  await queue.flush();
  expect(written[1]).toEqual([100]);
  expect(queue.lost()).toBe(0);
});

it('drops and counts what comes while it is full, and takes no time for it', async () => {
  const gate = aGate();
  const written: number[] = [];
  const queue = aQueue(async (rows) => {
    await gate.opened;
    written.push(...rows);
  });
  queue.note(0);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const { ms } = await timed(async () => {
    for (let row = 1; row < 200_000; row += 1) queue.note(row);
  });
  expect(ms).toBeLessThan(1_000);
  expect(queue.lost()).toBe(199_000);
  gate.open();
  await queue.flush();
  await queue.flush();
  expect(written).toEqual(Array.from({ length: 1_000 }, (_, row) => row));
});

it('counts what cannot be written, and goes on with what comes after it', async () => {
  let isBroken = true;
  const written: number[] = [];
  const queue = aQueue(async (rows) => {
    if (isBroken) throw new Error('away');
    written.push(...rows);
  });
  queue.note(1);
  await queue.flush();
  expect(queue.lost()).toBe(1);
  isBroken = false;
  queue.note(2);
  await expect.poll(() => written).toEqual([2]);
});
