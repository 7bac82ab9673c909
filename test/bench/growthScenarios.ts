// The scenarios of the group growth, which run only by name.
import { benchGrowthMembers, benchGrowthMerchants } from './growthLines.js';
import { benchGrowthSubscriptions } from './growthSubscriptions.js';
import { benchNeighbour } from './neighbour.js';
import { onStack, type Scenario, sameCores, see } from './scenario.js';

/** The sizes of the scenarios that grow, each smallest first; without them each form has its own. */
export interface GrowthSizes {
  members?: readonly number[];
  merchants?: readonly number[];
  subscriptions?: readonly number[];
}

/** The longest is the last, and the one of merchants the first, because its idle worker needs a stack without work. */
export const growthScenarios = ({ members, merchants, subscriptions }: GrowthSizes): Scenario[] =>
  [
    onStack({
      name: 'growth-merchants',
      needs: 'own stack',
      run: benchGrowthMerchants,
      full: { sizes: merchants ?? [1, 50, 200], rounds: 3, ms: 1_500, idle: { settleMs: 30_000, watchedMs: 60_000 } },
      quick: { sizes: merchants ?? [1, 50], rounds: 2, ms: 500, idle: { settleMs: 5_000, watchedMs: 10_000 } },
      yardstick: 'the bare driver with the same rows',
    }),
    onStack({
      name: 'growth-subscriptions',
      needs: 'own stack',
      run: benchGrowthSubscriptions,
      full: { sizes: subscriptions ?? [1, 10, 50], rounds: 3, deliveries: 5_000, changes: 100, postsMs: 2_000 },
      quick: { sizes: subscriptions ?? [1, 10, 50], rounds: 2, deliveries: 1_000, changes: 15, postsMs: 500 },
      yardstick: 'signed POSTs by undici alone; the transaction by the bare driver',
    }),
    onStack({
      name: 'neighbour-loudest',
      needs: 'own stack',
      run: benchNeighbour,
      full: { rounds: 4, ms: 10_000 },
      quick: { rounds: 2, ms: 4_000 },
      yardstick: 'the same changes while no other merchant works',
      reason: `${sameCores} ${see('Imports')}`,
    }),
    onStack({
      name: 'growth-members',
      needs: 'own stack',
      run: benchGrowthMembers,
      full: { sizes: members ?? [10_000, 100_000, 1_000_000], rounds: 3, ms: 1_500 },
      quick: { sizes: members ?? [1_000, 10_000, 50_000], rounds: 2, ms: 500 },
      yardstick: 'the bare driver with the same rows',
    }),
  ].map((scenario) => ({ ...scenario, group: 'growth', onlyByName: 'in both' }));
