import type { Deps } from '../../platform/deps.js';

/**
 * The `dueAt` of a row whose workflow makes its next attempt at `nextAttemptAt` (default: now): REVIVE_AFTER_MS later,
 * so that a running workflow comes first. When the row is due, its workflow counts as lost.
 */
export const workflowLostAt = ({ config, now }: Pick<Deps, 'config' | 'now'>, nextAttemptAt: Date = now()): Date =>
  new Date(nextAttemptAt.getTime() + config.REVIVE_AFTER_MS);
