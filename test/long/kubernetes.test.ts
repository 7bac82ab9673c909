// The Kubernetes example is what Kubernetes takes, by the schemas of its versions (kubernetes-validate, PyPI).
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { fromPypi } from '../rig/start/fromPypi.js';

const run = promisify(execFile);
const example = join(import.meta.dirname, '..', '..', 'stack/kubernetes/service.yaml');
const versions = ['1.30.0', '1.33.0', '1.37.0'];

it('is valid in each version from 1.30, and a field that there is not is found', async (context) => {
  const { bin, reason } = await fromPypi('kubernetes-validate', '1.37.0');
  context.skip(reason !== undefined, reason);
  const validate = (file: string, version: string) =>
    run(join(bin, 'kubernetes-validate'), ['--strict', '--quiet', '--kubernetes-version', version, file]);
  for (const version of versions) await validate(example, version);
  const folder = await mkdtemp(join(tmpdir(), 'loyalty-pass-kubernetes-'));
  try {
    const wrong = join(folder, 'wrong.yaml');
    await writeFile(wrong, (await readFile(example, 'utf8')).replace('replicas: 2', 'replica: 2'));
    await expect(validate(wrong, '1.37.0')).rejects.toMatchObject({ stdout: expect.stringContaining("'replica'") });
  } finally {
    await rm(folder, { recursive: true });
  }
});
