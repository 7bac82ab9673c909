// Processes that die once at a crash point of the code, while a caller or a worker does something.
import { expect } from 'vitest';
import type { CrashPoint } from '../../../platform/crashPoint.js';
import { until } from '../../rig/checks/until.js';
import { ok } from '../../rig/standins/responders.js';
import type { Cluster, Role } from './cluster.js';
import type { CrashTest } from './crashTest.js';
import { enrollSomebody, eraseAsOwner, type Somebody } from './erasures.js';

export const ofChanges = ['before-commit', 'after-commit', 'before-workflow-start', 'after-workflow-start'] as const;

/** A new API process leaves events to the relay until it has reached Temporal. */
export async function allReachTemporal(cluster: Cluster): Promise<void> {
  for (const url of Object.values(cluster.apis))
    await until(
      async () => {
        const answer = await fetch(new URL('/readyz', url));
        const { checks } = (await answer.json()) as { checks: { temporal: boolean } };
        return checks.temporal;
      },
      { everyMs: 20, throwingIsNo: true },
    );
}

interface Death {
  role: Role;
  point: CrashPoint;
}

async function diesDuring(cluster: Cluster, { role, point }: Death, work: () => Promise<unknown>): Promise<number> {
  const deaths = cluster.endings.length;
  const hit = cluster.arm(role, point);
  await work();
  await until(async () => hit() && cluster.endings.length > deaths, { everyMs: 20, throwingIsNo: true });
  return deaths;
}

/** Runs `work` until a process has died at the point, then waits until all work is done. */
export async function dieAt(
  { cluster, toRest }: Pick<CrashTest, 'cluster' | 'toRest'>,
  death: Death,
  work: () => Promise<unknown>,
): Promise<{ diedAt: number }> {
  await allReachTemporal(cluster);
  const deaths = await diesDuring(cluster, death, work);
  expect(cluster.endings.slice(deaths)).toMatchObject([{ ending: 'was ended by SIGKILL' }]);
  await toRest();
  return { diedAt: cluster.endings[deaths]?.at ?? 0 };
}

/** Erases somebody while a process dies at the point. The erasure may continue while the process of the next one dies. */
export async function eraseAt(
  { cluster, world, caller, receiver }: CrashTest,
  death: Death,
  phone: boolean,
): Promise<Somebody> {
  await allReachTemporal(cluster);
  receiver.setResponder(ok());
  const somebody = await enrollSomebody(world, { caller, phone });
  await diesDuring(cluster, death, () => eraseAsOwner(world, somebody.id));
  await cluster.allUp();
  expect(await cluster.deps.collections.members.findOne({ _id: somebody.id })).toBeNull();
  return somebody;
}
