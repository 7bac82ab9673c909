// Changes the compiled service as it is loaded, for a scenario that needs a switch or a mark in it.

export const before = (code, added) => [code, `${added} ${code}`];
export const after = (code, added) => [code, `${code} ${added}`];

/** The `load` of a loader, by the changes of each file under dist. Throws when a file lacks the place of a change. */
export const changing = (changes) => async (url, context, nextLoad) => {
  const loaded = await nextLoad(url, context);
  const file = Object.keys(changes).find((path) => url.endsWith(`/dist${path}`));
  if (file === undefined) return loaded;
  let source = String(loaded.source);
  for (const [code, changed] of changes[file]) {
    if (source.split(code).length !== 2) throw new Error(`${file} has no place for what the bench adds: ${code}`);
    source = source.replace(code, () => changed);
  }
  return { ...loaded, source };
};
