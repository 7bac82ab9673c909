// The load of the rehearsal: the mixed load of the kill campaign through the proxy, with receivers that fail at random,
// an import, campaigns, phones and a reader of the feed. In the end the checkers of the kill campaign decide.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import pino from 'pino';
import { createDeps } from '../../platform/createDeps.js';
import { readConfig } from '../../schemas/shared/config.schema.js';
import { check } from '../crash/checkers.js';
import { createCaller, isAnswer } from '../crash/rig/caller.js';
import { collectEvidence } from '../crash/rig/collectEvidence.js';
import { drain } from '../crash/rig/drain.js';
import { createFeedReader } from '../crash/rig/feedReader.js';
import { createLoad } from '../crash/rig/load.js';
import { createRandom } from '../crash/rig/random.js';
import { populate, type Site, type World } from '../crash/rig/world.js';
import type { StandIns } from './standIns.js';

const callers = 3;
/** Few enough for two cores, which all containers share. */
const perSecond = 1.5;
const phones = 6;
const drainMs = 300_000;

export interface Fault {
  /** For example `2026-11-29T00:00:00.000Z GET /merchants/me`. */
  call: string;
  /** The start of the answer, or why there was none. */
  what: string;
}

export interface RunningLoad {
  /** Answers of 500 and more, and connections that ended without an answer. */
  faults: Fault[];
  /** Begins a campaign to all members of a program. */
  campaign(): Promise<void>;
  /** Ends the load, waits until all work is done, and fails unless nothing is lost, doubled or stuck. */
  end(): Promise<void>;
  site: Site & { close(): Promise<void> };
  world: World<Site>;
}

/** `ports` of this machine lead to the containers of MongoDB and Temporal. */
export async function siteOf(input: {
  address: string;
  ca: string;
  ports: { mongodb: number; temporal: number };
  secrets: { key: string; console: string };
}): Promise<RunningLoad['site']> {
  const { address, ca, ports, secrets } = input;
  const api = `${address}/api/v1`;
  const env = {
    MONGODB_URI: `mongodb://127.0.0.1:${ports.mongodb}/?directConnection=true`,
    MONGODB_DATABASE: 'loyalty',
    TEMPORAL_ADDRESS: `127.0.0.1:${ports.temporal}`,
    SECRETS_KEY: secrets.key,
    CONSOLE_JWT_SECRET: secrets.console,
    PUBLIC_URL: address,
  };
  const config = readConfig(env);
  const deps = createDeps({ config, log: pino({ level: 'silent' }), timeouts: 'tool' });
  const connection = Connection.lazy({ address: env.TEMPORAL_ADDRESS });
  return {
    apis: { 'api-1': api, 'api-2': api },
    deps,
    env,
    temporal: new Client({ connection, namespace: 'default' }),
    ca,
    async close() {
      await connection.close();
      await deps.close();
    },
  };
}

export async function startLoad(
  site: RunningLoad['site'],
  { apple, receivers }: StandIns,
  say: (line: string) => void,
): Promise<RunningLoad> {
  const faults: Fault[] = [];
  const world = await populate<Site>(site, { receivers, apple });
  const caller = createCaller(world, {
    timeoutMs: 30_000,
    heard({ method, path }, answer) {
      const fault = isAnswer(answer) ? answer.status >= 500 && `${answer.status} ${answer.text}` : answer.lost;
      if (fault === false) return;
      faults.push({ call: `${new Date().toISOString()} ${method} ${path}`, what: fault.slice(0, 160) });
    },
  });
  const load = createLoad({ world, caller, random: createRandom(41).fork('load'), phones });
  for (let index = 0; index < 8; index += 1) await load.step();
  await load.importFile();
  const readers = [createFeedReader(caller)];
  let running = true;
  const client = async (): Promise<void> => {
    while (running) {
      const begunAt = performance.now();
      await load.step();
      await sleep(Math.max(0, (callers * 1_000) / perSecond - (performance.now() - begunAt)));
    }
  };
  const reading = async (reader: (typeof readers)[number]): Promise<void> => {
    while (running) {
      await reader.readOn();
      await sleep(500);
    }
  };
  const all = Promise.all([...Array.from({ length: callers }, client), ...readers.map(reading)]);
  all.catch((error: unknown) => faults.push({ call: 'the load ended', what: String(error) }));
  return {
    faults,
    site,
    world,
    async campaign() {
      const body = { programId: 'crash-points', message: 'Two for one today' };
      const asked = { method: 'POST', path: '/merchants/me/campaigns', key: randomUUID(), body } as const;
      const { answer } = await caller.call(asked);
      assert.ok(isAnswer(answer) && answer.status === 202, `a campaign: ${JSON.stringify(answer)}`);
    },
    async end() {
      running = false;
      await all;
      const drainedMs = await drain(world, { withinMs: drainMs, say });
      for (const reader of readers) await reader.readToEnd();
      const evidence = await collectEvidence(
        world,
        load.operations,
        readers.map(({ eventIds }) => eventIds),
      );
      await caller.close();
      const of = (outcome: string) => load.operations.filter((operation) => operation.outcome === outcome).length;
      const { events, receipts } = evidence;
      say(
        `${of('acknowledged')} operations acknowledged, ${of('refused')} refused, ${of('indeterminate')} without an answer`,
      );
      say(`${events.length} events, ${receipts.length} webhooks, ${apple.apns.pushes.length} pushes`);
      assert.notEqual(drainedMs, null, 'All work is done in time.');
      assert.deepEqual(check(evidence), [], 'Nothing is lost, doubled or stuck.');
      assert.ok(of('acknowledged') > 100 && apple.apns.pushes.length > 0, 'The load was one.');
    },
  };
}
