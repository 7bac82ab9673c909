// Chooses the ports that the user did not set, and stores them in the stack's folder. Later starts use the same ports
// while these are free, so links and bookmarks of an earlier run stay valid.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../platform/parseJson.js';
import { ExpectedFailure } from './expectedFailure.js';
import { findPort, isFree } from './ports.js';
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

/** Throws ExpectedFailure when PORT or METRICS_PORT is taken. */
export async function choosePorts(settings: Settings): Promise<ChosenPorts> {
  const { host, ports, stackDir } = settings;
  await assertPortFree('PORT', host, settings.port);
  await assertPortFree('METRICS_PORT', host, settings.metricsPort);

  const file = join(stackDir, 'ports.json');
  const last = readLast(file);
  const metrics = settings.metricsPort || (await findPort(host, last?.metrics));
  const chosen = {
    api: settings.port || (await findPort(host, last?.api)),
    metrics,
    workerMetrics: settings.workerMetricsPort || (await findPort(host, last?.workerMetrics ?? metrics + 1)),
    mongodb: ports.mongodb ?? (await findPort(loopback, last?.mongodb)),
    temporal: ports.temporal ?? (await findPort(loopback, last?.temporal)),
    temporalUi: ports.temporalUi ?? (await findPort(loopback, last?.temporalUi)),
    desk: await findPort(loopback, last?.desk),
  };
  replaceFile(file, JSON.stringify(chosen));
  return chosen;
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
