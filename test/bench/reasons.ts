// Why a scenario that misses its goal misses it, in a line; docs/performance.md shows the figures behind each.

export const unexplained = 'not explained yet: run it with --profile, then say why here and in docs/performance.md';

const shared =
  'engines, worker, API and callers share the cores; what follows a gesture costs more of them than its transaction';
const see = (section: string) => `(docs/performance.md, "${section}")`;

/** By the name of the scenario. */
export const reasons: Record<string, string> = {
  start: `run from its sources, the worker compiles them and bundles its workflows at each start ${see('Start and idle')}`,
  idle: `run from its sources, a process holds the TypeScript loader; the relay asks four shards once a second ${see('Start and idle')}`,
  points: `${shared} ${see('Gestures')}`,
  'points-one': `the workflow of the gesture before runs on the same cores ${see('Gestures')}`,
  enroll: `${shared} ${see('Gestures')}`,
  effect: `${shared} ${see('Gestures')}`,
  passes: `others used the cores in the middle of the worst runs; the signature alone takes 0.3 ms ${see('Passes')}`,
  push: `seven journaled writes stand between request and answer, and the yardstick has none ${see('Pushes')}`,
  search: `HTTP and the read of the API key, which is never older than the request, come on top of the one read ${see('Reads')}`,
  list: `on the embedded engine a page costs what it skips; HTTP and the total come on top ${see('Reads')}`,
};
