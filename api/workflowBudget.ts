// How many gestures may have a workflow of their own: as many as the machine carries without slowing the answers down. The
// others are carried out by the relay, in batches, by the same activities.

/** A token bucket: `perSecond` on average, twice as many at once. The answer is whether one was there to take. */
export function createWorkflowBudget(perSecond: number, now: () => number = () => performance.now()): () => boolean {
  const most = perSecond * 2;
  let tokens = most;
  let filledAt = now();

  return function takeWorkflow() {
    const at = now();
    tokens = Math.min(tokens + ((at - filledAt) * perSecond) / 1_000, most);
    filledAt = at;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}
