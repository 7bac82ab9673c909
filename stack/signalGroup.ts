/** Signals all processes of the group that `pid` leads. Does nothing without a pid or when the group has ended. */
export function signalGroup({ pid }: { pid?: number | undefined }, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // The group has no processes left.
  }
}
