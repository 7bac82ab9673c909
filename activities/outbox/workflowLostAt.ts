import type { Deps } from '../../platform/deps.js';

/**
 * When a workflow counts as lost that makes its next attempt at `nextAttemptAt`, by default now. Later than that attempt,
 * so that a workflow that lives comes first.
 */
export const workflowLostAt = ({ config, now }: Pick<Deps, 'config' | 'now'>, nextAttemptAt: Date = now()): Date =>
  new Date(nextAttemptAt.getTime() + config.REVIVE_AFTER_MS);
