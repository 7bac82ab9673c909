// Which rewards a balance buys (docs/interface.md, sections 2.1 and 3.2).
import { z } from 'zod';
import { defaultRewardId, type Reward, type Rewarding } from '../programs/rewards.schema.js';
import { ServiceError } from '../shared/errors.js';
import { isolated } from '../shared/text.js';

export const rewardState = z.object({
  id: z.string(),
  name: z.string(),
  cost: z.int(),
  ready: z.boolean(),
  missing: z.int().min(0).describe('how much the balance lacks'),
});
export type RewardState = z.output<typeof rewardState>;

/**
 * The rewards that can be redeemed: the active ones in the order of the program, then the default reward, which is
 * called `unnamed` where it has no name.
 */
export function rewardStates(program: Rewarding, balance: number, unnamed = 'Reward'): RewardState[] {
  const { goal, rewardName = unnamed, rewards: own = [] } = program;
  const priced = own.filter(({ active }) => active).map(({ id, name, cost }) => ({ id, name, cost }));
  if (goal !== undefined) priced.push({ id: defaultRewardId, name: rewardName, cost: goal });
  return priced.map((each) => ({
    ...each,
    ready: balance >= each.cost,
    missing: Math.max(each.cost - balance, 0),
  }));
}

/** Whether a reward is ready with the first program and not with the second one. */
export function losesReward([before, after]: readonly [Rewarding, Rewarding], balance: number): boolean {
  const readyOf = (program: Rewarding) =>
    rewardStates(program, balance).flatMap(({ id, ready }) => (ready ? [id] : []));
  const left = new Set(readyOf(after));
  return readyOf(before).some((id) => !left.has(id));
}

interface RewardWords {
  ready: string;
  toGo: (points: number) => string;
}

/** One line for each reward, for a pass. */
export const rewardLines = (states: readonly RewardState[], words: RewardWords): string =>
  states
    .map(
      ({ name, cost, ready, missing }) => `${isolated(name)} (${cost}): ${ready ? words.ready : words.toGo(missing)}`,
    )
    .join('\n');

/** Whether there are rewards other than the default one. */
export const hasOwnRewards = ({ rewards: own }: Rewarding): boolean => own?.some(({ active }) => active) ?? false;

/** The active reward with this id; undefined for the default reward. Throws REWARD_NOT_FOUND. */
export function rewardOf(program: Rewarding, rewardId: string | undefined): Reward | undefined {
  if (rewardId === undefined || (rewardId === defaultRewardId && program.goal !== undefined)) return undefined;
  const found = program.rewards?.find(({ id, active }) => id === rewardId && active);
  if (!found) throw new ServiceError('REWARD_NOT_FOUND');
  return found;
}
