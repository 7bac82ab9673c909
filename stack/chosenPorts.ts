// Chooses the ports that the user did not set, and stores them in the stack's folder. Later starts use the same ports
// while these are free, so links and bookmarks of an earlier run stay valid. When the usual port of the API or of the
// metrics is taken, the next free one is used.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../platform/parseJson.js';
import { ExpectedFailure } from './expectedFailure.js';
import { findPort, isFree, nextFree } from './ports.js';
import type { Settings } from './settings.js';
import { replaceFile } from './stackFile.js';

const portsSchema = z.object({
  api: z.number(),
  metrics: z.number(),
  workerMetrics: z.number().optional(),
  mongodb: z.number(),
  temporal: z.number(),
  temporalUi: z.number(),
  desk: z.number().optional(),
});

type KeptPorts = z.infer<typeof portsSchema>;
export type ChosenPorts = KeptPorts & { workerMetrics: number; desk: number };

const loopback = '127.0.0.1';

interface Wanted {
  variable: string;
  host: string;
  /** The user's choice. */
  asked: number | undefined;
}

interface Usual extends Wanted {
  /** What listens there, for the terminal. */
  title: string;
  port: number;
  last: number | undefined;
}

/**
 * No port is chosen twice. Throws ExpectedFailure when ports are taken that the user asked for, or asked for twice; its
 * message names all of them.
 */
export async function choosePorts(settings: Settings, say: (line: string) => void): Promise<ChosenPorts> {
  const { host, asked, ports, stackDir, port, metricsPort, workerMetricsPort } = settings;
  const file = join(stackDir, 'ports.json');
  const last = readLast(file);
  const api = { title: 'the API listens', variable: 'PORT', host, asked: asked.port, port, last: last?.api };
  const metrics = {
    ...{ title: 'metrics are', variable: 'METRICS_PORT', host, asked: asked.metricsPort },
    ...{ port: metricsPort, last: last?.metrics },
  };
  const wanted = [
    api,
    metrics,
    { variable: 'WORKER_METRICS_PORT', host, asked: workerMetricsPort },
    { variable: 'STACK_MONGO_PORT', host: loopback, asked: ports.mongodb },
    { variable: 'STACK_TEMPORAL_PORT', host: loopback, asked: ports.temporal },
    { variable: 'STACK_TEMPORAL_UI_PORT', host: loopback, asked: ports.temporalUi },
  ];
  await refuseTaken(wanted);
  const taken = new Set(wanted.flatMap(({ asked }) => asked || []));
  const find = (at: string, preferred?: number) => findPort(at, preferred, taken);
  /** The port that the user asked for, the usual one, or the next one that is free. */
  async function usualPort({ title, host, asked, port, last }: Usual): Promise<number> {
    if (asked !== undefined) return asked;
    if (port === 0) return await find(host, last);
    const free = await nextFree(host, port, taken);
    if (free !== port) say(`Port ${port} is taken; ${title} on ${free}.`);
    return free;
  }
  const [apiPort, metricsAt] = [await usualPort(api), await usualPort(metrics)];
  const chosen = {
    api: apiPort,
    metrics: metricsAt,
    workerMetrics: workerMetricsPort || (await find(host, last?.workerMetrics ?? metricsAt + 1)),
    mongodb: ports.mongodb ?? (await find(loopback, last?.mongodb)),
    temporal: ports.temporal ?? (await find(loopback, last?.temporal)),
    temporalUi: ports.temporalUi ?? (await find(loopback, last?.temporalUi)),
    desk: await find(loopback, last?.desk),
  };
  replaceFile(file, JSON.stringify(chosen));
  return chosen;
}

async function refuseTaken(wanted: readonly Wanted[]): Promise<void> {
  const taken = await Promise.all(
    wanted.map(async ({ variable, host, asked }, index) => {
      if (!asked) return [];
      const other = wanted.slice(0, index).find((earlier) => earlier.asked === asked);
      if (other) return [`  ${variable}=${asked}, by ${other.variable}`];
      return (await isFree(host, asked)) ? [] : [`  ${variable}=${asked} on ${host}`];
    }),
  );
  const lines = taken.flat();
  if (lines.length === 0) return;
  const advice = 'Stop what listens there, name other ports, or leave the variables out: free ports are then chosen.';
  throw new ExpectedFailure(['These ports are taken:', ...lines, advice].join('\n'));
}

/** Throws ExpectedFailure when the port is taken; its message says how to choose another port. */
export async function assertPortFree(variable: string, host: string, port: number): Promise<void> {
  if (await isFree(host, port)) return;
  throw new ExpectedFailure(
    `Port ${port} on ${host} is taken. Stop what listens there, or choose another one: ${variable}=${port + 1} npm start`,
  );
}

function readLast(file: string): KeptPorts | undefined {
  return existsSync(file) ? portsSchema.safeParse(parseJson(readFileSync(file, 'utf8'))).data : undefined;
}
