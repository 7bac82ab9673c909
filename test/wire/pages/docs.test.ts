// The site at /docs over HTTP and in a real browser: the reference, the guides as pages and as Markdown, the search,
// llms.txt, and where / leads.
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import Koa from 'koa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { documentRoutes } from '../../../api/openapi/openapi.routes.js';
import { docsRoutes } from '../../../api/pages/docs.routes.js';
import { everyMetric } from '../../../platform/metrics/everyMetric.js';
import { eventData } from '../../../schemas/events/events.schema.js';
import { readConfig } from '../../../schemas/shared/config.schema.js';
import { buildDocs } from '../../../stack/buildDocs.js';
import { guideFile, guides } from '../../../stack/guides.js';
import {
  findBarriers,
  hasBrowser,
  keepScreenshot,
  screens,
  startBrowser,
  type TestBrowser,
} from '../../rig/standins/browser.js';

const publicUrl = 'https://loyalty.example.com/cards';
const names = Object.keys(guides);
let server: Server;
let url: string;

beforeAll(async () => {
  await buildDocs();
  const config = readConfig({
    PUBLIC_URL: publicUrl,
    CONSOLE_JWT_SECRET: 'x'.repeat(32),
    SECRETS_KEY: Buffer.alloc(32).toString('base64'),
  });
  const app = new Koa();
  app.use(documentRoutes({ config }).routes());
  app.use(docsRoutes({ config }).routes());
  app.silent = true;
  server = createServer(app.callback());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${url}${path}`, { redirect: 'manual', headers });
const textOf = async (path: string) => (await get(path)).text();
/** The pages of the reference are alike; a browser opens two of them. */
const pages = ['/docs', '/docs/api-till', '/docs/api-members', ...names.map((name) => `/docs/${name}`)];

describe('/', () => {
  const browsers = [
    'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
    'text/html',
    'text/html, application/json;q=0.9',
  ];
  it.each(browsers)('leads to the console what accepts %s', async (accept) => {
    const answer = await get('/', { Accept: accept });
    expect([answer.status, answer.headers.get('location')]).toEqual([302, '/cards/console']);
    expect(answer.headers.get('vary')).toBe('Accept');
  });

  it.each(['*/*', 'application/json', 'application/json, text/html;q=0.5'])(
    'leaves what accepts %s',
    async (accept) => {
      expect((await get('/', { Accept: accept })).status).toBe(404);
    },
  );
});

describe('each page', () => {
  it('allows only resources of its own origin, and no inline script', async () => {
    for (const path of pages) {
      const answer = await get(path);
      expect([path, answer.status]).toEqual([path, 200]);
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toMatch(/unsafe|https?:|\*/);
      expect(await answer.text()).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|<\w+[^>]* style=/);
    }
  });

  it('serves no other file, and leads from other addresses of the first page to it', async () => {
    for (const path of [
      '/docs/sources',
      '/docs/index.html',
      '/docs/interface.html',
      '/docs/architecture',
      '/docs/..%2Fpackage.json',
      '/docs/%2e%2e/package.json',
      '/docs/examples/..%2Fllms.txt',
    ])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    for (const path of ['/docs/', '/docs/index']) {
      const { status, headers } = await get(path);
      const to = new URL(headers.get('location') ?? '', url + path).pathname;
      expect([path, status, to]).toEqual([path, 301, '/docs']);
    }
  });
});

/** What a page, a guide as Markdown, the list of guides or the search refers to. */
function linksOf(path: string, text: string, type: string): string[] {
  const of = (pattern: RegExp) => [...text.matchAll(pattern)].map(([, link = '']) => link);
  if (type.includes('html')) return of(/(?:src|href)="([^"]+)"/g).map((link) => link.replaceAll('&amp;', '&'));
  if (type.includes('markdown') || type.includes('plain')) {
    const prose = text.replaceAll(/^```[\s\S]*?^```$/gm, '');
    return [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link.replace(publicUrl, ''));
  }
  return path === '/docs/search.json' ? JSON.parse(text).map(({ href }: { href: string }) => href) : [];
}

describe('each link', () => {
  it('of every page, picture, guide and search result leads to something that is served, and to an anchor that it has', async () => {
    const pagesSeen = new Map<string, { status: number; type: string; text: string }>();
    const visit = async (path: string) => {
      const answer = await get(path);
      const type = answer.headers.get('content-type') ?? '';
      const seen = { status: answer.status, type, text: await answer.text() };
      pagesSeen.set(path, seen);
      return seen;
    };
    const left: { from: string; path: string; hash: string }[] = ['/docs', '/docs/search.json', '/llms.txt'].map(
      (path) => ({ from: 'the start', path, hash: '' }),
    );
    const broken: string[] = [];
    for (let next = left.pop(); next; next = left.pop()) {
      const { from, path, hash } = next;
      const isNew = !pagesSeen.has(path);
      const { status, type, text } = pagesSeen.get(path) ?? (await visit(path));
      if (status !== 200) broken.push(`${from}: ${path} is ${status}`);
      // A heading of a guide as Markdown has the anchor of the page.
      const page = path.endsWith('.md')
        ? (pagesSeen.get(path.slice(0, -3)) ?? (await visit(path.slice(0, -3))))
        : { text };
      if (hash !== '' && !page.text.includes(`id="${decodeURIComponent(hash.slice(1))}"`))
        broken.push(`${from}: ${path} has no ${hash}`);
      if (!isNew) continue;
      // The search shows its results on pages below /docs/.
      const base = path === '/docs/search.json' ? '/docs/x' : path;
      for (const link of linksOf(path, text, type)) {
        const to = new URL(link, url + base);
        if (to.origin === url && to.protocol !== 'data:') left.push({ from: path, path: to.pathname, hash: to.hash });
      }
    }
    expect(broken).toEqual([]);
    const seen = [...pagesSeen.keys()];
    expect(seen).toEqual(expect.arrayContaining(names.flatMap((name) => [`/docs/${name}`, `/docs/${name}.md`])));
    expect(seen.filter((path) => path.startsWith('/docs/till/')).length).toBeGreaterThan(2);
    expect(seen.filter((path) => path.startsWith('/docs/api-')).length).toBeGreaterThan(20);
  });
});

describe('for machines', () => {
  it('llms.txt lists each guide as Markdown and the OpenAPI document, by addresses that are served', async () => {
    const answer = await get('/llms.txt');
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const listed = [...(await answer.text()).matchAll(/^- \[[^\]]+\]\(([^)]+)\): \S/gm)].map(([, link = '']) => link);
    const paths = listed.map((link) => link.replace(publicUrl, ''));
    expect(paths).toEqual([
      ...names.map((name) => `/docs/${name}.md`),
      '/docs/index.md',
      '/docs/api-events.md',
      '/api/v1/openapi.json',
      '/api/v1/program.schema.json',
    ]);
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  it('each guide as Markdown is its text, with links that are served', async () => {
    for (const name of names) {
      const answer = await get(`/docs/${name}.md`);
      expect(answer.headers.get('content-type')).toBe('text/markdown; charset=utf-8');
      const text = await answer.text();
      const source = readFileSync(new URL(`../../../${guideFile(name)}`, import.meta.url), 'utf8');
      expect(text.split('\n')[0]).toBe(source.split('\n')[0]);
      const code = /^```[\s\S]*?^```$/gm;
      expect(text.match(code)).toEqual(source.match(code));
      for (const [, link = ''] of text.matchAll(/\]\((?![a-z]+:|#)([^)#\s]+)/g))
        expect([name, link, (await get(`/docs/${link}`)).status]).toEqual([name, link, 200]);
    }
  });
});

it('the guide for operators names every metric with its meaning', async () => {
  const text = await textOf('/docs/operating.md');
  const own = everyMetric();
  expect(own.length).toBeGreaterThan(15);
  for (const { name, labels, help } of own) expect(text).toContain(`| \`${name}\` | ${labels.join(', ')} | ${help} |`);
});

