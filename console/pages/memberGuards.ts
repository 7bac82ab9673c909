// What is asked about before a change of a member, and why a change cannot be made.
import type { components } from '../../sdk/index.js';
import { texts } from '../texts.js';

type Detail = components['schemas']['MemberDetail'];

const said = texts.member;

/** Of a program without rewards: from here on a gift is asked about. */
const muchWithoutRewards = 10_000;
/** A gift of this many of the dearest reward is more likely a slip than meant. */
const manyRewards = 10;

type Guarded = Pick<Detail, 'status' | 'balance' | 'rewards'> & { program: Pick<Detail['program'], 'style' | 'goal'> };

/** How many stamps the card still takes; undefined for points, which have no end. */
const roomOf = ({ program: { style, goal = 0 }, balance }: Guarded): number | undefined =>
  style === 'stamps' ? Math.max(goal - balance, 0) : undefined;

/** Why nothing can be given and redeemed; undefined when it can. */
export const blockedBy = ({ status }: Pick<Guarded, 'status'>): string | undefined =>
  status === 'active' ? undefined : said.blocked[status];

/** Why this many cannot be given; undefined when they can. */
export function notGivenBecause(member: Guarded, delta: number): string | undefined {
  const room = roomOf(member) ?? Number.POSITIVE_INFINITY;
  const tooMany = room === 0 ? said.full : said.room(room);
  return blockedBy(member) ?? (delta > room ? tooMany : undefined);
}

/** Whether the change takes more than there is, or gives very much: it is asked about first. */
export function isUnusual({ balance, rewards }: Pick<Guarded, 'balance' | 'rewards'>, delta: number): boolean {
  if (delta < 0) return -delta > balance;
  const dearest = Math.max(0, ...rewards.map(({ cost }) => cost));
  return delta >= (dearest === 0 ? muchWithoutRewards : manyRewards * dearest);
}
