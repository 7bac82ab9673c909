// How many gestures may have a workflow of their own: as many as the machine carries without slowing the answers down. The
// others are carried out by the relay, in batches, by the same activities.

interface Bucket {
  tokens: number;
  filledAt: number;
}

/**
 * `perSecond` on average, twice as many at once. Gestures whose answer waits for the workflow come first: the others get none
 * for as long as more gestures come than could have one. The answer is whether there was one to take.
 */
export function createWorkflowBudget(
  perSecond: number,
  now: () => number = () => performance.now(),
): (awaited: boolean) => boolean {
  const most = perSecond * 2;
  const given: Bucket = { tokens: most, filledAt: now() };
  /** What is asked for, had or not: it sinks below zero when more is asked for than there is, and stays there meanwhile. */
  const asked: Bucket = { ...given };

  function fill(bucket: Bucket): Bucket {
    const at = now();
    bucket.tokens = Math.min(bucket.tokens + ((at - bucket.filledAt) * perSecond) / 1_000, most);
    bucket.filledAt = at;
    return bucket;
  }

  return function takeWorkflow(awaited) {
    fill(given);
    fill(asked);
    const room = given.tokens >= 1 && (awaited || asked.tokens >= 1);
    asked.tokens = Math.max(asked.tokens - 1, -most);
    if (room) given.tokens -= 1;
    return room;
  };
}
