// Bounds how many changes get a workflow of their own, so that these workflows do not slow down answers. The relay
// processes the events of the other changes.

interface Bucket {
  tokens: number;
  filledAt: number;
}

/**
 * Gives `perSecond` tokens on average and holds at most two seconds' worth. A change whose answer waits for its
 * workflow (`awaited`) needs one of these tokens. Any other change also needs a token of `demand`, which holds at most
 * half a second's worth (at least 1) and counts every change. Of a burst after a pause, half a second's worth of these
 * changes therefore gets workflows; while more changes arrive than tokens, none of them does. Returns whether a token
 * was taken.
 */
export function createTokenBucket(
  perSecond: number,
  now: () => number = () => performance.now(),
): (awaited: boolean) => boolean {
  const most = { tokens: perSecond * 2, demand: Math.max(perSecond / 2, 1) };
  const supply: Bucket = { tokens: most.tokens, filledAt: now() };
  /**
   * Every change lowers it, even one that gets no workflow; only changes that are not awaited need a whole token of it.
   * Below zero, more changes arrive than tokens.
   */
  const demand: Bucket = { tokens: most.demand, filledAt: now() };

  function fill(bucket: Bucket, upTo: number): void {
    const at = now();
    bucket.tokens = Math.min(bucket.tokens + ((at - bucket.filledAt) * perSecond) / 1_000, upTo);
    bucket.filledAt = at;
  }

  return function takeToken(awaited) {
    fill(supply, most.tokens);
    fill(demand, most.demand);
    const taken = supply.tokens >= 1 && (awaited || demand.tokens >= 1);
    demand.tokens = Math.max(demand.tokens - 1, -most.tokens);
    if (taken) supply.tokens -= 1;
    return taken;
  };
}
