// The table of scenarios: the needs, the durations in a whole run and with `--quick`, the yardstick, and the reasons
// for missed goals.
import { benchActions } from './actions.js';
import { benchCsv } from './csv.js';
import { benchEffect } from './effect.js';
import { benchEngines } from './engines.js';
import { benchEnroll } from './enroll.js';
import { benchExpiry } from './expiry.js';
import { type GrowthSizes, growthScenarios } from './growthScenarios.js';
import { benchHung } from './hung.js';
import { benchIdle } from './idle.js';
import { benchImport } from './import.js';
import { benchLargeImport } from './largeImport.js';
import { benchLedger } from './ledger.js';
import { benchList } from './list.js';
import type { Rounds } from './load.js';
import { benchPasses } from './passes.js';
import { phonesEnv } from './phones.js';
import { drawPlots, drawReads } from './plots.js';
import { benchPoints, benchPointsOne } from './points.js';
import { benchPush, pushEnv } from './push.js';
import { benchPushSteps, pushStepsEnv } from './pushSteps.js';
import { benchRequestLog, requestLogEnv } from './requestLog.js';
import { onNothing, onStack, type Scenario, sameCores, see } from './scenario.js';
import { benchSearch } from './search.js';
import { benchStart } from './start.js';
import { benchTapToFace } from './tapToFace.js';
import { benchWebhooks } from './webhooks.js';

const inRounds = (rounds: number, oursMs: number, yardstickMs: number): Rounds => ({ rounds, oursMs, yardstickMs });

export interface ScenarioOptions extends GrowthSizes {
  /** Rows of the large import. */
  rows: number;
}

/** In the order of a run: scenarios that need a new stack come first. */
export const scenarios = ({ rows, ...sizes }: ScenarioOptions): Scenario[] => [
  ...growthScenarios(sizes),
  ...main({ rows, members: sizes.members?.at(-1) ?? 1_000_000 }),
];

