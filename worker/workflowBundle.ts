// Workflow code as the worker runs it. A built service has its bundle beside it, made once by `npm run build`; run from its
// sources, it is bundled at start, so that it is never older than they are. The bundler works in a process of its own:
// what it needs is more than all the rest of a worker, and would stay in its memory.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { WorkflowBundle } from '@temporalio/worker';

const self = fileURLToPath(import.meta.url);
const built = self.endsWith('.js');
const builtBundle = fileURLToPath(new URL('../workflows.cjs', import.meta.url));

export async function bundleWorkflows(): Promise<WorkflowBundle> {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = fileURLToPath(new URL(`../workflows/index.${built ? 'js' : 'ts'}`, import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
}

export async function workflowBundle(): Promise<{ code: string }> {
  if (built && existsSync(builtBundle)) return { code: await readFile(builtBundle, 'utf8') };
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-workflows-'));
  try {
    const file = join(folder, 'workflows.cjs');
    await promisify(execFile)(process.execPath, [...process.execArgv, self, file]);
    return { code: await readFile(file, 'utf8') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// Run by itself (by `npm run build` and by the above) it writes the bundle.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { code } = await bundleWorkflows();
  await writeFile(process.argv[2] ?? builtBundle, code);
}
