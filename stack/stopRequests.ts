// The first stop request stops the stack in order; the second one kills its processes. Under npm one Ctrl-C may arrive
// twice, from the terminal and from npm, so requests within 1 s count as one.

const oneRequestMs = 1_000;
const parentCheckMs = 500;

export function onStopRequest(stop: () => void, force: () => void): void {
  let requestedAt: number | undefined;
  const request = () => {
    if (requestedAt === undefined) {
      requestedAt = Date.now();
      stop();
    } else if (Date.now() - requestedAt > oneRequestMs) {
      force();
    }
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, request);

  // Some shells between npm and this process end without forwarding the signal, so the end of the parent also counts as
  // a stop request.
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const check = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(check);
    if (requestedAt === undefined) request();
  }, parentCheckMs);
  check.unref();
}
