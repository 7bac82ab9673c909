// Takes the pictures of docs/console.md into docs/images, from a demo that runs. `npm start` prints the link.
import { mkdtemp, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import { readOptions } from '../../../stack/readOptions.js';
import { startBrowser } from '../standins/browser.js';
import { buttonOf, fieldOf, headingOf } from '../start/console.js';

const usage = 'Usage: npm run pictures -- LINK\n\nLINK signs in at the console of a demo; `npm start` prints one.';
const { positionals } = readOptions(usage, { allowPositionals: true });
const [link] = positionals;
if (link === undefined) throw new Error(usage);

const folder = join(import.meta.dirname, '../../../docs/images');
const maxBytes = 60_000;
const size = { width: 1280, height: 800 };
const consoleUrl = link.replace(/\/sign-in\/.*$/, '');

/** The page with all of its parts. */
async function open(page: Page, path: string, title: string): Promise<void> {
  await page.goto(`${consoleUrl}${path}`);
  await headingOf(page, title).waitFor();
  await page.waitForLoadState('networkidle');
}

async function follow(page: Page, text: RegExp): Promise<void> {
  await page.locator('.row-link').filter({ hasText: text }).first().click();
  await page.locator('.pass, .facts').first().waitFor();
  await page.waitForLoadState('networkidle');
}

const people = [
  'Vorname,E-Mail,Stempel',
  'Ada,ada@example.com,3',
  'Grace,grace at example.com,4',
  'Alan,alan@example.com,7',
];

async function dryRun(page: Page): Promise<void> {
  await open(page, '/imports', 'Imports');
  await buttonOf(page, 'New import').click();
  const file = join(await mkdtemp(join(tmpdir(), 'pictures-')), 'people.csv');
  await writeFile(file, people.join('\r\n'));
  const chooser = page.waitForEvent('filechooser');
  await buttonOf(page, 'Choose a file').click();
  await (await chooser).setFiles(file);
  await buttonOf(page, 'Check the file').click();
  await page.getByRole('table', { name: 'Would fail' }).waitFor();
}

const pictures: Record<string, (page: Page) => Promise<void>> = {
  async overview(page) {
    await open(page, '', 'Overview');
    await page.locator('.plot canvas').nth(2).waitFor();
  },
  async member(page) {
    await open(page, '/members?audience=nearlyFull', 'Members');
    await follow(page, /\w/);
    await page.locator('.pass').nth(1).waitFor();
  },
  async program(page) {
    await open(page, '/programs', 'Programs');
    await follow(page, /Stamps/);
    await page.locator('.pass').nth(1).waitFor();
  },
  imports: dryRun,
  async campaigns(page) {
    await open(page, '/campaigns', 'Campaigns');
    await buttonOf(page, 'New campaign').click();
    await fieldOf(page, 'Message').fill('A free cookie with every coffee today');
  },
  async webhook(page) {
    await open(page, '/webhooks', 'Webhooks');
    await follow(page, /\w/);
  },
  async desk(page) {
    await open(page, '/live-desk', 'Live desk');
    await page.locator('.pass').nth(1).waitFor();
    await buttonOf(page, 'Give a stamp').click();
    await page.locator('.hops section').first().getByText('iPhone shows').waitFor();
  },
};

const browser = await startBrowser();
try {
  const page = await browser.open(link, { viewport: size, locale: 'en-GB' });
  await page.getByRole('button').click();
  await headingOf(page, 'Overview').waitFor();
  for (const [name, show] of Object.entries(pictures)) {
    await show(page);
    await page.evaluate('document.activeElement.blur(); scrollTo(0, 0)');
    const file = join(folder, `console-${name}.webp`);
    await sharp(await page.screenshot({ animations: 'disabled' }))
      .webp({ quality: 72, effort: 6 })
      .toFile(file);
    const { size: bytes } = await stat(file);
    console.log(`${file}: ${bytes} bytes`);
    if (bytes > maxBytes) throw new Error(`${file} has more than ${maxBytes} bytes.`);
  }
} finally {
  await browser.close();
}
