// Gives the compiled service the marks of pushStepsHook.mjs.
const before = (name, code) => [code, `globalThis.stepEnded('${name}'); ${code}`];
const after = (name, code) => [code, `${code} globalThis.stepEnded('${name}');`];

const marks = {
  '/api/members/dispatch.effect.js': [before('committed', 'await deps.workflowClient.start(')],
  '/activities/wallets/pushPasses.activity.js': [
    after('begun', 'export async function pushPasses(deps, lease) {'),
    before('recorded', 'return { ...result, newEventIds:'),
  ],
  '/activities/wallets/apple/pushPhones.effect.js': [
    before('read', 'const answers = '),
    before('pushed', "deps.crashPoint('after-push-before-record');"),
  ],
  '/api/members/pushWaits.reads.js': [after('seen', 'end(passUpdate) {')],
};

export async function load(url, context, nextLoad) {
  const loaded = await nextLoad(url, context);
  const file = Object.keys(marks).find((path) => url.endsWith(`/dist${path}`));
  if (file === undefined) return loaded;
  let source = String(loaded.source);
  for (const [code, marked] of marks[file]) {
    if (source.split(code).length !== 2) throw new Error(`${file} has no place for the mark of the bench: ${code}`);
    source = source.replace(code, () => marked);
  }
  return { ...loaded, source };
}
