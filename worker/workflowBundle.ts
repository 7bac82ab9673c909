// Provides the bundled workflow code. A built service ships its bundle, which `npm run build` makes once. When the
// service runs from its sources, the bundle is built at start and cached under a hash of these sources, so that it is
// never outdated and a worker restarts quickly. The bundler runs in its own process, because it needs more memory than
// the rest of the worker and would not release it.
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { WorkflowBundle } from '@temporalio/worker';
import { encodedFailuresPath } from '../platform/temporal/payloadCodec.js';

/** With `encrypted`, errors are encoded as payloads too, so that they are encrypted. */
export type BundleKind = 'plain' | 'encrypted';

const self = fileURLToPath(import.meta.url);
const built = self.endsWith('.js');
const builtBundle = (kind: BundleKind) => fileURLToPath(new URL(`../workflows-${kind}.cjs`, import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));

export async function bundleWorkflows(kind: BundleKind = 'plain'): Promise<WorkflowBundle> {
  const { bundleWorkflowCode, DefaultLogger } = await import('@temporalio/worker');
  const workflowsPath = fileURLToPath(new URL(`../workflows/index.${built ? 'js' : 'ts'}`, import.meta.url));
  return bundleWorkflowCode({
    workflowsPath,
    logger: new DefaultLogger('ERROR'),
    ...(kind === 'encrypted' && { failureConverterPath: encodedFailuresPath }),
  });
}

/** The path of the cached bundle of the current sources; the file may not exist yet. */
async function keptPath(kind: BundleKind): Promise<string> {
  const hash = createHash('sha256').update(process.version);
  const files = ['package-lock.json'];
  // Workflow code may import only these folders.
  for (const folder of ['workflows', 'schemas'])
    for (const name of await readdir(join(root, folder), { recursive: true }))
      if (/\.c?ts$/.test(name)) files.push(join(folder, name));
  for (const file of files.sort()) hash.update(file).update(await readFile(join(root, file)));
  return join(root, 'node_modules/.cache/loyalty-pass', `workflows-${kind}-${hash.digest('hex')}.cjs`);
}

/** Replaces all earlier bundles. The new file appears complete or not at all. */
async function keep(path: string, file: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  for (const name of await readdir(folder)) if (name !== basename(path)) await rm(join(folder, name), { force: true });
  await copyFile(file, `${path}.${process.pid}`);
  await rename(`${path}.${process.pid}`, path);
}

export async function workflowBundle(kind: BundleKind): Promise<{ code: string }> {
  if (built && existsSync(builtBundle(kind))) return { code: await readFile(builtBundle(kind), 'utf8') };
  const kept = await keptPath(kind);
  if (existsSync(kept)) return { code: await readFile(kept, 'utf8') };
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-workflows-'));
  try {
    const file = join(folder, 'workflows.cjs');
    await promisify(execFile)(process.execPath, [...(built ? [] : ['--import', 'tsx']), self, kind, file]);
    // Without a cache, the bundle is built again at each start.
    await keep(kept, file).catch(() => undefined);
    return { code: await readFile(file, 'utf8') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

// Run as a program, this file writes one bundle (for `workflowBundle` above), or both (for `npm run build`).
if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [, , wanted, file] = process.argv;
  const kinds = (['plain', 'encrypted'] as const).filter((kind) => wanted === undefined || kind === wanted);
  for (const kind of kinds) await writeFile(file ?? builtBundle(kind), (await bundleWorkflows(kind)).code);
}
