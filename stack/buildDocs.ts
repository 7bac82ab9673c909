// Builds the site at /docs into dist/docs: the reference of the API and the guides as pages and as Markdown, the
// sections that the search reads, its script and style, and llms.txt.
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { openApiDocument } from '../api/openapi/document.view.js';
import { everyMetric } from '../platform/metrics/everyMetric.js';
import { builtFolder, digestOf } from './builtFolder.js';
import { guideFile, guides } from './guides.js';
import { referencePages } from './referencePages.js';
import type { Json } from './schemaRows.js';
import { anchorOf, llmsText, pageHtml, readPage } from './sitePages.js';

const self = fileURLToPath(import.meta.url);
const root = fileURLToPath(new URL(self.endsWith('.js') ? '../..' : '..', import.meta.url));
const guide = (name: string) => join(root, guideFile(name));
const inFolder = async (folder: string) => (await readdir(join(root, folder))).map((file) => join(root, folder, file));

/** The folders of docs/ whose files the guides show or link to. */
const shown = ['examples', 'images', 'till'];

const document = (): Json => JSON.parse(JSON.stringify(openApiDocument({ publicUrl: '' })));

const metricRows = () =>
  everyMetric().map(({ name, labels, help }) => `| \`${name}\` | ${labels.join(', ')} | ${help} |`);

/** The text of a guide. The one for operators ends with the metrics, as the code defines them. */
async function textOf(name: string): Promise<string> {
  const text = await readFile(guide(name), 'utf8');
  if (name !== 'operating') return text;
  return `${text}\n## Metrics\n\n| Metric | Labels | Meaning |\n|---|---|---|\n${metricRows().join('\n')}\n`;
}

async function write(draft: string): Promise<void> {
  const { build } = await import('esbuild');
  const names = Object.keys(guides);
  const texts = await Promise.all(names.map(textOf));
  const own = names.map((name, index) => readPage(name, texts[index] ?? ''));
  const reference = referencePages(document(), anchorOf).map(({ name, markdown }) => readPage(name, markdown));
  const pages = [...reference, ...own];
  const put = (name: string, text: string) => writeFile(join(draft, name), text);
  await put('llms.txt', llmsText(own));
  await put('search.json', JSON.stringify(pages.flatMap((page) => page.sections)));
  for (const page of pages) {
    await put(`${page.name}.md`, page.markdown);
    await put(`${page.name}.html`, pageHtml(page, { reference, guides: own }));
  }
  await build({
    entryPoints: ['main.ts', 'style.css'].map((file) => join(root, 'console/docs', file)),
    ...{ outdir: draft, bundle: true, minify: true, target: 'es2022', legalComments: 'none', logLevel: 'error' },
  });
  for (const folder of shown) {
    await mkdir(join(draft, folder));
    for (const path of await inFolder(`docs/${folder}`)) await copyFile(path, join(draft, folder, basename(path)));
  }
}

/** Returns whether the site was built again. */
export async function buildDocs(): Promise<boolean> {
  const code = ['buildDocs', 'guides', 'referencePages', 'schemaRows', 'sitePages'].map((name) =>
    join(root, `stack/${name}.ts`),
  );
  const texts = Object.keys(guides).map(guide);
  const folders = [...shown.map((folder) => `docs/${folder}`), 'console/docs'];
  const others = (await Promise.all(folders.map(inFolder))).flat();
  const files = [...code, ...texts, ...others, join(root, 'package-lock.json')];
  const sources = await digestOf(files, JSON.stringify([document(), metricRows()]));
  return builtFolder({ output: join(root, 'dist/docs'), sources, write });
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await buildDocs();
