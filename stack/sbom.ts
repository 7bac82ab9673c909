// Prints the bill of materials (CycloneDX) of what the image installs. `npm sbom --omit=dev` leaves out every package that
// development uses as well, so npm is given a project that has no development dependencies.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));

const manifest = z.looseObject({ name: z.string(), devDependencies: z.unknown() }).parse(read('package.json'));
const lock = z
  .looseObject({ packages: z.record(z.string(), z.looseObject({ dev: z.boolean().optional() })) })
  .parse(read('package-lock.json'));

const { devDependencies: _, ...project } = manifest;
const shipped = Object.entries(lock.packages).filter(([path, { dev }]) => path !== '' && !dev);

const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-sbom-'));
try {
  // npm names the project by its folder.
  const own = join(folder, manifest.name);
  mkdirSync(own);
  writeFileSync(join(own, 'package.json'), JSON.stringify(project));
  const packages = { '': project, ...Object.fromEntries(shipped) };
  writeFileSync(join(own, 'package-lock.json'), JSON.stringify({ ...lock, packages }));
  const args = ['sbom', '--package-lock-only', '--sbom-type=application', '--sbom-format=cyclonedx'];
  process.stdout.write(execFileSync('npm', args, { cwd: own, stdio: ['ignore', 'pipe', 'inherit'] }));
} finally {
  rmSync(folder, { recursive: true });
}
