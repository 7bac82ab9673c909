/**
 * A signal that aborts after `ms`, or with one of `signals`. Not `AbortSignal.any` with `AbortSignal.timeout`: Node 20
 * collects that timeout as garbage before it is over, and the signal never aborts.
 */
export function deadline(ms: number, ...signals: AbortSignal[]): AbortSignal {
  const over = new AbortController();
  // The timer holds the controller.
  setTimeout(() => over.abort(new DOMException(`More than ${ms} ms have passed.`, 'TimeoutError')), ms).unref();
  return AbortSignal.any([over.signal, ...signals]);
}
