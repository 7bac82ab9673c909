// Prints the bill of materials (CycloneDX) of the image: the installed packages and those in the console's bundle. `npm
// sbom --omit=dev` leaves out every package that development uses as well, so npm gets a project without development
// dependencies.
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { readOptions } from './readOptions.js';

readOptions('Usage: npm run -s sbom\n\nPrints the bill of materials of the image (CycloneDX, JSON).', {});

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (file: string): unknown => JSON.parse(readFileSync(join(root, file), 'utf8'));

const names = z.record(z.string(), z.string()).default({});
const manifest = z
  .looseObject({ name: z.string(), dependencies: names, devDependencies: names })
  .parse(read('package.json'));
const lock = z
  .looseObject({ packages: z.record(z.string(), z.looseObject({ dev: z.boolean().optional(), dependencies: names })) })
  .parse(read('package-lock.json'));

/**
 * The packages that the console imports, and the SDK for it: they are development dependencies, but shipped in its
 * bundle.
 */
function importedByConsole(): string[] {
  const within = (folder: string, recursive: boolean) =>
    readdirSync(join(root, folder), { recursive, encoding: 'utf8' }).map((name) => join(root, folder, name));
  // The SDK's command, in a folder of its own, is not in the bundle.
  const files = [...within('console', true), ...within('sdk', false)].filter((name) => /\.(?:tsx?|css)$/.test(name));
  const imported = files.flatMap((name) => [
    ...readFileSync(name, 'utf8').matchAll(/(?:from |@import |import |url\()['"]((?:@[^/'"]+\/)?[^./'"][^/'"]*)/g),
  ]);
  return [...new Set(imported.map(([, name = '']) => name))].filter((name) => name in manifest.devDependencies);
}

const { devDependencies, ...project } = manifest;
const bundled = importedByConsole();
const inBundle = new Set(bundled);
for (const name of inBundle)
  for (const other of Object.keys(lock.packages[`node_modules/${name}`]?.dependencies ?? {})) inBundle.add(other);
/** A package may have its own copy of another. */
const isInBundle = (path: string) => path.split(/\/?node_modules\//).every((name) => name === '' || inBundle.has(name));
const shipped = Object.entries(lock.packages)
  .filter(([path, { dev }]) => path !== '' && (!dev || isInBundle(path)))
  .map(([path, { dev: _, ...entry }]) => [path, entry] as const);
for (const name of bundled) project.dependencies[name] = devDependencies[name] ?? '';

const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-sbom-'));
try {
  // npm names the project after its folder.
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
