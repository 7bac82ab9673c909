/**
 * Resolves with the results of all works. When one fails, the others' signal aborts, and that error is thrown once all
 * have ended.
 */
export async function allOrNone<T extends unknown[]>(
  outer: AbortSignal,
  start: (signal: AbortSignal) => { [K in keyof T]: Promise<T[K]> },
): Promise<T> {
  const failed = new AbortController();
  const works = start(AbortSignal.any([outer, failed.signal]));
  for (const work of works) work.catch((error: unknown) => failed.abort(error));
  await Promise.allSettled(works);
  failed.signal.throwIfAborted();
  return await Promise.all(works);
}
