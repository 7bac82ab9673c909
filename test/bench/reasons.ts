// Why a scenario that misses its goal misses it, in a line; docs/performance.md shows the figures behind each.

export const unexplained = 'not explained yet: run it with --profile, then say why here and in docs/performance.md';

const shared =
  'engines, worker, API and callers share the cores; what follows a gesture costs more of them than its transaction';
const see = (section: string) => `(docs/performance.md, "${section}")`;

/** By the name of the scenario. */
export const reasons: Record<string, string> = {
  start: `loading what the worker is made of takes most of it ${see('Start and idle')}`,
  idle: `the relays ask once a second and beat their hearts as often ${see('Start and idle')}`,
  points: `${shared} ${see('Gestures')}`,
  'points-one': `the workflow of the gesture before runs on the same cores ${see('Gestures')}`,
  enroll: `${shared} ${see('Gestures')}`,
  import: `a chunk is written in one transaction, and before the next one, so that of two equal emails the first wins ${see('Imports')}`,
  'large-import': `${shared}; the neighbour's own workflows take one of them ${see('Imports')}`,
  hung: `each event of a receiver that keeps failing becomes a workflow of its own, on the same two cores ${see('Deliveries')}`,
  csv: `V8 collects what a file leaves behind when it has to ${see('Reads')}`,
  effect: `${shared} ${see('Gestures')}`,
  passes: `a strip is drawn once for each number of stamps, and worst of ten meets what else the process does ${see('Passes')}`,
  push: `the change before is still being told: a second workflow task, an activity and their history on the same cores ${see('Pushes')}`,
  webhooks: `a delivery is claimed, logged and marked, each with others and each waiting for the disk ${see('Deliveries')}`,
  search: `HTTP and the read of the API key, which is never older than the request, come on top of the one read ${see('Reads')}`,
  list: `on the embedded engine a page costs what it skips; HTTP and the total come on top ${see('Reads')}`,
};
