// Bundles the console (console/) into dist/console: index.html, and assets whose names have a hash of their content,
// each with its gzip form. A bundle of the same sources is reused.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Metafile, Plugin } from 'esbuild';
import { reversible } from '../schemas/points/ledger.schema.js';
import { builtFolder, digestOf } from './builtFolder.js';

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL(self.endsWith('.js') ? '../..' : '..', import.meta.url));
const sources = join(root, 'console');

/** What the console takes from the service when it is bundled; its sources import nothing of it. */
const taken = { REVERSIBLE_TYPES: JSON.stringify(reversible) };

/** The component library contains its texts in 30 languages; the console needs only English. */
const englishOnly: Plugin = {
  name: 'english-only',
  setup(build) {
    build.onLoad({ filter: /[a-z]{2}-[A-Z]{2}\.m?js$/ }, ({ path }) =>
      path.includes('intl') && !path.includes('en-US') ? { contents: 'export default {}' } : undefined,
    );
  },
};

/** The page that people see first. */
const firstPage = 'console/pages/overview.tsx';

/** Links that let the browser load scripts before another script names them. */
function preloads({ outputs }: Metafile, entryPoints: readonly string[]): string {
  const found = Object.entries(outputs).filter(([, { entryPoint }]) => entryPoints.includes(entryPoint ?? ''));
  const paths = found.flatMap(([path, { imports }]) => [
    path,
    ...imports.filter(({ kind }) => kind === 'import-statement').map((imported) => imported.path),
  ]);
  return [...new Set(paths)].map((path) => `<link rel="modulepreload" href="assets/${basename(path)}">`).join('\n    ');
}

async function digest(): Promise<string> {
  const names = (await readdir(sources, { recursive: true })).filter((name) => /\.(?:tsx?|css|html)$/.test(name));
  const files = [self, join(root, 'package-lock.json'), ...names.sort().map((name) => join(sources, name))];
  return digestOf(files, JSON.stringify(taken));
}

async function write(draft: string): Promise<void> {
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: { console: join(sources, 'main.tsx') },
    outdir: join(draft, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    minify: true,
    write: false,
    metafile: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    legalComments: 'none',
    logLevel: 'error',
    define: { 'process.env.NODE_ENV': '"production"', ...taken },
    plugins: [englishOnly],
  });
  await mkdir(join(draft, 'assets'), { recursive: true });
  for (const { path, contents } of outputFiles) {
    await writeFile(path, contents);
    await writeFile(`${path}.gz`, await promisify(gzip)(contents, { level: 9 }));
  }
  const entry = (end: string) =>
    basename(outputFiles.find(({ path }) => /console-[^/\\]+$/.test(path) && path.endsWith(end))?.path ?? '');
  const page = await readFile(join(sources, 'index.html'), 'utf8');
  const shown = page
    .replace('{script}', entry('.js'))
    .replace('{style}', entry('.css'))
    .replace('{preloads}', preloads(metafile, ['console/main.tsx', firstPage]));
  await writeFile(join(draft, 'index.html'), shown);
}

/** Returns whether the bundle was built again. */
export const buildConsole = async (): Promise<boolean> =>
  builtFolder({ output: join(root, 'dist/console'), sources: await digest(), write });

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await buildConsole();
