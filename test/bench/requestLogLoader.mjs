// Gives the compiled log of requests (api/http/requestLog.ts) the switch of requestLogHook.mjs.
const begin = /async function logRequest\(ctx, next\) \{/;

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  if (!url.endsWith('/api/http/requestLog.js')) return loaded;
  const source = String(loaded.source);
  if (!begin.test(source)) throw new Error('The log of requests has no place for the switch of the bench.');
  return { ...loaded, source: source.replace(begin, '$& if (globalThis.isRequestLogOff) return next();') };
}
