// The log of the live desk: hops grouped by what started them.
import { expect, it } from 'vitest';
import { changesOf, type Hop } from '../../../console/hops.js';

let hops = 0;
const hop = (at: number, what: Hop['what'], memberId?: string): Hop => {
  hops += 1;
  return { id: hops, at, who: 'desk', what, ...(memberId !== undefined && { memberId }) };
};
const shown = (given: Hop[]) =>
  changesOf(given).map(({ start, steps }) => [
    start.what,
    start.at,
    ...steps.map(({ what, at }) => `${what} ${at - start.at}`),
  ]);

it('a step belongs to the last change of its member, even when that change was logged after the step', () => {
  const log = [
    hop(120, 'push', 'ada'),
    hop(130, 'push', 'grace'),
    hop(100, 'changed', 'ada'),
    hop(110, 'changed', 'grace'),
  ];
  expect(shown([...log, hop(150, 'face', 'ada')])).toEqual([
    ['changed', 110, 'push 20'],
    ['changed', 100, 'push 20', 'face 50'],
  ]);
});

it('separates one change from the next, newest first', () => {
  const log = [hop(1, 'changed', 'ada'), hop(5, 'face', 'ada'), hop(9, 'changed', 'ada'), hop(9, 'face', 'ada')];
  expect(shown(log)).toEqual([
    ['changed', 9, 'face 0'],
    ['changed', 1, 'face 4'],
  ]);
});

it('keeps what concerns no card on its own', () => {
  expect(
    shown([hop(1, 'changed', 'ada'), hop(2, 'mail'), hop(3, 'killed'), hop(4, 'push', 'ada'), hop(5, 'push', 'eve')]),
  ).toEqual([
    ['push', 5],
    ['killed', 3],
    ['mail', 2],
    ['changed', 1, 'push 3'],
  ]);
});
