import type { Deps } from '../../platform/deps.js';

/**
 * When a workflow with its next attempt at `nextAttemptAt` (default: now) counts as lost: later than the attempt, so
 * that a running workflow comes first.
 */
export const workflowLostAt = ({ config, now }: Pick<Deps, 'config' | 'now'>, nextAttemptAt: Date = now()): Date =>
  new Date(nextAttemptAt.getTime() + config.REVIVE_AFTER_MS);