const main = ({ members, rows }: { members: number; rows: number }): Scenario[] => [
  onStack({
    name: 'start',
    needs: 'shared stack',
    run: benchStart,
    full: { rounds: 3 },
    yardstick: null,
    reason: `loading what the worker is made of takes most of it ${see('Start and idle')}`,
  }),
  onStack({
    name: 'idle',
    needs: 'shared stack',
    run: benchIdle,
    full: { settleMs: 60_000, watchedMs: 130_000 },
    yardstick: null,
    reason: `workers look once a second whether something is due ${see('Start and idle')}`,
  }),
  onStack({
    name: 'points',
    needs: 'shared stack',
    run: benchPoints,
    full: inRounds(4, 3_000, 3_000),
    quick: inRounds(3, 1_500, 1_000),
    yardstick: 'the same two reads and the same transaction in one message, by the driver',
    reason: `${sameCores} ${see('Changes')}`,
  }),
  onStack({
    name: 'points-one',
    needs: 'shared stack',
    run: benchPointsOne,
    full: inRounds(5, 2_500, 1_500),
    quick: inRounds(3, 1_000, 700),
    yardstick: 'the same two reads and the same transaction in one message, by the driver',
    reason: `the workflow of the change before runs on the same cores ${see('Changes')}`,
  }),
  onStack({
    name: 'request-log',
    needs: 'own stack',
    env: requestLogEnv,
    run: benchRequestLog,
    full: inRounds(8, 1_500, 1_500),
    yardstick: 'the same changes by the same API, whose log is off',
    reason: `each change is one more row, written in the background ${see('The log of requests')}`,
  }),
  onStack({
    name: 'ledger',
    needs: 'shared stack',
    run: benchLedger,
    full: inRounds(4, 3_000, 3_000),
    yardstick: 'points changes of the same members',
    reason: `a reversal reads the entry that it reverses, and writes it again ${see('Changes')}`,
  }),
  onStack({
    name: 'enroll',
    needs: 'shared stack',
    run: benchEnroll,
    full: inRounds(3, 3_000, 2_000),
    quick: inRounds(3, 1_000, 1_000),
    yardstick: 'the same read and the same rows in one transaction, by the driver',
    reason: `${sameCores} ${see('Changes')}`,
  }),
  onStack({
    name: 'import',
    needs: 'shared stack',
    run: benchImport,
    full: { rows: 5_000, rounds: 3 },
    quick: { rows: 2_000, rounds: 2 },
    yardstick: 'the same members, emails and search words by insertMany, 500 at a time, no transaction',
    reason: `a chunk is written in one transaction, and before the next one, so that of two equal emails the first wins ${see('Imports')}`,
  }),
  onStack({
    name: 'effect',
    needs: 'shared stack',
    run: benchEffect,
    full: { ...inRounds(3, 5_000, 3_000), isPaced: true },
    quick: { ...inRounds(3, 1_500, 1_500), isPaced: false },
    yardstick: 'one empty workflow for each change, same Temporal',
    reason: `${sameCores} ${see('Changes')}`,
  }),
  onStack({
    name: 'engines',
    needs: 'own stack',
    run: benchEngines,
    full: inRounds(3, 5_000, 5_000),
    quick: inRounds(2, 1_000, 1_000),
    yardstick: 'Restate, DBOS, BullMQ, graphile-worker and pg-boss: a row, an event, a signed POST and its log',
    reason: `ours also has HTTP, a key and a ledger entry; ${sameCores} ${see('Changes')}`,
  }),
  onNothing({
    name: 'passes',
    onlyByName: 'in quick',
    needs: 'nothing',
    run: benchPasses,
    full: { rounds: 3, ms: 3_000 },
    quick: { rounds: 3, ms: 600 },
    yardstick: "passkit-generator's own export of the same files; the RSA signature alone",
    reason: `a strip is drawn once for each number of stamps, and the worst of ten meets what else the process does`,
  }),
  onStack({
    name: 'webhooks',
    needs: 'shared stack',
    run: benchWebhooks,
    full: { rounds: 3, backlog: 5_000, postsMs: 2_000 },
    quick: { rounds: 2, backlog: 1_500, postsMs: 500 },
    yardstick: 'BullMQ on Redis with a row for each delivery; without the row; signed POSTs by undici alone',
    reason: `a delivery is claimed, logged and marked, each with others and each waiting for the disk ${see('Deliveries')}`,
  }),
  onStack({
    name: 'hung',
    needs: 'shared stack',
    run: benchHung,
    full: { rounds: 3, phaseMs: 20_000 },
    yardstick: 'the same receiver without the hung one',
    reason: `each event of a receiver that keeps failing becomes a workflow of its own, on the same two cores ${see('Deliveries')}`,
  }),
  onStack({
    name: 'csv',
    needs: 'shared stack',
    run: benchCsv,
    full: { exports: 250 },
    yardstick: null,
    reason: `V8 collects what a file leaves behind when it has to ${see('Reads')}`,
  }),
  onStack({
    name: 'list',
    needs: 'own stack',
    run: benchList,
    full: { counts: [10_000, 100_000], pages: [1, 400], rounds: 3, ms: 2_000 },
    quick: { counts: [10_000], pages: [1], rounds: 3, ms: 600 },
    yardstick: 'the driver with the same filter, sort and limit; no HTTP, no key, no total',
    reason: `on the embedded engine a page costs what it skips; HTTP and the total come on top ${see('Reads')}`,
  }),
  onStack({
    name: 'search',
    needs: 'own stack',
    run: benchSearch,
    full: { counts: [10_000, members], rounds: 3, ms: 1_500 },
    quick: { counts: [10_000], rounds: 3, ms: 500 },
    yardstick: 'the driver reads the API key by its hash, then the same documents with the same filters',
    reason: `HTTP and the read of the API key, which is never older than the request, come on top of the one read ${see('Reads')}`,
  }),
  onStack({
    name: 'large-import',
    needs: 'own stack',
    run: benchLargeImport,
    full: { rows },
    yardstick: "for the neighbour's changes those before the import; for the rest the goals of the issue",
    reason: `${sameCores}; the neighbour's own workflows take one of them ${see('Imports')}`,
  }),
  onStack({
    name: 'expiry',
    needs: 'own stack',
    run: benchExpiry,
    full: { members: 100_000 },
    yardstick: null,
    reason: `the worker also publishes what expired ${see('Changes')}`,
  }),
  onStack({
    name: 'push',
    needs: 'own stack',
    env: pushEnv,
    run: benchPush,
    full: { callers: [1, 4], ...inRounds(3, 4_000, 4_000) },
    quick: { callers: [1, 4], ...inRounds(2, 1_200, 1_000) },
    yardstick: 'an update-with-start of a workflow with one local activity that does nothing, same Temporal',
    reason: `the workflow of the change before still runs on the same cores ${see('Pushes')}`,
  }),
  onStack({
    name: 'push-steps',
    onlyByName: 'in quick',
    needs: 'own stack',
    env: pushStepsEnv,
    run: benchPushSteps,
    full: { changes: 100 },
    quick: { changes: 20 },
    yardstick: 'an update-with-start of a workflow with one local activity that does nothing, same Temporal',
  }),
  onStack({
    name: 'tap-to-face',
    onlyByName: 'in quick',
    needs: 'own stack',
    env: phonesEnv,
    run: benchTapToFace,
    full: { members: 300, fullRateMs: 8_000, ...inRounds(3, 20_000, 10_000), iphonesAlone: true },
    quick: { members: 60, fullRateMs: 3_000, ...inRounds(1, 8_000, 3_000), iphonesAlone: false },
    yardstick: 'at the same rate, an update-with-start of a workflow with one local activity that does nothing',
    reason: `the phones, Apple and Google share the cores, too ${see('Pushes')}`,
  }),
  onStack({
    name: 'actions',
    onlyByName: 'in quick',
    needs: 'own stack',
    env: phonesEnv,
    run: benchActions,
    full: { settleMs: 30_000, watchedMs: 130_000, lone: 50, bulk: 5_000, rows: 5_000 },
    quick: { settleMs: 2_000, watchedMs: 15_000, lone: 10, bulk: 2_000, rows: 1_000 },
    yardstick: null,
    reason: 'twenty changes a second whose answers wait for their push get workflows, in bulk as well',
  }),
  onStack({
    name: 'plots',
    needs: 'own stack',
    run: drawPlots,
    full: {},
    yardstick: null,
    onlyByName: 'in both',
  }),
  onStack({
    name: 'plot-reads',
    needs: 'own stack',
    run: drawReads,
    full: { most: members, rounds: 3, ms: 1_000 },
    yardstick: null,
    onlyByName: 'in both',
  }),
];
