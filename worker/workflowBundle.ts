// Provides the bundled workflow code. A built service ships its bundle, which `npm run build` makes once. When the
// service runs from its sources, the bundle is made at start and cached under a hash of these sources: it is never
// older than the sources, and a worker that died restarts quickly. The bundler runs in a process of its own, because it
// needs more memory than the rest of the worker and would not give it back.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { WorkflowBundle } from '@temporalio/worker';

const self = fileURLToPath(import.meta.url);
const built = self.endsWith('.js');
const builtBundle = fileURLToPath(new URL('../workflows.cjs', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));

export async function bundleWorkflows(): Promise<WorkflowBundle> {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = fileURLToPath(new URL(`../workflows/index.${built ? 'js' : 'ts'}`, import.meta.url));
  return bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') });
}

/** The path of the cached bundle of the current sources; the file may not exist yet. */
async function keptPath(): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  const files = ['package-lock.json'];
  // Workflow code may import only these folders.
  for (const folder of ['workflows', 'schemas'])
    for (const name of await readdir(join(root, folder), { recursive: true }))
      if (name.endsWith('.ts')) files.push(join(folder, name));
  for (const file of files.sort()) hash.update(file).update(await readFile(join(root, file)));
  return join(root, 'node_modules/.cache/loyalty-pass', `workflows-${hash.digest('hex')}.cjs`);
}

/** Replaces all earlier bundles. The new file appears complete or not at all. */
async function keep(path: string, file: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (name !== basename(path)) await rm(join(folder, name), { force: true });
  await copyFile(file, `${path}.${process.pid}`);
  await rename(`${path}.${process.pid}`, path);
}

export async function workflowBundle(): Promise<{ code: string }> {
  if (built && existsSync(builtBundle)) return { code: await readFile(builtBundle, 'utf8') };
  const kept = await keptPath();
  if (existsSync(kept)) return { code: await readFile(kept, 'utf8') };
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-workflows-'));
  try {
    const file = join(folder, 'workflows.cjs');
    await promisify(execFile)(process.execPath, [...process.execArgv, self, file]);
    // If the bundle cannot be cached, it is made again at each start.
    await keep(kept, file).catch(() => undefined);
    return { code: await readFile(file, 'utf8') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// Run as a program (by `npm run build` and by `workflowBundle` above), this file writes the bundle.
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const { code } = await bundleWorkflows();
  await writeFile(process.argv[2] ?? builtBundle, code);
}
