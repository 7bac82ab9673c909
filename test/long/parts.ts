// The long suite: tests that take minutes. One entry here adds a part.

export interface Part {
  name: string;
  proves: string;
  /** Arguments of node, run in the root of the repository. The part exits with 0, with `couldNotRun`, or it failed. */
  args: readonly string[];
  /** The part is killed after this time and has failed. */
  limitMinutes: number;
  /** Settings that shorten the part in a CI run. */
  turnEnv?: Readonly<Record<string, string>>;
  /** CI runs the parts of one turn at a time. The turns should be about equally long. */
  turn: 0 | 1 | 2;
}

/** The exit code of a part that this machine cannot run. The part prints what is missing on its last lines. */
export const couldNotRun = 77;

const vitest = (file: string): string[] => [
  ...['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/long/vitest.config.ts', `test/long/${file}.test.ts`],
];
const plays = (...files: string[]): string[] => [
  ...['node_modules/vitest/vitest.mjs', 'run', '--config', 'test/long/plays/vitest.config.ts', ...files],
];
const script = (file: string, ...args: string[]): string[] => ['--import', 'tsx', file, ...args];

export const parts: readonly Part[] = [
  {
    name: 'crashes',
    proves: 'random kills lose and double nothing',
    args: vitest('crashRun'),
    limitMinutes: 12,
    turn: 0,
  },
  { name: 'pushes', proves: 'one connection carries 20,000 pushes', args: vitest('pushes'), limitMinutes: 5, turn: 0 },
  {
    name: 'proof',
    proves: 'the checkers find each broken guarantee',
    args: vitest('proof'),
    limitMinutes: 15,
    turn: 0,
  },
  {
    name: 'kills',
    proves:
      'deaths at each point of each kind of change, pauses, and a Temporal without its data lose and double nothing',
    args: plays('crashPoints', 'pausedProcesses', 'wipedTemporal'),
    limitMinutes: 15,
    turn: 1,
  },
  {
    name: 'receivers',
    proves: 'slow and failing receivers, and many callers, delay and lose nothing',
    args: plays('webhookHour', 'slowReceivers', 'busyProcess'),
    limitMinutes: 10,
    turn: 0,
  },
  {
    name: 'cards',
    proves: 'a thousand cards that a merchant can make are passes that both phones show',
    args: vitest('cards'),
    limitMinutes: 10,
    turn: 1,
  },
  { name: 'kinds', proves: 'no two kinds of write hang', args: vitest('writeKinds'), limitMinutes: 15, turn: 1 },
  {
    name: 'mixed',
    proves: 'a mixed load of all kinds of calls meets no failure',
    args: vitest('mixedLoad'),
    limitMinutes: 35,
    turnEnv: { MIXED_LOAD_MINUTES: '1' },
    turn: 1,
  },
  {
    name: 'tills',
    proves: 'lines, browsers and services that fail lose and double no tap, and a wiped till is named',
    args: plays('tills'),
    limitMinutes: 25,
    turnEnv: { TILL_TAPS: '1500' },
    turn: 1,
  },
  {
    name: 'kubernetes',
    proves: 'Kubernetes takes the example of its objects',
    args: vitest('kubernetes'),
    limitMinutes: 5,
    turn: 0,
  },
  { name: 'disk', proves: 'a full disk loses nothing', args: vitest('disk'), limitMinutes: 10, turn: 1 },
  {
    name: 'schemathesis',
    proves: 'generated requests get declared answers',
    args: script('test/schemathesis/main.ts', '--minutes', '4'),
    limitMinutes: 12,
    turn: 0,
  },
  {
    name: 'clients',
    proves: 'clients that generators for Python and Go make from the OpenAPI document enroll a member',
    args: plays('clients'),
    limitMinutes: 20,
    turn: 0,
  },
  {
    name: 'rehearsal',
    proves: 'the image and the compose file run, are restarted under load without a failed request, and lose nothing',
    args: script('test/rehearse/main.ts'),
    limitMinutes: 45,
    // Go takes ten minutes to build another version of Temporal.
    turnEnv: { REHEARSE_TEMPORAL_UPGRADE: 'false' },
    turn: 2,
  },
  {
    name: 'proxies',
    proves: 'the samples of nginx and Caddy do nothing twice, and a rolling restart behind them fails no request',
    args: plays('proxies'),
    limitMinutes: 10,
    turn: 1,
  },
  {
    name: 'audit',
    proves: 'no package of the image has a known vulnerability of severity high',
    args: script('test/long/audit.ts'),
    limitMinutes: 3,
    turn: 0,
  },
  {
    name: 'nodes',
    proves: 'other installed versions of Node run it',
    args: script('test/long/otherNodes.ts'),
    limitMinutes: 15,
    turn: 1,
  },
];
