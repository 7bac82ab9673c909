// A headless Chromium, if one is installed. Each page gets a fresh profile.
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const candidates = [
  process.env.CHROMIUM_PATH,
  // Without the parts that only a visible browser needs: it uses less of the processor.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];
const executablePath = candidates.find((path) => path && existsSync(path));

export const hasBrowser = executablePath !== undefined;

/** With TEST_PICTURES=1 there are screenshots, which stay after the run; Git ignores the folder. */
const takesPictures = process.env.TEST_PICTURES === '1';
const screenshotDir = 'test-results/pages';

/** Like that of `until`: it only ends a wait that hangs. */
const patienceMs = 120_000;

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const screens = {
  phone: {
    viewport: { width: 390, height: 844 },
    deviceScaleFactor: takesPictures ? 2 : 1,
    isMobile: true,
    hasTouch: true,
  },
  desktop: { viewport: { width: 1280, height: 860 } },
} satisfies Record<string, BrowserContextOptions>;

export interface TestBrowser {
  open: (url: string, options?: BrowserContextOptions) => Promise<Page>;
  close: () => Promise<void>;
}

export async function startBrowser(moreFlags: readonly string[] = []): Promise<TestBrowser> {
  const args = [...flags, ...moreFlags];
  const browser: Browser = await chromium.launch({ ...(executablePath && { executablePath }), args });
  await mkdir(screenshotDir, { recursive: true });
  return {
    async open(url, options = screens.phone) {
      const page = await (await browser.newContext(options)).newPage();
      page.setDefaultTimeout(patienceMs);
      await page.goto(url);
      return page;
    },
    close: () => browser.close(),
  };
}

export interface ScannerKey {
  key: string;
  code: string;
  shiftKey?: boolean;
  ctrlKey?: boolean;
  altKey?: boolean;
}

/** Presses keys as fast as a scanner does, also on a busy machine. */
export const pressAtOnce = (page: Page, keys: readonly ScannerKey[]): Promise<unknown> =>
  page.evaluate(`for (const key of ${JSON.stringify(keys)})
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { bubbles: true, cancelable: true, ...key }))`);

export async function keepScreenshot(page: Page, name: string, { fullPage = true } = {}): Promise<void> {
  if (!takesPictures) return;
  if (!fullPage) await page.evaluate('scrollTo(0, 0)');
  await page.screenshot({ path: join(screenshotDir, `${name}.png`), fullPage, animations: 'disabled' });
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');

/** The accessibility problems that axe finds. */
export async function findBarriers(page: Page): Promise<string[]> {
  if (await page.evaluate("typeof axe === 'undefined'")) await page.evaluate(await readFile(axe, 'utf8'));
  // On a device with a touch screen the component library hides what it opens until a keyboard would be there.
  await page.locator('[data-rac][style*="opacity: 0"]').first().waitFor({ state: 'detached' });
  // What still fades in has less contrast than it will have.
  const moving = 'document.getAnimations().filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)';
  await page.evaluate(`Promise.allSettled(${moving}.map(({ finished }) => finished))`);
  const found = await page.evaluate(
    `axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa', 'best-practice'], reporter: 'no-passes' }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' | ')))`,
  );
  return found as string[];
}

/** By how many pixels the page is wider than its window. */
export const isTooWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth - innerWidth');