it('each event has its sample body, and says what each field of its data means', async () => {
  const text = await textOf('/docs/api-events.md');
  for (const type of Object.keys(eventData)) {
    const section = text.split(/^## /m).find((part) => part.startsWith(`${type}\n`)) ?? '';
    const [, sample = '{}'] = /^```json\n(.*?)^```$/ms.exec(section) ?? [];
    expect(JSON.parse(sample)).toMatchObject({ event: type, data: {} });
    const rows = [...section.matchAll(/^\| `data\.(\w+)(?:\[\])?` \| .* \| (.*) \|$/gm)];
    expect(rows.map(([, field]) => field)).toEqual(expect.arrayContaining(Object.keys(JSON.parse(sample).data)));
    expect([type, rows.filter(([, , meaning]) => meaning === '').map(([, field]) => field)]).toEqual([type, []]);
  }
});

describe.runIf(hasBrowser)('in a browser', () => {
  let browser: TestBrowser;
  beforeAll(async () => {
    browser = await startBrowser();
  });
  afterAll(() => browser.close());

  for (const [screen, options] of Object.entries(screens)) {
    it(`has no barriers and no sideways scrolling on a ${screen}, and loads nothing from elsewhere`, async () => {
      const page = await browser.open('about:blank', options);
      const foreign: string[] = [];
      const refused: string[] = [];
      page.on('request', (request) => {
        if (!request.url().startsWith(url) && !request.url().startsWith('data:')) foreign.push(request.url());
      });
      page.on('console', (message) => {
        if (message.type() === 'error') refused.push(message.text());
      });
      for (const path of pages) {
        await page.goto(url + path);
        const sideways = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect([path, await findBarriers(page), sideways]).toEqual([path, [], 0]);
        await keepScreenshot(page, `docs-${screen}${path.replaceAll('/', '-')}`, { fullPage: false });
      }
      expect([foreign, refused]).toEqual([[], []]);
      await page.context().close();
    });
  }

  it('finds a section of a guide and an operation of the reference, by keyboard', async () => {
    const page = await browser.open(`${url}/docs/wallets`, screens.desktop);
    await page.getByLabel('Search').fill('backoffMs');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/**receiving-webhooks**');
    await page.getByLabel('Search').fill('till/pair');
    await page.getByRole('link', { name: 'POST /till/pair' }).click();
    await page.waitForURL('**/docs/api-till#post-tillpair');
    expect(await page.getByRole('heading', { name: 'POST /till/pair' }).isVisible()).toBe(true);
    await page.getByLabel('Search').fill('zzzzqq');
    await page.getByText('Nothing found.').waitFor();
    await page.context().close();
  });
});
