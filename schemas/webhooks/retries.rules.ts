// When a failed delivery is attempted again (docs/interface.md#65-attempts-and-retries).

/** Also of a wait that a receiver asks for. */
export const longestWaitMs = 24 * 3_600_000;

/** How long to wait after the failed attempt with this number; the first attempt is 1. */
export function retryWaitMs(
  { backoffMs, factor = 1 }: { backoffMs: number; factor?: number },
  attempt: number,
): number {
  return Math.min(Math.round(backoffMs * factor ** (attempt - 1)), longestWaitMs);
}
