// A disk that is full or read-only: the start command ends with a message or the API answers 503, no acknowledged data
// is lost, and the service continues when there is room again.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../rig/checks/until.js';
import { type RunningStack, runStart, startStack } from '../rig/start/runningStack.js';

const disk = mkdtempSync(join(tmpdir(), 'loyalty-pass-disk-'));
const mount = (...options: string[]): void => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', options.join(','), 'tmpfs', disk], { stdio: 'ignore' });
};
const canMount = (): boolean => {
  try {
    mount('size=400m');
    return true;
  } catch {
    return false;
  }
};
const mounted = canMount();
if (!mounted) console.log('  A small disk needs the right to mount one; without it its tests are left out.');

describe.skipIf(!mounted)('on a small disk', () => {
  const ballast = join(disk, 'ballast');
  let stack: RunningStack;

  beforeAll(async () => {
    stack = await startStack(disk);
  });
  afterAll(async () => {
    await stack?.stop();
    execFileSync('umount', [disk]);
    rmSync(disk, { recursive: true, force: true });
  });

  const call = async (path: string, body?: object) => {
    const { baseUrl, demo } = stack.file();
    const answer = await fetch(`${baseUrl}/merchants/me/members${path}`, {
      headers: { 'X-API-Key': demo.apiKey, 'Content-Type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(10_000),
    }).catch(() => undefined);
    return { status: answer?.status ?? 0, text: (await answer?.text().catch(() => '')) ?? '' };
  };
  let made = 0;
  const acknowledged: string[] = [];
  async function enroll(): Promise<number> {
    made += 1;
    const email = `disk-${made}@example.com`;
    const { status } = await call('', { programId: 'demo-points', email, firstName: 'x'.repeat(100) });
    if (status === 201) acknowledged.push(email);
    return status;
  }
  async function allThere(): Promise<void> {
    for (const email of acknowledged) expect((await call(`?q=${encodeURIComponent(email)}`)).text).toContain(email);
  }

  it('that is full, no acknowledged data is lost, and the service continues when there is room again', async () => {
    for (let index = 0; index < 5; index += 1) expect(await enroll()).toBe(201);
    const statuses = new Set<number>();
    const fill = Buffer.alloc(1_000_000);
    try {
      for (;;) writeFileSync(ballast, fill, { flag: 'a' });
    } catch (error) {
      expect(String(error)).toContain('ENOSPC');
    }
    const end = performance.now() + 15_000;
    while (performance.now() < end) {
      statuses.add(await enroll());
      await sleep(50);
    }
    console.log(
      `  while the disk was full: ${[...statuses].join(', ')}; ${acknowledged.length} of ${made} acknowledged`,
    );
    // 0 stands for no answer.
    expect([...statuses].filter((status) => ![0, 201, 503].includes(status))).toEqual([]);
    rmSync(ballast);
    if (stack.supervisor.exitCode !== null) {
      expect(stack.printed()).toContain('cannot be written');
      stack = await startStack(disk);
    }
    await until(async () => (await enroll()) === 201, { everyMs: 500, throwingIsNo: true });
    await allThere();
    await stack.stop('SIGINT');
    stack = await startStack(disk);
    await allThere();
  }, 200_000);

  it('that is read-only, the start ends with a message, and the data is unchanged', async () => {
    expect(await stack.stop()).toBe(0);
    execFileSync('mount', ['-o', 'remount,ro', disk]);
    const refused = runStart(disk);
    expect(await refused.ended).toBe(1);
    expect(refused.printed()).toContain('cannot be written');
    expect(refused.printed()).not.toMatch(/^ +at /m);
    execFileSync('mount', ['-o', 'remount,rw', disk]);
    stack = await startStack(disk);
    await allThere();
  });
});
