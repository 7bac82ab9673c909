// The troubles of operation, one after the other, while the load goes on. After each one everything must be ready again
// without help.
import { execFileSync } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { clockOf, services, temporalRoles } from './composeFile.js';
import type { RunningLoad } from './load.js';
import { mongodbIsUp, type Rehearsal } from './rehearsal.js';

const clockOffMs = 30_000;

export async function troubles(rehearsal: Rehearsal, load: RunningLoad): Promise<void> {
  const { containers, folders, proxy, say } = rehearsal;
  const allHealthy = async (): Promise<void> => {
    for (const service of ['redis', ...temporalRoles, 'postgres', ...services]) await containers.healthy(service);
  };
  const trouble = async (what: string, make: () => Promise<unknown>): Promise<void> => {
    const before = load.faults.length;
    await make();
    await allHealthy();
    const healthyAt = performance.now();
    await load.campaign();
    const seconds = Math.round((performance.now() - healthyAt) / 1_000);
    say(`${what}; ${load.faults.length - before} faults, campaigns again ${seconds} s after all were healthy`);
  };
  const kill = async (service: string): Promise<void> => {
    await containers.podman('kill', service);
    await containers.podman('start', service);
    await containers.healthy(service);
  };

  for (const service of services) await trouble(`killed ${service}`, () => kill(service));
  for (const service of ['redis', ...temporalRoles, 'postgres'])
    await trouble(`restarted ${service}`, () => containers.podman('restart', service, '--time', '30'));
  await trouble('killed the proxy in the middle of answers', async () => {
    await proxy.kill();
    await proxy.start('/readyz');
  });
  await trouble('the primary was away for 20 s', async () => {
    await containers.podman('kill', 'mongodb');
    await sleep(20_000);
    await containers.podman('start', 'mongodb');
    await mongodbIsUp(rehearsal);
  });
  for (const [service, offMs] of [
    ['worker-2', clockOffMs],
    ['api-2', -clockOffMs],
  ] as const)
    await trouble(`the clock of ${service} was ${offMs / 1_000} s off`, async () => {
      const file = join(folders.clocks, clockOf(service));
      await writeFile(file, String(offMs));
      await sleep(15_000);
      await writeFile(file, '0');
    });
  await trouble("PostgreSQL's disk was full for 10 s", async () => {
    const ballast = join(folders.postgres, 'ballast');
    try {
      execFileSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M'], { stdio: 'ignore' });
    } catch {
      // It ends when the disk is full.
    }
    await sleep(10_000);
    await rm(ballast);
  });
}
