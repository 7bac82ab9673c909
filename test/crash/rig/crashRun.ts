// A crash run, from its seed to its verdict: a whole service under load whose processes are killed repeatedly, then
// drained and checked.
import { setTimeout as sleep } from 'node:timers/promises';
import { check, duplicatesOf, type Finding } from '../checkers.js';
import type { Evidence } from '../evidence.js';
import { createCaller } from './caller.js';
import { type Cluster, type ClusterOptions, startCluster } from './cluster.js';
import { collectEvidence } from './collectEvidence.js';
import { drain } from './drain.js';
import { createFeedReader, type FeedReader } from './feedReader.js';
import { createLoad } from './load.js';
import { startNemesis } from './nemesis.js';
import { createRandom } from './random.js';
import { startReceivers } from './receivers.js';
import { populate, startApple } from './world.js';

export interface CrashRun {
  seed: number;
  minutes: number;
  /** Mean time between two strikes of the nemesis. */
  everyMs?: number;
  /** The load ends early after this number of operations. */
  operations?: number;
  clients?: number;
  /** Maximum number of operations per second. */
  perSecond?: number;
  drainWithinMs?: number;
  cluster?: ClusterOptions;
  say?: (line: string) => void;
}

export interface Verdict {
  evidence: Evidence;
  findings: Finding[];
  kills: [string, number][];
  stops: number;
  wipes: number;
  terminations: number;
  /** Engines that the supervisor killed because they were stuck, each with the reason. */
  stuck: string[];
  /** Null when work was left after the time for draining. */
  drainMs: number | null;
  loadMs: number;
}

export async function runCrashes(run: CrashRun): Promise<Verdict> {
  const { seed, minutes, everyMs = 3_000, operations: most = Number.POSITIVE_INFINITY, clients = 12 } = run;
  const { perSecond = 25, drainWithinMs = 180_000, say = () => undefined } = run;
  const random = createRandom(seed);
  const [apple, receivers] = await Promise.all([startApple(), startReceivers(random.fork('audience'))]);
  let cluster: Cluster | undefined;
  try {
    cluster = await startCluster({
      watched: true,
      ...run.cluster,
      env: { ...apple.env, REVIVE_AFTER_MS: '10000', ...run.cluster?.env },
    });
    const world = await populate(cluster, { receivers, apple });
    const caller = createCaller(world);
    const load = createLoad({ world, caller, random: random.fork('load'), phones: 12 });
    // Creates some members before the first process dies.
    for (let index = 0; index < 8; index += 1) await load.step();

    const begunAt = performance.now();
    const loadMs = minutes * 60_000;
    const isOver = () => performance.now() - begunAt > loadMs || load.operations.length >= most;
    const nemesis = startNemesis({ cluster, random: random.fork('nemesis'), everyMs });
    const client = async (): Promise<void> => {
      while (!isOver()) {
        const startedAt = performance.now();
        await load.step();
        const pauseMs = (clients * 1_000) / perSecond - (performance.now() - startedAt);
        if (pauseMs > 0) await sleep(pauseMs);
      }
    };
    const telling = setInterval(() => {
      const deaths = [...nemesis.kills.values()].reduce((sum, count) => sum + count, 0);
      say(
        `${Math.round((performance.now() - begunAt) / 1_000)} s: ${load.operations.length} operations, ${deaths} kills`,
      );
    }, 10_000);
    const readers = [createFeedReader(caller), createFeedReader(caller)];
    const reading = async (reader: FeedReader): Promise<void> => {
      while (!isOver()) {
        await reader.readOn();
        await sleep(200);
      }
    };
    await Promise.all([...Array.from({ length: clients }, client), ...readers.map(reading)]);
    clearInterval(telling);
    const tookMs = Math.round(performance.now() - begunAt);
    await nemesis.end();
    say('draining');
    await cluster.allUp(60_000);
    const drainMs = await drain(world, { withinMs: drainWithinMs, say });
    say('checking');
    for (const reader of readers) await reader.readToEnd();
    const evidence = await collectEvidence(
      world,
      load.operations,
      readers.map(({ eventIds }) => eventIds),
    );
    await caller.close();
    return {
      evidence,
      findings: check(evidence),
      kills: [...nemesis.kills].toSorted(([a], [b]) => a.localeCompare(b)),
      stops: nemesis.stops,
      wipes: nemesis.wipes,
      terminations: nemesis.terminations,
      stuck: cluster.stuck.map(({ name, reason }) => `${name} ${reason}`),
      drainMs,
      loadMs: tookMs,
    };
  } finally {
    await cluster?.stop();
    for (const receiver of receivers) await receiver.stop();
    await apple.apns.close();
  }
}

/** The table that a crash run prints at its end. */
export function tableOf(verdict: Verdict): string {
  const { evidence, findings, kills, stops, wipes, terminations, stuck, drainMs, loadMs } = verdict;
  const { operations, receipts } = evidence;
  const of = (outcome: string) => operations.filter((operation) => operation.outcome === outcome).length;
  const count = (kind: Finding['kind']) => findings.filter((finding) => finding.kind === kind).length;
  const requests = operations.reduce((sum, operation) => sum + operation.requests, 0);
  const deaths = kills.reduce((sum, [, times]) => sum + times, 0);
  const again = duplicatesOf(evidence);
  const lines: [string, string][] = [
    ['operations', `${operations.length} in ${Math.round(loadMs / 1_000)} s, ${requests} requests`],
    ['acknowledged', String(of('acknowledged'))],
    ['refused', String(of('refused'))],
    ['indeterminate', String(of('indeterminate'))],
    ['kills', `${deaths}: ${kills.map(([name, times]) => `${name} ${times}`).join(', ')}`],
    ['stops', String(stops)],
    ['Temporal wiped', `${wipes} times, and ${terminations} workflows terminated`],
    ['stuck engines', String(stuck.length)],
    ['read from the feed', evidence.feeds.map((ids) => ids.length).join(', ')],
    ['events', `${evidence.events.length}, ${receipts.length} webhooks received`],
    ['duplicates delivered', `${again} (${((100 * again) / Math.max(receipts.length, 1)).toFixed(1)} %)`],
    ['drain', drainMs === null ? 'not over in time' : `${(drainMs / 1_000).toFixed(1)} s`],
    ['lost', String(count('lost'))],
    ['doubled', String(count('doubled'))],
    ['wrong', String(count('wrong'))],
  ];
  return lines.map(([name, value]) => `  ${name.padEnd(22)}${value}`).join('\n');
}
