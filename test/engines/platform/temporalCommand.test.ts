// `npm run -s temporal` reaches the server of the running stack, or the one that TEMPORAL_ADDRESS names.
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeStackFile } from '../../../stack/stackFile.js';
import { forkEngines } from '../../rig/start/forkEngines.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const root = join(import.meta.dirname, '..', '..', '..');
let service: TestService;
let stackDir: string;

beforeAll(async () => {
  service = await startService();
  stackDir = mkdtempSync(join(tmpdir(), 'temporal-command-'));
});
afterAll(async () => {
  await service.stop();
  rmSync(stackDir, { recursive: true });
});

const temporal = (words: string, env: Record<string, string> = {}) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    const { TEMPORAL_ADDRESS: _, TEMPORAL_NAMESPACE: __, ...rest } = process.env;
    const options = { cwd: root, env: { ...rest, STACK_DIR: stackDir, ...env } };
    execFile('npm', ['run', '-s', 'temporal', '--', ...words.split(' ')], options, (error, out, err) =>
      resolve({ code: Number(error?.code ?? 0), out, err }),
    );
  });

it('shows the workflows of the stack that runs, with no address and no namespace given', async () => {
  const merchant = await aMerchant(service);
  const { id } = await merchant.enroll();
  writeStackFile(stackDir, {
    ...{ baseUrl: '', publicUrl: '', metricsUrl: '', temporalUi: null, redisUrl: null, mongodbUri: '' },
    ...{ temporalAddress: forkEngines().temporalAddress, temporalNamespace: 'default' },
    pids: { supervisor: process.pid },
    demo: { merchantId: '', apiKey: '', consoleToken: '', programs: { points: '', stamps: '', tiered: '' } },
  });
  const shown = await temporal(`workflow describe --workflow-id enroll:${id} --output json`);
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(shown.out).workflowExecutionInfo.execution.workflowId).toBe(`enroll:${id}`);
});

it('gives the exit code of what it ran', async () => {
  const failed = await temporal('workflow describe --workflow-id nobody', {
    TEMPORAL_ADDRESS: forkEngines().temporalAddress,
  });
  expect(failed.code).toBe(1);
  expect(failed.err).toContain('nobody');
});

it('says what to do while no stack runs', async () => {
  const { code, err } = await temporal('workflow list', { STACK_DIR: join(stackDir, 'none') });
  expect([code, err]).toEqual([1, expect.stringMatching(/^No stack is running on .* TEMPORAL_ADDRESS\.\n$/)]);
});
