// The rewards of a program. The default reward has no entry: it costs the program's `goal` (docs/interface.md, sections
// 2.1 and 3.2).
import { z } from 'zod';
import { nameText } from '../shared/text.js';

const maxRewards = 20;

/** The id for the reward that costs the goal. */
export const defaultRewardId = 'default';

export const reward = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, 'must be 1 to 64 letters, digits, _ or -')
    .meta({ not: { const: defaultRewardId } }),
  name: nameText(100),
  cost: z.int().min(1).describe('whole points'),
  active: z.boolean().default(true).describe('false: it cannot be redeemed and is not shown'),
});
export type Reward = z.output<typeof reward>;

export const rewards = z.array(reward).max(maxRewards);

export interface Rewarding {
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
