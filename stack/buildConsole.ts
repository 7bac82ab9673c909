// Bundles the console and the till (console/) into dist/console: their pages, and assets whose names have a hash of
// their content, each with its gzip form. A bundle of the same sources is reused.
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { BuildOptions, Metafile, OutputFile, Plugin } from 'esbuild';
import { canvas, encodePng, ring, stamp } from '../activities/wallets/apple/drawing.rules.js';
import { invitationHours } from '../schemas/mail/mails.schema.js';
import { reversible } from '../schemas/points/ledger.schema.js';
import { builtFolder, digestOf } from './builtFolder.js';

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL(self.endsWith('.js') ? '../..' : '..', import.meta.url));
const sources = join(root, 'console');
const sdk = join(root, 'sdk');
/** The files of the service that the console imports. */
const shared = [
  'schemas/batches/columnTitles.rules.ts',
  'schemas/programs/unit.rules.ts',
  'schemas/shared/csv.rules.ts',
].map((path) => join(root, path));

/** What the console takes from the service when it is bundled. */
const taken = { REVERSIBLE_TYPES: JSON.stringify(reversible), INVITATION_HOURS: JSON.stringify(invitationHours) };

/** The component library contains its texts in 30 languages; the console needs its own five. */
const ownLanguages: Plugin = {
  name: 'own-languages',
  setup(build) {
    build.onLoad({ filter: /[a-z]{2}-[A-Z]{2}\.m?js$/ }, ({ path }) =>
      path.includes('intl') && !/(?:de-DE|en-US|es-ES|fr-FR|it-IT)\.m?js$/.test(path)
        ? { contents: 'export default {}' }
        : undefined,
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
  const called = (await readdir(sdk)).filter((name) => name.endsWith('.ts') && name !== 'openapi.ts');
  const code = [
    ...names.sort().map((name) => join(sources, name)),
    ...called.sort().map((name) => join(sdk, name)),
    ...shared,
  ];
  const files = [self, join(root, 'package-lock.json'), ...code];
  return digestOf(files, JSON.stringify(taken));
}

interface Bundle {
  files: OutputFile[];
  metafile: Metafile;
  /** The name of the script or style sheet that the page loads. */
  entry: (end: string) => string;
}

async function bundle(folder: string, name: string, entryPoint: string, more: BuildOptions = {}): Promise<Bundle> {
  const { build } = await import('esbuild');
  const { outputFiles: files = [], metafile } = await build({
    entryPoints: { [name]: join(sources, entryPoint) },
    outdir: join(folder, 'assets'),
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
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
    ...more,
    loader: { '.woff2': 'file', ...more.loader },
    define: { 'process.env.NODE_ENV': '"production"', ...more.define },
  });
  for (const { path, contents } of files) await writeAsset(path, contents);
  const entry = (end: string) =>
    files.map(({ path }) => basename(path)).find((file) => file.startsWith(`${name}-`) && file.endsWith(end)) ?? '';
  return { files, metafile: metafile ?? { inputs: {}, outputs: {} }, entry };
}

async function writeAsset(path: string, contents: Uint8Array): Promise<void> {
  await writeFile(path, contents);
  await writeFile(`${path}.gz`, await promisify(gzip)(contents, { level: 9 }));
}

/** The letters that every page has. */
const font = (files: readonly OutputFile[]): string =>
  files.map(({ path }) => basename(path)).find((file) => file.startsWith('inter-latin-wght')) ?? '';

async function writePage(
  path: string,
  template: string,
  { files, metafile, entry }: Bundle,
  first: string[],
): Promise<string> {
  const page = await readFile(join(sources, template), 'utf8');
  const shown = page
    .replace('{script}', entry('.js'))
    .replace('{style}', entry('.css'))
    .replace('{font}', font(files))
    .replace('{preloads}', preloads(metafile, first));
  await writeFile(path, shown);
  return shown;
}

function icon(side: number): Buffer {
  const picture = canvas(side, side);
  const disc = ring(side * 0.3, side * 0.16);
  stamp(picture, disc, (side - disc.width) / 2, Math.round((side - disc.height) / 2));
  return encodePng(picture, { paper: '#14532d', ink: '#ffffff' });
}

/** The till is a program of its own, so that little has to be loaded at a counter. */
async function bundleTill(folder: string): Promise<void> {
  const till = await bundle(folder, 'till', 'till/main.tsx', {
    alias: { 'decoder.wasm': 'zxing-wasm/reader/zxing_reader.wasm' },
    loader: { '.wasm': 'file' },
  });
  const page = await writePage(join(folder, 'till.html'), 'till/index.html', till, []);
  const icons = [192, 512].map((side) => ({ name: `till-${side}.png`, contents: icon(side) }));
  for (const { name, contents } of icons) await writeAsset(join(folder, 'assets', name), contents);
  const scripts = till.files.map(({ path }) => basename(path)).filter((file) => !file.endsWith('.wasm'));
  const files = JSON.stringify([...scripts, ...icons.map(({ name }) => name)]);
  const version = createHash('sha256').update(page).update(files).digest('hex').slice(0, 16);
  const worker = await bundle(folder, 'service-worker', 'till/serviceWorker.ts', {
    splitting: false,
    format: 'iife',
    define: { TILL_FILES: files, TILL_VERSION: JSON.stringify(version) },
  });
  await rename(join(folder, 'assets', worker.entry('.js')), join(folder, 'serviceWorker.js'));
}

async function write(draft: string): Promise<void> {
  await mkdir(join(draft, 'assets'), { recursive: true });
  const shell = await bundle(draft, 'console', 'main.tsx', { define: taken, plugins: [ownLanguages] });
  await writePage(join(draft, 'index.html'), 'index.html', shell, ['console/main.tsx', firstPage]);
  await bundleTill(draft);
}

/** Returns whether the bundle was built again. */
export const buildConsole = async (): Promise<boolean> =>
  builtFolder({ output: join(root, 'dist/console'), sources: await digest(), write });

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await buildConsole();
