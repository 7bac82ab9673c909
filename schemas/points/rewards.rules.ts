// The rewards of a program. The default reward has no entry: it costs the program's `goal` (docs/interface.md, sections
// 2.1 and 3.2).
import { z } from 'zod';
import { ServiceError } from '../shared/errors.js';
import { isolated, nameText } from '../shared/text.js';

const maxRewards = 20;

/** The id for the reward that costs the goal. */
const defaultRewardId = 'default';

const reward = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, _ or -')
    .meta({ not: { const: defaultRewardId } }),
  name: nameText(100),
  cost: z.int().min(1).describe('whole points'),
  active: z.boolean().default(true).describe('false: it cannot be redeemed and is not shown'),
});
type Reward = z.output<typeof reward>;

export const rewards = z.array(reward).max(maxRewards);

interface Rewarding {
  style: string;
  goal?: number | undefined;
  rewardName?: string | undefined;
  rewards?: readonly Reward[] | undefined;
}

export function* rewardMistakes(program: Rewarding): Generator<{ path: string[]; message: string }> {
  const { style, goal = 0, rewards: own = [] } = program;
  for (const [index, { id, cost }] of own.entries()) {
    const path = (field: string) => ['rewards', String(index), field];
    if (id === defaultRewardId) yield { path: path('id'), message: 'is the id of the reward whose price is the goal' };
    if (own.findIndex((other) => other.id === id) !== index) yield { path: path('id'), message: `"${id}" is taken` };
    if (style === 'stamps' && cost > goal)
      yield { path: path('cost'), message: 'must be at most the goal of the card' };
  }
}

export const rewardState = z.object({
  id: z.string(),
  name: z.string(),
  cost: z.int(),
  ready: z.boolean(),
  missing: z.int().min(0).describe('how much the balance lacks'),
});
export type RewardState = z.output<typeof rewardState>;

/** The rewards that can be redeemed: the active ones in the order of the program, then the default reward. */
export function rewardStates(program: Rewarding, balance: number): RewardState[] {
  const { goal, rewardName = 'Reward', rewards: own = [] } = program;
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

/** One line for each reward, for a pass. */
export const rewardLines = (states: readonly RewardState[]): string =>
  states
    .map(({ name, cost, ready, missing }) => `${isolated(name)} (${cost}): ${ready ? 'ready' : `${missing} to go`}`)
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
