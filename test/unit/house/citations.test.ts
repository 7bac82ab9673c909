// Documents and code cite each other by path and heading. Each citation must exist in the repository.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { anchorOf } from '../../../stack/sitePages.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const notCode = ['node_modules', 'dist', 'docs', 'test-results'];
const codeFolders = readdirSync(root, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !notCode.includes(entry.name))
  .map((entry) => entry.name);

function filesIn(folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending) && !file.includes('node_modules'))
    .map((file) => join(folder, file));
}

const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

function hasHeading(page: string, anchor: string): boolean {
  const withoutCode = textOf(page).replace(/^```.*?^```$/gms, '');
  return [...withoutCode.matchAll(/^#{1,6} (.+)$/gm)].some(([, heading = '']) => anchorOf(heading) === anchor);
}

const isThere = (path: string, anchor: string | undefined): boolean =>
  existsSync(join(root, path)) && (anchor === undefined || hasHeading(path, anchor));

it('code cites only documents and headings of this repository', () => {
  const cited = codeFolders
    .flatMap((folder) => filesIn(folder, '.ts'))
    .flatMap((file) =>
      textOf(file)
        .split('\n')
        .filter((line) => /^\s*(\/\/|\/?\*)/.test(line))
        .flatMap((line) => [...line.matchAll(/(?<![\w./*-])([\w-][\w./-]*\.md)(?:#([\w-]+))?/g)])
        .map(([citation, path = '', anchor]) => ({ file, citation, path, anchor })),
    );
  expect(cited.length).toBeGreaterThan(50);
  const missing = cited.filter(({ path, anchor }) => !isThere(path, anchor) && !isThere(`docs/${path}`, anchor));
  expect(missing.map(({ file, citation }) => `${file}: ${citation}`)).toEqual([]);
});

const pages = [...filesIn('docs', '.md'), ...readdirSync(root).filter((file) => file.endsWith('.md'))];

it('documents name only files that exist', () => {
  const named = pages.flatMap((page) =>
    [...textOf(page).matchAll(/`((?:[\w-]+\/)+[\w.-]+\.\w+)`/g)]
      .map(([, file = '']) => ({ page, file }))
      .filter(({ file }) => codeFolders.includes(file.split('/')[0] ?? '') && !file.includes('NAME')),
  );
  expect(named.length).toBeGreaterThan(30);
  const missing = named.filter(({ file }) => !existsSync(join(root, file)));
  expect(missing.map(({ page, file }) => `${page}: ${file}`)).toEqual([]);
});

it('documents link only to files and headings of this repository', () => {
  const links = pages.flatMap((page) =>
    [...textOf(page).matchAll(/\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].map(([link, path = '', anchor]) => ({
      page,
      link,
      target: path === '' ? page : normalize(join(dirname(page), path)),
      anchor,
    })),
  );
  expect(links.length).toBeGreaterThan(50);
  const missing = links.filter(({ target, anchor }) => !isThere(target, anchor));
  expect(missing.map(({ page, link }) => `${page}: ${link}`)).toEqual([]);
});
