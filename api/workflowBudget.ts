// How many gestures may have a workflow of their own: as many as the machine carries without slowing the answers down. The
// others are carried out by the relay, in batches, by the same activities.

interface Bucket {
  tokens: number;
  filledAt: number;
}

/**
 * `perSecond` on average; at once, after a rest, twice as many gestures whose answer waits for the workflow and half as many
 * others: a burst of those is what the relay is for. They get none for as long as more gestures come than could have one.
 * The answer is whether there was one to take.
 */
export function createWorkflowBudget(
  perSecond: number,
  now: () => number = () => performance.now(),
): (awaited: boolean) => boolean {
  const most = { given: perSecond * 2, asked: Math.max(perSecond / 2, 1) };
  const given: Bucket = { tokens: most.given, filledAt: now() };
  /** What is asked for, had or not: it sinks below zero when more is asked for than there is, and stays there meanwhile. */
  const asked: Bucket = { tokens: most.asked, filledAt: now() };

  function fill(bucket: Bucket, upTo: number): void {
    const at = now();
    bucket.tokens = Math.min(bucket.tokens + ((at - bucket.filledAt) * perSecond) / 1_000, upTo);
    bucket.filledAt = at;
  }

  return function takeWorkflow(awaited) {
    fill(given, most.given);
    fill(asked, most.asked);
    const room = given.tokens >= 1 && (awaited || asked.tokens >= 1);
    asked.tokens = Math.max(asked.tokens - 1, -most.given);
    if (room) given.tokens -= 1;
    return room;
  };
}
