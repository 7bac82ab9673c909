// The console in a real browser against the real service (docs/console.md): a merchant's first hour, obstacles such as
// an ended session, and each page by keyboard, with a screen reader and on a phone.
import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey } from '../../../activities/access/apiKeys.writes.js';
import { createImported } from '../../../activities/batches/imports/createImported.activity.js';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { permissions as everyPermission } from '../../../schemas/access/permissions.schema.js';
import { readPng } from '../../../schemas/programs/png.rules.js';
import { buildConsole } from '../../../stack/buildConsole.js';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  isTooWide,
  keepScreenshot,
  screens,
  startBrowser,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { aGate } from '../../rig/standins/gate.js';
import { startReceiver } from '../../rig/standins/receiver.js';
import { ok, status } from '../../rig/standins/responders.js';
import {
  buttonOf as button,
  fieldOf as field,
  goInConsole,
  headingOf as heading,
  openAccount,
  openConsole,
  signInAtConsole,
} from '../../rig/start/console.js';
import { csvOf, sendImport } from '../../rig/start/imports.js';
import { joinInPublic, type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';
import { aLink, aUser } from '../../rig/start/signIn.js';
import { startTestWorker } from '../../rig/start/testWorker.js';

let real: RealWallets;
let browser: TestBrowser;

beforeAll(async () => {
  if (!hasBrowser) return;
  await buildConsole();
  [real, browser] = await Promise.all([startRealWallets(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await real?.stop();
});

const signIn = (page: Page) => signInAtConsole(page, real);
const open = (path = '', screen: BrowserContextOptions = screens.desktop, role?: string) =>
  openConsole({ browser, ...real }, path, { screen, ...(role !== undefined && { role }) });

const logo = {
  name: 'logo.png',
  mimeType: 'image/png',
  buffer: encodePng(canvas(120, 40), { paper: '#fdba74', ink: '#3b2417' }),
};

/** Drops a file as a person would with the mouse. */
async function dropFile(page: Page, picture: string, file: string): Promise<void> {
  const place = button(page, `${picture}: choose a file`);
  await place.scrollIntoViewIfNeeded();
  const { x, y, width, height } = (await page.locator('.drop').filter({ has: place }).boundingBox()) ?? {
    ...{ x: 0, y: 0, width: 0, height: 0 },
  };
  const mouse = await page.context().newCDPSession(page);
  const data = { items: [], files: [file], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const)
    await mouse.send('Input.dispatchDragEvent', { type, x: x + width / 2, y: y + height / 2, data });
}

async function newProgram(page: Page, name: string): Promise<void> {
  await page.goto(`${real.service.publicUrl}/console/programs`);
  await button(page, 'New loyalty card').click();
  await field(page, 'Name').fill(name);
  await button(page, 'Create').click();
  await heading(page, name).waitFor();
}

async function publish(page: Page, effect = 'No card is in use yet.'): Promise<void> {
  await button(page, 'Publish').click();
  await page.getByRole('dialog', { name: 'Publish this version?' }).getByText(effect).waitFor();
  expect(await findBarriers(page)).toEqual([]);
  await page.getByRole('dialog').getByRole('button', { name: 'Publish' }).click();
  const first = page.getByRole('dialog', { name: 'Your card is live' });
  await first
    .or(page.getByText('Published.', { exact: true }))
    .first()
    .waitFor();
  if (await first.isVisible()) await first.getByRole('button', { name: 'Close' }).click();
  await page.getByText('The loyalty card is live.').waitFor();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await until(() => button(page, 'Publish').isDisabled());
}

describe.runIf(hasBrowser)("a merchant's first hour", () => {
  it('begins a card with the time zone of the browser, and asks nothing about cards before there is a member', async () => {
    const page = await open('/programs', { ...screens.desktop, timezoneId: 'Pacific/Auckland' });
    await newProgram(page, 'Down under');
    expect(await field(page, 'Time zone').inputValue()).toBe('Pacific/Auckland');
    await button(page, 'Publish').click();
    const question = page.getByRole('dialog', { name: 'Publish this version?' });
    await question.getByText('No card is in use yet.').waitFor();
    expect(await question.locator('.facts').count()).toBe(0);
    await page.context().close();
  });

  it.each([
    ['Asia/Calcutta', 'Asia/Calcutta'],
    ['US/Pacific', 'US/Pacific'],
    ['Foo/Bar', ''],
    ['GMT+2', ''],
    [undefined, ''],
  ])(
    'begins a card when the browser names its time zone %s, and says so when the service does not know it',
    async (zone, kept) => {
      const page = await open('/programs');
      const timeZone = zone === undefined ? 'undefined' : `'${zone}'`;
      await page.addInitScript(`const { resolvedOptions } = Intl.DateTimeFormat.prototype;
      Intl.DateTimeFormat.prototype.resolvedOptions = function () {
        return { ...resolvedOptions.call(this), timeZone: ${timeZone} };
      }`);
      const notice = page.getByText('days and hours are counted in UTC');
      // It goes after some seconds.
      const noticed = kept === '' ? notice.waitFor() : Promise.resolve();
      await Promise.all([newProgram(page, 'Far away'), noticed]);
      expect(await field(page, 'Time zone').inputValue()).toBe(kept);
      if (kept !== '') expect(await notice.count()).toBe(0);
      expect(await page.locator('datalist option[value="Europe/Berlin"]').count()).toBe(1);
      await page.context().close();
    },
  );

  it('designs a poster with a code of its own and links, on a phone, and it fits a desktop', async () => {
    const page = await open('/programs', screens.phone);
    await newProgram(page, 'Poster on a phone');
    const choose = async (label: string, buffer: Buffer) => {
      const chooser = page.waitForEvent('filechooser');
      await button(page, `${label}: choose a file`).click();
      await (await chooser).setFiles({ ...logo, buffer });
    };
    await choose('Icon', logo.buffer);
    await page.getByText('The picture is 120 x 40, and this one has to be square.').waitFor();
    await page.getByText('A poster on iPhones with iOS 27').click();
    await choose('Picture of the poster', encodePng(canvas(1074, 1344), { paper: '#14532d', ink: '#ffffff' }));
    const iphone = page.getByRole('figure').filter({ hasText: 'iPhone' });
    await iphone.locator('.poster').waitFor();
    await field(page, 'Kind of code').selectOption({ label: 'Code 39' });
    await iphone.locator('.poster .linear img').waitFor();
    await field(page, 'Page to order').fill('https://example.com/order');
    await iphone.getByText('Order Delivery and Pickup').waitFor();
    for (const screen of ['phone', 'desktop'] as const) {
      await page.setViewportSize(screens[screen].viewport);
      expect([screen, await findBarriers(page), await isTooWide(page)]).toEqual([screen, [], 0]);
      await iphone.scrollIntoViewIfNeeded();
      await keepScreenshot(page, `console-poster-${screen}`);
    }
    await iphone.getByRole('button', { name: 'Before iOS 27' }).click();
    // Systems that know no poster know no Code 39 either, and show the QR code behind it.
    await iphone.locator('.qr svg').waitFor();
    expect(await iphone.locator('.poster, .linear').count()).toBe(0);
    await field(page, 'Kind of code').selectOption({ label: 'EAN-13 (13 digits)' });
    await page.getByText('cannot hold the letters of member codes').waitFor();
    await page.context().close();
  });

  it('designs a program with a logo, publishes it, and sees a stamp arrive on a phone and taken back', async () => {
    const page = await open('/programs');
    await newProgram(page, 'Corner Coffee');
    await field(page, 'Background').fill('#3b2417');
    await field(page, 'Labels').fill('#fdba74');
    const chooser = page.waitForEvent('filechooser');
    await button(page, 'Logo: choose a file').click();
    await (await chooser).setFiles(logo);
    const iphone = page.getByRole('figure').filter({ hasText: 'iPhone' });
    await iphone.locator('.pass-head img').waitFor();
    await until(async () => (await iphone.locator('.pass').getAttribute('style'))?.includes('rgb(59, 36, 23)'));
    expect(await field(page, 'Sample balance').inputValue()).toBe('5');
    await iphone.getByRole('button', { name: 'Lock screen' }).click();
    await iphone.getByText('Thank you for your visit').waitFor();
    await iphone.getByRole('button', { name: 'Front' }).click();
    await page.frameLocator('iframe').getByLabel('Email').scrollIntoViewIfNeeded();
    await keepScreenshot(page, 'console-designer-desktop', { fullPage: false });
    await publish(page);

    const email = `${crypto.randomUUID()}@example.com`;
    const { appleUrl = '' } = await joinInPublic(real.service, { slug: 'corner-coffee', email, firstName: 'Ada' });
    const phone = real.phone();
    await phone.install(new URL(appleUrl));
    expect(Object(phone.history().at(-1)?.json).backgroundColor).toBe('rgb(59, 36, 23)');

    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await heading(page, 'Members').waitFor();
    await field(page, 'Search').fill(email);
    await page.getByRole('link', { name: 'Ada' }).click();
    await heading(page, 'Ada').waitFor();
    await field(page, 'Message for the lock screen').fill('One more for you');
    await button(page, 'Give a stamp').click();
    await page.getByText('STAMPS: 0 → 1').waitFor();
    await until(() => phone.history().at(-1)?.lockScreen === 'One more for you');
    await keepScreenshot(page, 'console-member-desktop', { fullPage: false });

    await button(page, /^Undo: reverse/).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo' }).click();
    await page.getByText('Undone.', { exact: true }).waitFor();
    await until(() => phone.history().at(-1)?.balance === 0);

    await page.getByRole('link', { name: 'Programs', exact: true }).click();
    await page.getByRole('link', { name: 'Corner Coffee' }).click();
    await field(page, 'Background').fill('#1e3a8a');
    await publish(page, '1 card in use will change.');
    const rebuild = page.getByRole('region', { name: 'Cards in use are updated' });
    await rebuild.getByText('Completed: 1 of 1 card').waitFor();
    await until(() => Object(phone.history().at(-1)?.json).backgroundColor === 'rgb(30, 58, 138)');
    await page.context().close();
  });

  it('shows a new balance on the drawn phones without waiting for the rest of the page', async () => {
    const { id } = await real.merchant.enroll({ firstName: 'Vera', initialPoints: 20 });
    const page = await open(`/members/${id}`);
    const balance = page.getByRole('figure').filter({ hasText: 'iPhone' }).locator('.pass-header');
    await balance.getByText('20', { exact: true }).waitFor();
    const { open: release, opened: released } = aGate();
    await page.route(new RegExp(`/members/${id}$`), async (route) => {
      await released;
      await route.continue();
    });
    await field(page, 'Change of points').fill('5');
    await button(page, 'Change points').click();
    await balance.getByText('25', { exact: true }).waitFor();
    release();
    await page.context().close();
  });

  it('has controls for places, an end and translations, which reach the pass', async () => {
    const page = await open('/programs');
    await newProgram(page, 'Far and wide');
    await field(page, 'Reward for the goal').fill('A coffee');
    await field(page, 'Description').fill('Card of Far and wide');
    await field(page, 'Cards valid until').fill('2030-01-31T12:00');
    await button(page, 'Add a place').click();
    await field(page, 'Latitude').pressSequentially('52.5');
    await field(page, 'Longitude').pressSequentially('13,4');
    await field(page, 'Text on the lock screen').fill('Coffee is near');
    await field(page, 'Monday').fill('09:00-18:00');
    await page.getByText('Google has none').waitFor();
    const picture = join(await mkdtemp(join(tmpdir(), 'drop-')), 'icon.png');
    await writeFile(picture, encodePng(canvas(180, 180), { paper: '#fdba74', ink: '#3b2417' }));
    await dropFile(page, 'Icon', picture);
    await page.getByRole('img', { name: 'Icon', exact: true }).waitFor();
    await page.getByLabel('Another language').selectOption({ label: 'German' });
    const german = page.getByRole('group', { name: 'In German' });
    await german.getByLabel('A coffee', { exact: true }).fill('Ein Kaffee');
    // The service has words of its own for the labels of the card.
    expect(await german.getByLabel('MEMBER', { exact: true }).count()).toBe(0);
    await keepScreenshot(page, 'console-designer-whole-desktop');
    expect(await findBarriers(page)).toEqual([]);
    await publish(page);
    const { passTemplate } = (await real.service.deps.collections.programs.findOne({ slug: 'far-and-wide' })) ?? {};
    expect(passTemplate).toMatchObject({
      description: 'Card of Far and wide',
      locations: [{ latitude: 52.5, longitude: 13.4, relevantText: 'Coffee is near' }],
      openingHours: { monday: '09:00-18:00' },
      locales: { de: { 'A coffee': 'Ein Kaffee' } },
    });
    const icon = readPng(Buffer.from(String(passTemplate?.images.icon), 'base64'));
    expect(icon.ok && [icon.width, icon.height]).toEqual([180, 180]);
    expect(new Date(passTemplate?.expirationDate ?? '').getFullYear()).toBe(2030);
    await page.context().close();
  });

  it('shows every action as a curl line that works', async () => {
    const page = await open('/programs');
    await newProgram(page, 'Curl');
    await openAccount(page);
    await button(page, 'Show as curl').click();
    const calls = page.getByRole('dialog', { name: 'Calls of this tab' });
    await calls
      .locator('summary')
      .filter({ hasText: /POST \/merchants\/me\/programs 201/ })
      .click();
    const line = await calls.getByText(/^curl -X POST '[^']*\/programs' \\/).textContent();
    expect(line).toContain('-H "Authorization: Bearer $SESSION"');
    expect(JSON.parse(/-d '(.*)'$/.exec(line ?? '')?.[1] ?? '')).toMatchObject({ name: 'Curl', style: 'stamps' });
    await page.context().close();
  });

  it('shows the mistakes of a draft at their fields, and restores an older version', async () => {
    const page = await open('/programs');
    await newProgram(page, 'Harbour Books');
    await publish(page);
    await field(page, 'Goal').fill('0');
    await field(page, 'Goal').and(page.locator('[aria-invalid=true]')).waitFor();
    await field(page, 'Web address').fill('Not an address');
    await field(page, 'Web address').and(page.locator('[aria-invalid=true]')).waitFor();
    expect(await page.locator('.pass').count()).toBe(2);
    await field(page, 'Web address').fill('harbour-books');
    await field(page, 'Goal').fill('7');
    await button(page, 'Save').click();
    await page.getByText('Saved as a draft.').waitFor();
    await publish(page);
    await button(page, 'Restore version 1').click();
    await until(async () => (await field(page, 'Goal').inputValue()) === '10');
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('a mistake', () => {
  it('of an import is corrected in place, and its rows are sent again', async () => {
    const page = await open('/programs');
    await newProgram(page, 'Imported');
    await publish(page);
    await page.getByRole('link', { name: 'Imports', exact: true }).click();
    await button(page, 'New import').click();
    await field(page, 'Loyalty card').selectOption({ label: 'Imported' });
    const choose = async (rows: string[]) => {
      const chooser = page.waitForEvent('filechooser');
      await button(page, 'Choose a file').click();
      const file = { name: 'people.csv', mimeType: 'text/csv', buffer: Buffer.from(rows.join('\r\n')) };
      await (await chooser).setFiles(file);
    };
    const wrong = page.getByRole('table', { name: 'Would fail' });
    await choose(['email', ...Array.from({ length: 120 }, (_, index) => `nobody ${index}`)]);
    await button(page, 'Check the file').click();
    const pages = page.getByRole('navigation', { name: 'Pages of Would fail' });
    await pages.getByText('Page 1 of 3, 120 in all').waitFor();
    expect(await wrong.getByRole('row').count()).toBe(51);
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByRole('button', { name: 'Next' }).click();
    await pages.getByText('Page 3 of 3').waitFor();
    expect(await wrong.getByRole('row').last().getByRole('cell').allTextContents()).toEqual([
      '121',
      'email: nobody 119',
      'email: must be an email address',
    ]);
    await choose([
      'Vorname,E-Mail,Stempel,Telefon',
      'Ada,ada.import@example.com,3,ask her',
      'Grace,grace at example.com,4,(030) 12345',
    ]);
    expect(await field(page, 'Vorname').inputValue()).toBe('firstName');
    expect(await field(page, 'E-Mail').inputValue()).toBe('email');
    expect(await field(page, 'Stempel').locator('option:checked').textContent()).toBe('Starting stamps');
    await button(page, 'Check the file').click();
    await page.getByText('nothing was created').first().waitFor();
    await wrong.getByText('grace at example.com').waitFor();
    expect(await wrong.getByRole('columnheader').first().textContent()).toBe('Row in the file');
    expect(await wrong.getByRole('cell').allTextContents()).toEqual([
      '3',
      'E-Mail: grace at example.com',
      'E-Mail: must be an email address',
    ]);
    const leftOut = page.getByRole('table', { name: 'Phone numbers left out' });
    expect(await leftOut.getByRole('cell').allTextContents()).toEqual([
      '2',
      'Telefon: ask her',
      'Telefon: must be a phone number',
    ]);
    await keepScreenshot(page, 'console-import-desktop', { fullPage: false });
    await button(page, 'Import').click();
    await button(page, 'Import 1 person').click();
    await page
      .getByRole('region', { name: 'Result of the import' })
      .getByRole('button', { name: 'Correct failed rows' })
      .click();
    const dialog = page.getByRole('dialog', { name: 'Correct failed rows' });
    await dialog.getByText('E-Mail: must be an email address (“grace at example.com”) – row 3 of the file').waitFor();
    expect(await dialog.getByLabel('E-Mail').getAttribute('aria-invalid')).toBe('true');
    expect(await dialog.getByLabel('Vorname').getAttribute('aria-invalid')).toBe('false');
    await dialog.getByLabel('E-Mail').fill('grace.import@example.com');
    await dialog.getByRole('button', { name: 'Send again' }).click();
    const { members } = real.service.deps.collections;
    await until(
      async () => (await members.countDocuments({ email: /import@example.com$/, balance: { $gt: 2 } })) === 2,
    );
    await page.getByText('Its failed rows were sent again, corrected.').first().waitFor();
    await until(async () => (await button(page, 'Correct failed rows').count()) === 0);
    await page.getByRole('row').filter({ hasText: 'Corrected rows of an earlier import' }).waitFor();
    await button(page, 'Show that import').first().click();
    const later = page.getByRole('dialog', { name: 'Corrected rows of an earlier import' });
    await later.getByText('Completed').waitFor();
    await keepScreenshot(page, 'console-import-repaired-desktop', { fullPage: false });
    await page.context().close();
  });

  it.each(['desktop', 'phone'] as const)(
    'of an import is asked about on a %s: columns that its titles do not decide, and people whom nobody can find again',
    async (screen) => {
      const name = `Asked on a ${screen}`;
      const page = await open('/programs');
      await newProgram(page, name);
      await publish(page);
      await page.setViewportSize(screens[screen].viewport);
      await page.goto(`${real.service.publicUrl}/console/imports`);
      await heading(page, 'Imports').waitFor();
      await button(page, 'New import').click();
      await field(page, 'Loyalty card').selectOption({ label: name });
      const choose = async (lines: string[]) => {
        const chooser = page.waitForEvent('filechooser');
        await button(page, 'Choose a file').click();
        const file = { name: 'kunden.csv', mimeType: 'text/csv', buffer: Buffer.from(lines.join('\r\n')) };
        await (await chooser).setFiles(file);
      };
      const { members, programs } = real.service.deps.collections;
      const { _id: programId = '' } = (await programs.findOne({ name })) ?? {};
      const found = () => members.find({ programId }).sort({ firstName: 1 }).toArray();
      const dialog = page.getByRole('dialog', { name: 'Import 2 people whom nobody can find again?' });

      await choose(['Nom;Prénom;Ville', 'Curie;Marie;Paris', 'Noether;Emmy;Erlangen']);
      expect(await field(page, 'Nom').inputValue()).toBe('lastName');
      await button(page, 'Import').click();
      await dialog.getByText('The file has 2 rows.').waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(await isTooWide(page)).toBe(0);
      await keepScreenshot(page, `console-import-asked-${screen}`, { fullPage: false });
      await page.keyboard.press('Enter');
      await dialog.waitFor({ state: 'detached' });
      expect(await found()).toEqual([]);
      await button(page, 'Import').click();
      await dialog.getByRole('button', { name: 'Import anyway' }).click();
      await until(async () => (await found()).length === 2);

      await button(page, 'New import').click();
      await choose([
        'Vorname;E-Mail-Adresse;Kundennummer;Telefon;Handy',
        `Ada;ada.${screen}@example.com;K-${screen};;+44 20 7946 0958`,
      ]);
      expect(await field(page, 'E-Mail-Adresse').inputValue()).toBe('email');
      expect(await field(page, 'Kundennummer').inputValue()).toBe('externalId');
      await button(page, 'Import').click();
      await page.getByText('Say first what these columns are: Telefon, Handy.').waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await field(page, 'Telefon').selectOption({ label: 'Leave out' });
      await field(page, 'Handy').selectOption({ label: 'Phone' });
      await button(page, 'Import').click();
      await button(page, 'Import 1 person').click();
      await until(async () => (await found()).length === 3);
      expect((await found())[0]).toMatchObject({
        email: `ada.${screen}@example.com`,
        externalId: `K-${screen}`,
        phone: expect.stringContaining('44'),
      });
      await page.context().close();
    },
  );

  it('is ended while it runs: a running import is cancelled, and says so', async () => {
    const rows = 1_000;
    const { batches, members, programs } = real.service.deps.collections;
    const page = await open('/programs');
    await newProgram(page, 'Cancelled');
    await publish(page);
    await page.getByRole('link', { name: 'Imports', exact: true }).click();
    await button(page, 'New import').click();
    await field(page, 'Loyalty card').selectOption({ label: 'Cancelled' });
    const chooser = page.waitForEvent('filechooser');
    await button(page, 'Choose a file').click();
    const buffer = Buffer.from(csvOf(rows, 'cancelled'));
    await (await chooser).setFiles({ name: 'many.csv', mimeType: 'text/csv', buffer });
    const { _id: programId = '' } = (await programs.findOne({ name: 'Cancelled' })) ?? {};
    const own = page.getByRole('row').filter({ hasText: 'Cancelled' });
    const worker = await startTestWorker(real.service);
    await real.service.stopWorker();
    try {
      await button(page, 'Import').click();
      await page.getByRole('button', { name: /^Import [\d,]+ people$/ }).click();
      const { _id: batchId } = await until(() => batches.findOne({ programId, phase: 'queued' }));
      // One step of a worker that stops. The import stays in its middle until there is a worker again.
      const stopped = AbortSignal.abort();
      const running = new AbortController().signal;
      const step = { batchId, from: 0, shutdownSignal: stopped, cancellationSignal: running };
      await until(() => createImported(worker.deps, step), { throwingIsNo: true });
      await own.getByText('Adding members').waitFor();
      await own.getByRole('button', { name: 'Cancel' }).click();
      await until(() => batches.findOne({ programId, cancelRequestedAt: { $exists: true } }));
    } finally {
      await worker.close();
      await real.service.startWorker();
    }
    await own.getByText('It was cancelled before its end.').waitFor();
    const created = await members.countDocuments({ programId });
    expect(created).toBeGreaterThan(0);
    expect(created).toBeLessThan(rows);
    await page.context().close();
  });

  it('of a receiver is shown with its answer, and missed events are sent again', async () => {
    const receiver = await startReceiver();
    receiver.setResponder(status(500));
    const page = await open('/webhooks');
    await button(page, 'New webhook').click();
    await field(page, 'URL').fill(receiver.url);
    await field(page, 'Name').fill('Till system');
    await button(page, 'Create').click();
    await page
      .getByRole('dialog', { name: 'The secret of this webhook' })
      .getByText(/^whsec_/)
      .waitFor();
    await button(page, 'I have stored it').click();
    await page.getByRole('row').filter({ hasText: 'Till system' }).getByText('Not tried yet').waitFor();
    await page.getByRole('link', { name: 'Till system' }).click();
    await button(page, 'Test').click();
    await page.getByRole('cell', { name: '500' }).first().waitFor();
    receiver.setResponder(ok());
    await button(page, 'Replay').first().click();
    await page.getByRole('cell', { name: '204' }).first().waitFor();
    await button(page, 'Payload').first().click();
    await page.getByRole('dialog', { name: 'points.changed' }).getByText('"test": true').waitFor();
    await keepScreenshot(page, 'console-webhook-desktop', { fullPage: false });
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();

    receiver.setResponder(status(410));
    await button(page, 'Test').click();
    await page.getByText('The receiver answered 410 Gone, so it was disabled.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    receiver.setResponder(ok());
    const before = receiver.requests.length;
    await button(page, 'Enable').click();
    await page.getByText('Enabled.', { exact: true }).waitFor();
    await real.merchant.enroll({ firstName: 'Tilly' });
    const deliveriesOf = (type: string) => page.getByRole('row').filter({ hasText: type });
    await deliveriesOf('member.created').first().waitFor();
    expect(await deliveriesOf('member.created').getByText('test', { exact: true }).count()).toBe(0);
    expect(await deliveriesOf('points.changed').first().getByText('test', { exact: true }).count()).toBe(1);
    await button(page, 'Replay the period').click();
    await page.getByText('The replay has started.').waitFor();
    await until(() => receiver.requests.length > before);
    await page.context().close();
    await receiver.stop();
  });

  it('of a webhook keeps in the form what was saved, also for the next change', async () => {
    const hook = await real.merchant.call('/merchants/me/webhooks', {
      body: { url: 'http://127.0.0.1:9/hook', events: ['batch.failed'] },
    });
    const page = await open(`/webhooks/${hook.body.data.id}`);
    await field(page, 'URL').fill('http://127.0.0.1:9/second');
    await button(page, 'Save').click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    expect(await field(page, 'URL').inputValue()).toBe('http://127.0.0.1:9/second');
    await field(page, 'Attempts').fill('3');
    await button(page, 'Save').click();
    const saved = () => real.merchant.call(`/merchants/me/webhooks/${hook.body.data.id}`);
    await until(async () => (await saved()).body.data.retryPolicy.maxAttempts === 3);
    expect((await saved()).body.data.url).toBe('http://127.0.0.1:9/second');
    await page.context().close();
  });

  it('of a webhook offers who may not read members nothing that sends their data elsewhere, and says why', async () => {
    const { merchant, service } = real;
    const hook = await merchant.call('/merchants/me/webhooks', {
      body: { url: 'http://127.0.0.1:9/hook', events: ['points.changed'] },
    });
    const { id } = hook.body.data;
    const permissions = everyPermission.filter((one) => one !== 'merchants.members:view');
    await service.deps.collections.roles.insertOne({
      _id: id,
      merchantId: merchant.id,
      name: 'Marketing',
      permissions: [...permissions],
    });
    const page = await open(`/webhooks/${id}`, screens.desktop, id);
    await merchant.call(`/merchants/me/webhooks/${id}/test`, { method: 'POST' });
    const reason = 'Your role does not allow this (merchants.members:view)';
    await page.getByRole('region', { name: 'Replay a period' }).getByText(reason).waitFor();
    await page.getByRole('region', { name: 'Change' }).getByText(reason).waitFor();
    for (const name of ['Rotate secret', 'Replay']) expect(await button(page, name).isDisabled()).toBe(true);
    expect(await field(page, 'URL').isDisabled()).toBe(true);
    await field(page, 'Attempts').fill('4');
    await button(page, 'Save').click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await page.goto(`${service.publicUrl}/console/webhooks`);
    await page.getByText(reason).waitFor();
    expect(await field(page, 'URL').count()).toBe(0);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('a campaign', () => {
  it('is counted before it is sent, reaches the lock screen, and is followed to its end', async () => {
    const page = await open('/programs');
    await newProgram(page, 'Campaigned');
    await publish(page);
    const email = `${crypto.randomUUID()}@example.com`;
    const { appleUrl = '' } = await joinInPublic(real.service, { slug: 'campaigned', email });
    const phone = real.phone();
    await phone.install(new URL(appleUrl));

    await page.getByRole('link', { name: 'Campaigns', exact: true }).click();
    await button(page, 'New campaign').click();
    await field(page, 'Loyalty card').selectOption({ label: 'Campaigned' });
    await page.getByText('Goes to 1 active member, 1 with the card on a phone.').waitFor();
    await field(page, 'With all of these tags').fill('vip');
    await page.getByText('Goes to 0 active members, 0 with the card on a phone.').waitFor();
    await field(page, 'With all of these tags').fill('');
    await field(page, 'Message').fill('Cake for everybody');
    await page.getByRole('region', { name: 'On the lock screen' }).getByText('Cake for everybody').waitFor();
    await page.getByText('Goes to 1 active member, 1 with the card on a phone.').waitFor();
    await keepScreenshot(page, 'console-campaign-desktop', { fullPage: false });
    await button(page, 'Send').click();
    const dialog = page.getByRole('dialog', { name: 'Send this message?' });
    await dialog.getByText('Goes to 1 active member, 1 with the card on a phone.').waitFor();
    await dialog.getByRole('button', { name: 'Send' }).click();
    await until(() => phone.history().at(-1)?.lockScreen === 'Cake for everybody');
    const sent = page.getByRole('row').filter({ hasText: 'Cake for everybody' });
    await sent.getByText('Completed').waitFor();
    await sent.getByRole('cell', { name: 'Campaigned', exact: true }).waitFor();
    expect(await page.getByRole('columnheader', { name: 'Actions' }).count()).toBe(0);
    expect(await sent.locator('td.number').allTextContents()).toEqual(['1', '1', '0', '0']);

    await button(page, 'New campaign').click();
    expect(await field(page, 'Message').inputValue()).toBe('');
    expect(await field(page, 'Loyalty card').locator('option:checked').textContent()).toBe('Campaigned');
    await field(page, 'Who gets it').selectOption({ label: 'Away for 30 days' });
    await page.getByText('Goes to 0 active members, 0 with the card on a phone.').waitFor();
    await field(page, 'Message').fill('We miss you');
    await field(page, 'Send at').fill(`${new Date().getFullYear() + 1}-01-01T10:30`);
    await page.setViewportSize({ width: 390, height: 844 });
    await keepScreenshot(page, 'console-campaign-planned-phone', { fullPage: true });
    await button(page, 'Plan').click();
    const plan = page.getByRole('dialog', { name: 'Plan this message?' });
    await plan.getByText('It is sent on').waitFor();
    await plan.getByRole('button', { name: 'Plan' }).click();
    await page.getByText('The campaign is planned.').waitFor();
    const planned = page.getByRole('row').filter({ hasText: 'We miss you' });
    await planned.getByText('Planned').waitFor();
    await planned.getByText('Who gets it: Away for 30 days').waitFor();
    await planned.getByRole('button', { name: 'Cancel' }).click();
    await planned.getByText('Cancelled', { exact: true }).waitFor();
    await planned.getByText('Nothing was sent.').waitFor();
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('a person', () => {
  it('is exported, and erased after a warning of the consequences', async () => {
    const { id } = await real.merchant.enroll({ firstName: 'Linus', lastName: 'Lost', initialPoints: 20 });
    const page = await open(`/members/${id}`);
    await heading(page, 'Linus Lost').waitFor();
    await field(page, 'Phone').fill('+49 30 123456');
    await page.getByRole('region', { name: 'Name and contact' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    const { body } = await real.merchant.call(`/merchants/me/members/${id}`);
    expect(body.data).toMatchObject({ firstName: 'Linus', lastName: 'Lost', phone: '+49 30 123456' });
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Member changed' }).getByRole('link', { name: 'Linus Lost' }).click();
    await heading(page, 'Linus Lost').waitFor();
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export all that is kept' }).click();
    expect(await readFile(await (await download).path(), 'utf8')).toContain('Linus');
    await button(page, 'Delete for good').click();
    const dialog = page.getByRole('dialog', { name: 'Delete Linus Lost for good?' });
    await dialog.getByText('the balance: 20 points').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Delete for good' }).click();
    await heading(page, 'Members').waitFor();
    expect((await real.merchant.call(`/merchants/me/members/${id}`)).status).toBe(404);
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await field(page, 'Action').selectOption({ label: 'Member deleted for good' });
    await page
      .getByRole('row')
      .filter({ hasText: 'Member deleted for good' })
      .getByTitle(id)
      .getByText(id.slice(0, 8))
      .waitFor();
    expect(await page.getByText('Linus').count()).toBe(0);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('who did something', () => {
  it('is shown in the ledger: an import is named, and a click opens it', async () => {
    const { members } = real.service.deps.collections;
    const { id } = await real.merchant.enroll({ firstName: 'Vera' });
    const { programId = '' } = (await members.findOne({ _id: id })) ?? {};
    await sendImport(real.merchant, { programId, file: 'firstName,initialPoints\r\nIva Imported,3\r\n' });
    const { _id = '' } = (await until(() => members.findOne({ firstName: 'Iva Imported' }))) ?? {};
    const page = await open(`/members/${_id}`);
    const row = page
      .getByRole('table', { name: /and rewards$/ })
      .getByRole('row')
      .filter({ hasText: 'Starting balance' });
    await row.getByRole('button', { name: 'Import' }).click();
    const dialog = page.getByRole('dialog', { name: 'Import' });
    await dialog.getByText('Completed').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await page.context().close();
  });

  it('is shown at an API key: the email of its creator, or "You"', async () => {
    const page = await open('/api-keys');
    const create = async (name: string) => {
      await button(page, 'New key').click();
      await field(page, 'Name').fill(name);
      await button(page, 'Create').click();
      await button(page, 'I have stored it').click();
    };
    const by = (name: string) => page.getByRole('row').filter({ hasText: name }).getByRole('cell').nth(3);
    await create('Without a user');
    await until(async () => (await by('Without a user').textContent()) === 'You');
    const user = await aUser(real.service.deps, { merchantId: real.merchant.id });
    await page.goto(`${real.service.publicUrl}/console/sign-in/${await aLink(real.service.deps, user)}`);
    await page.getByRole('button').click();
    await heading(page, 'Overview').waitFor();
    await page.getByRole('link', { name: 'API keys', exact: true }).click();
    await create('With a user');
    await until(async () => (await by('With a user').textContent()) === user.email);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('a role of the merchant', () => {
  it('is shown by its name at keys, people and in the audit, and as deleted when it is gone', async () => {
    const { deps } = real.service;
    const merchantId = real.merchant.id;
    const session = { Authorization: `Bearer ${await real.merchant.token({ roleIds: ['owner'] })}` };
    const create = async (name: string): Promise<string> => {
      const body = { name, permissions: ['merchants.members:view'] };
      const answer = await real.merchant.call('/merchants/me/roles', { body, credential: session });
      return answer.body.data.id;
    };
    const [staff, gone] = [await create('Käsetheke'), await create('Summer jobs')];
    const roleIds = [staff, gone];
    await createApiKey(deps, { merchantId, name: 'Counter', createdBy: 'test', roleIds, checkGrant: () => {} });
    const one = await aUser(deps, { merchantId, email: 'one@example.com', roleIds: [gone] });
    const both = await aUser(deps, { merchantId, email: 'both@example.com', roleIds });
    await real.merchant.call(`/merchants/me/roles/${gone}`, { method: 'DELETE', credential: session });
    const page = await open('/api-keys');
    await page.getByRole('row').filter({ hasText: 'Counter' }).getByText('Käsetheke, A deleted role').waitFor();
    await page.getByRole('link', { name: 'People', exact: true }).click();
    const shown = (email: string) => field(page, `Role of ${email}`).locator('option:checked');
    await shown(both.email).filter({ hasText: 'Käsetheke, A deleted role' }).waitFor({ state: 'attached' });
    expect(await shown(one.email).textContent()).toBe('A deleted role');
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await page.getByRole('row').filter({ hasText: 'Role created' }).getByText('Käsetheke').waitFor();
    expect(await page.getByText(staff).count()).toBe(0);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('an obstacle', () => {
  it('a mistake is marked at its field, and pointed to without the names of the API', async () => {
    const { id } = await real.merchant.enroll({ firstName: 'Mia', initialPoints: 20 });
    const page = await open(`/members/${id}`);
    await field(page, 'Email').fill('mia at example.com');
    await button(page, 'Save').click();
    await page.getByText('must be an email address').waitFor();
    await until(() => page.evaluate("document.activeElement.matches('[name=email][aria-invalid=true]')"));
    expect(await page.locator('.notice.failed').count()).toBe(0);
    await field(page, 'Change of points').fill('-5');
    await button(page, 'Change points').click();
    await button(page, /^Undo: reverse/)
      .first()
      .click();
    const dialog = page.getByRole('dialog', { name: 'Undo this entry?' });
    await dialog.getByLabel('Reason').fill('x'.repeat(1_000));
    await dialog.getByRole('button', { name: 'Undo' }).click();
    await dialog.getByLabel('Reason').and(page.locator('[aria-invalid=true]')).waitFor();
    await page.context().close();
  });

  it('a failure is said until its action runs again or its page is left', async () => {
    const { id } = await real.merchant.enroll({ firstName: 'Mia', initialPoints: 20 });
    const page = await open(`/members/${id}`);
    const failure = page.locator('.notice.failed');
    const body = { success: false, error: { code: 'MEMBER_NOT_ACTIVE', message: 'The card is not active.' } };
    const refuse = () => page.route('**/points', (route) => route.fulfill({ status: 409, json: body }));
    await refuse();
    await field(page, 'Change of points').fill('5');
    await button(page, 'Change points').click();
    await failure.waitFor();
    await page.unroute('**/points');
    await button(page, 'Change points').click();
    await page.getByText('POINTS: 20 → 25').waitFor();
    expect(await failure.count()).toBe(0);
    await refuse();
    await button(page, '+1').click();
    await failure.waitFor();
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await heading(page, 'Audit').waitFor();
    expect(await failure.count()).toBe(0);
    await page.context().close();
  });

  it('an expired session asks to sign in again and keeps what was typed', async () => {
    const page = await open('/programs');
    await newProgram(page, 'Before');
    await field(page, 'Name').fill('Typed');
    await until(() => button(page, 'Save').isEnabled());
    await page.context().clearCookies();
    // Answered before the new session, with which it would be saved.
    const refused = page.waitForResponse((answer) => answer.request().method() === 'PATCH' && answer.status() === 401);
    // Not a real click: the request for a preview may have opened the dialog already.
    await button(page, 'Save').dispatchEvent('click');
    await refused;
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await signIn(page);
    await dialog.getByRole('button', { name: 'I have signed in' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await field(page, 'Name').inputValue()).toBe('Typed');
    await button(page, 'Save').click();
    await page.getByText('Saved as a draft.').waitFor();
    await page.context().close();
  });

  it('without a session, and after signing out, the sign-in page is shown', async () => {
    const page = await browser.open(`${real.service.publicUrl}/console/members`, screens.desktop);
    await page.waitForURL('**/console/sign-in');
    const user = await aUser(real.service.deps, { merchantId: real.merchant.id });
    await page.goto(`${real.service.publicUrl}/console/sign-in/${await aLink(real.service.deps, user)}`);
    await page.getByRole('button').click();
    await heading(page, 'Overview').waitFor();
    await page.getByRole('link', { name: 'People', exact: true }).click();
    await page.getByRole('cell', { name: user.email, exact: true }).waitFor();
    await button(page, 'Invite somebody').click();
    await field(page, 'Email').fill('grace@example.com');
    expect(await button(page, 'Invite').isDisabled()).toBe(true);
    await field(page, 'Role').selectOption('manager');
    await page.getByText('May do everything but invite people').waitFor();
    await button(page, 'Invite').click();
    await page.getByRole('cell', { name: 'grace@example.com', exact: true }).waitFor();
    await openAccount(page);
    await button(page, 'Sign out').click();
    await page.waitForURL('**/console/sign-in');
    await page.context().close();
  });

  it('removing a person, or changing the role, asks what becomes of the API keys that they made', async () => {
    const { deps } = real.service;
    const merchantId = real.merchant.id;
    const maker = await aUser(deps, { merchantId, email: 'maker@example.com', roleIds: ['manager'] });
    const made = { merchantId, createdBy: maker._id, roleIds: ['viewer'], checkGrant: () => {} };
    const { row } = await createApiKey(deps, { ...made, name: 'Cash desk' });
    const revokedAt = async () => (await deps.collections.apiKeys.findOne({ _id: row._id }))?.revokedAt;
    const page = await open('/programs');
    // Nothing can be done before it is known whether there are keys.
    await page.route('**/auth/api-keys', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      await route.continue();
    });
    await page.goto(`${real.service.publicUrl}/console/people`);
    const dialog = page.getByRole('dialog');
    await field(page, `Role of ${maker.email}`).selectOption({ label: 'Can look' });
    await dialog.getByText('They made API keys that still work: Cash desk.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.getByRole('button', { name: 'Change' }).click();
    await page.getByText('The role is changed. They made API keys that still work: Cash desk.').waitFor();
    expect(await revokedAt()).toBeUndefined();
    await button(page, `Remove ${maker.email}`).click();
    await field(page, 'These keys').selectOption({ label: 'stop working at once' });
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await revokedAt()).toBeInstanceOf(Date);
    await page.context().close();
  });

  it('an unavailable service is reported and retried, and what was typed survives a reload', async () => {
    const page = await open('/programs');
    await button(page, 'New loyalty card').click();
    await field(page, 'Name').fill('Half a word');
    await page.route('**/api/v1/**', (route) => route.abort());
    await page.route('**/readyz', (route) => route.abort());
    await button(page, 'Create').click();
    await page.getByText('Trying again every two seconds').waitFor();
    await page.unrouteAll();
    await page.getByText('Trying again every two seconds').waitFor({ state: 'detached' });
    await page.reload();
    await button(page, 'New loyalty card').click();
    expect(await field(page, 'Name').inputValue()).toBe('Half a word');
    await page.context().close();
  });

  it('a page that cannot load while the service is away says so, and is loaded when the service is back', async () => {
    const page = await open('/readers');
    await heading(page, 'Readers').waitFor();
    for (const path of ['**/console/assets/members-*.js', '**/api/v1/**', '**/readyz'])
      await page.route(path, (route) => route.abort());
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await page.getByRole('alert').getByText('Trying again every two seconds').waitFor();
    expect(await page.getByText('The console was updated').count()).toBe(0);
    await page.unrouteAll();
    await heading(page, 'Members').waitFor();
    await page.context().close();
  });

  it('an old tab whose scripts are gone asks for a reload', async () => {
    const page = await open('/readers');
    await heading(page, 'Readers').waitFor();
    await page.route('**/console/assets/members-*.js', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await page.getByRole('alert').getByText('The console was updated').waitFor();
    await page.unrouteAll();
    await button(page, 'Reload').click();
    await heading(page, 'Members').waitFor();
    await page.context().close();
  });

  it('when two tabs edit one program, the second one is warned of the conflict and can decide', async () => {
    const one = await open('/programs');
    await newProgram(one, 'Two tabs');
    const other = await one.context().newPage();
    await other.goto(one.url());
    await field(other, 'Goal').fill('5');
    await field(one, 'Goal').fill('6');
    await button(one, 'Save').click();
    await one.getByText('Saved as a draft.').waitFor();
    await button(other, 'Save').click();
    await button(other, 'Keep my changes over theirs').click();
    await button(other, 'Save').click();
    await other.getByText('Saved as a draft.').waitFor();
    await one.reload();
    await until(async () => (await field(one, 'Goal').inputValue()) === '5');
    await one.context().close();
  });
});

/** Words that are broken inside, between two letters. */
const brokenWords = `[...document.querySelectorAll('td, th, dd, dt, h1, h2, .button, .badge')].flatMap((element) => {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (node.parentElement.closest('select, label, .unseen')) continue;
    for (const { 0: word, index } of node.data.matchAll(/[A-Za-z0-9]{2,}/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) found.push(word);
    }
  }
  return found;
})`;

/** The names of buttons of two lines. */
const brokenButtons = `[...document.querySelectorAll('.button')].filter((button) => button.offsetHeight > 55).map((button) => button.textContent)`;

const menuOf = (page: Page) => page.getByRole('navigation', { name: 'Pages' }).locator('a').allTextContents();

const pages = [
  ['/', 'Overview'],
  ['/members', 'Members'],
  ['/campaigns', 'Campaigns'],
  ['/programs', 'Programs'],
  ['/imports', 'Imports'],
  ['/readers', 'Readers'],
  ['/people', 'People'],
  ['/webhooks', 'Webhooks'],
  ['/requests', 'Requests'],
  ['/api-keys', 'API keys'],
  ['/audit', 'Audit'],
  ['/live-desk', 'Live desk'],
] as const;

/**
 * Waits until each part of the page has its content, and each plot is drawn. Asked from outside: a page may not evaluate
 * a text again and again by itself.
 */
const settled = (page: Page) =>
  until(() =>
    page.evaluate(
      "!document.querySelector('.skeleton') && [...document.querySelectorAll('.plot')].every((plot) => plot.querySelector('canvas'))",
    ),
  );

describe.runIf(hasBrowser)('each page', () => {
  /** What is wrong with how the page looks now. */
  async function wrongWith(page: Page): Promise<string[]> {
    const overflow = await isTooWide(page);
    const broken = (await page.evaluate(brokenWords)) as string[];
    return [
      ...(await findBarriers(page)),
      ...(overflow === 0 ? [] : [`${overflow} pixels too wide`]),
      ...broken.map((word) => `${word} is broken`),
    ];
  }

  /** Opens each page for both screens, each in other colors; `see` returns what is wrong with it. */
  async function inBothLooks(
    looks: readonly (readonly ['desktop' | 'phone', 'light' | 'dark'])[],
    paths: readonly string[],
    see: (page: Page, path: string) => Promise<string[]>,
  ): Promise<void> {
    // As a phone, which can also be wide.
    const page = await open('/members', screens.phone);
    await heading(page, 'Members').waitFor();
    const wrong: string[] = [];
    for (const [screen, colorScheme] of looks) {
      await page.setViewportSize(screens[screen].viewport);
      await page.emulateMedia({ colorScheme });
      for (const path of paths) {
        await goInConsole(page, path);
        wrong.push(...(await see(page, path)).map((found) => `${path} on a ${screen} in ${colorScheme}: ${found}`));
        await keepScreenshot(page, `console-${path.split('/')[1] || 'overview'}-${screen}-${colorScheme}`);
      }
    }
    expect(wrong).toEqual([]);
    await page.context().close();
  }

  it('has one heading and no barrier, and fits a desktop in light and a phone in dark', async () => {
    const looks = [
      ['desktop', 'light'],
      ['phone', 'dark'],
    ] as const;
    const titles = new Map<string, string>(pages);
    await inBothLooks(looks, [...titles.keys()], async (page, path) => {
      await heading(page, titles.get(path) ?? '').waitFor();
      await settled(page);
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1);
      return wrongWith(page);
    });
  });

  it('of a program, a member, a webhook and a request has no barrier, and fits both screens', async () => {
    const { id } = await real.merchant.enroll({ firstName: 'Grace', initialPoints: 20 });
    const points = { method: 'PATCH', body: { delta: 5, reference: 'R-17' } };
    const changed = await real.merchant.call(`/merchants/me/members/${id}/points`, points);
    const request = `/requests/${changed.headers.get('x-request-id')}`;
    const { body } = await real.merchant.call('/merchants/me/programs');
    const hook = await real.merchant.call('/merchants/me/webhooks', {
      body: { url: 'http://127.0.0.1:9/hook', events: ['batch.failed'] },
    });
    const looks = [
      ['desktop', 'dark'],
      ['phone', 'light'],
    ] as const;
    const paths = [`/programs/${body.data[0]._id}`, `/members/${id}`, `/webhooks/${hook.body.data.id}`, request];
    await inBothLooks(looks, paths, async (page) => {
      await page.locator('.pass, .facts').first().waitFor();
      await settled(page);
      const broken = (await page.evaluate(brokenButtons)) as string[];
      return [...(await wrongWith(page)), ...broken.map((name) => `${name} is broken`)];
    });
  });

  it('leads from an entry of a ledger to its request, and from an id to what followed', async () => {
    const { id } = await real.merchant.enroll({ firstName: 'Grace' });
    const points = { method: 'PATCH', body: { delta: 5, reference: 'R-17', changeMessage: 'Thanks' } };
    const changed = await real.merchant.call(`/merchants/me/members/${id}/points`, points);
    const requestId = changed.headers.get('x-request-id') ?? '';
    const page = await open(`/members/${id}`);
    await page
      .getByRole('region', { name: /and rewards$/ })
      .getByRole('link', { name: 'Request' })
      .click();
    await heading(page, 'Requests').waitFor();
    await page.getByRole('link', { name: requestId }).click();
    await heading(page, 'Request').waitFor();
    const followed = page.getByRole('region', { name: 'What followed' });
    await followed.getByText('points.changed').first().waitFor();
    await page.getByText('"changeMessage": "***"').waitFor();
    await page.goto(`${real.service.publicUrl}/console/requests`);
    await field(page, 'Request id').fill(requestId);
    await page.getByRole('button', { name: 'Look up' }).click();
    await followed.getByText('points.changed').first().waitFor();
    await page.context().close();
  });

  it('shows its frame and a placeholder for each part while it loads', async () => {
    const page = await browser.open('about:blank', screens.desktop);
    await signIn(page);
    await newProgram(page, 'Stamped');
    await publish(page);
    const { open: answer, opened: held } = aGate();
    await page.route('**/merchants/me/stats*', async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${real.service.publicUrl}/console`);
    const numbers = page.getByRole('region', { name: 'At a glance' });
    await numbers.getByText('Loading…').waitFor();
    await keepScreenshot(page, 'console-overview-loading-desktop', { fullPage: false });
    answer();
    await numbers.getByText('Visits today').waitFor();
    await field(page, 'Loyalty card').selectOption({ label: 'Stamped' });
    await page.getByRole('heading', { level: 2, name: 'Rewards', exact: true }).waitFor();
    await page.context().close();
  });

  it('shows its list on the first screen of a phone, and its forms when they are asked for', async () => {
    const { body } = await real.merchant.call('/merchants/me/programs');
    await sendImport(real.merchant, { programId: body.data[0]._id, file: csvOf(1, 'listed') });
    const page = await open('', screens.phone);
    for (const path of ['/programs', '/members', '/imports', '/audit']) {
      await page.goto(`${real.service.publicUrl}/console${path}`);
      const row = page.getByRole('row').nth(1);
      await row.waitFor();
      const box = await row.boundingBox();
      expect([path, (box?.y ?? 844) + (box?.height ?? 844) < 844]).toEqual([path, true]);
    }
    await page.goto(`${real.service.publicUrl}/console/programs`);
    expect(await field(page, 'Name').isVisible()).toBe(false);
    await button(page, 'New loyalty card').click();
    await field(page, 'Name').fill('By phone');
    await page.context().close();
  });

  it('has an address, shows a viewer its content there or names the permission that is missing, and leaves it out of the menu', async () => {
    const { id } = await real.merchant.enroll({ firstName: 'Vera', initialPoints: 20 });
    const { body } = await real.merchant.call('/merchants/me/programs');
    const hook = await real.merchant.call('/merchants/me/webhooks', {
      body: { url: 'http://127.0.0.1:9/hook', events: ['batch.failed'] },
    });
    const [program, member] = [`/programs/${body.data[0]._id}`, `/members/${id}`];
    const page = await open('', screens.desktop, 'viewer');
    const [broken, refused] = [[] as string[], new Set<string>()];
    page.on('pageerror', (error) => broken.push(error.message));
    page.on('response', (answer) => answer.status() === 403 && refused.add(new URL(answer.url()).pathname));
    const lacks = page.getByText('Your role does not allow this').first();
    const closed = ['/api-keys', '/readers'];
    const titles = new Map<string, string | RegExp>([...pages, [member, /^Vera\b/]]);
    for (const path of [...titles.keys(), program, `/webhooks/${hook.body.data.id}`]) {
      await page.goto(`${real.service.publicUrl}/console${path}`);
      await page.getByRole('heading', { level: 1, name: titles.get(path) ?? /\w/, exact: true }).waitFor();
      await page.waitForLoadState('networkidle');
      if (closed.includes(path)) await lacks.waitFor();
      if ([program, member].includes(path)) await page.locator('.pass').nth(1).waitFor();
      await keepScreenshot(page, `console-viewer${path.replaceAll('/', '-').slice(0, 14)}`);
    }
    // The log of requests is opened from the webhooks.
    // The live desk is the owner's.
    const unlisted = [...closed, '/requests', '/live-desk'];
    expect(await menuOf(page)).toEqual(pages.flatMap(([path, title]) => (unlisted.includes(path) ? [] : [title])));
    expect(broken).toEqual([]);
    expect([...refused].sort()).toEqual(['/api/v1/auth/api-keys', '/api/v1/merchants/me/readers']);
    await page.context().close();
  });

  it('shows somebody who works at the till only the way to it', async () => {
    const { id } = await real.merchant.enroll({ firstName: 'Vera' });
    const page = await open('', screens.phone, 'till');
    const refused: string[] = [];
    page.on('response', (answer) => answer.status() === 403 && refused.push(answer.url()));
    for (const path of ['', '/members', `/members/${id}`, '/readers']) {
      await page.goto(`${real.service.publicUrl}/console${path}`);
      await heading(page, 'Till').waitFor();
      const link = page.getByRole('main').getByRole('link');
      expect(await link.allTextContents()).toEqual(['Open the till']);
      expect(await link.getAttribute('href')).toBe(`${real.service.publicUrl}/till`);
      expect(await menuOf(page)).toEqual([]);
      await openAccount(page);
      expect(await page.getByRole('button').allTextContents()).toEqual([expect.stringMatching(/^Account/), 'Sign out']);
    }
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'console-till-phone');
    expect(refused).toEqual([]);
    await page.context().close();
  });

  it('opens the first page that a role may see in place of a start page that it may not', async () => {
    const permissions = ['merchants.programs:view' as const, 'audit:view' as const];
    const { roles } = real.service.deps.collections;
    await roles.insertOne({ _id: 'role-design', merchantId: real.merchant.id, name: 'Design', permissions });
    const page = await open('', screens.desktop, 'role-design');
    await heading(page, 'Programs').waitFor();
    expect(await menuOf(page)).toEqual(['Programs', 'Audit']);
    await page.context().close();
  });

  it('of a member begins on a phone with the balance and what changes it, and the last change is undone', async () => {
    const program = await real.merchant.program({
      ...{ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 3, rewardName: 'Coffee' },
    });
    const { id } = await real.merchant.enroll({ programId: program._id, firstName: 'Cora' });
    const page = await open(`/members/${id}`, screens.phone);
    const isOnFirstScreen = async (name: string) => {
      const box = await button(page, name).boundingBox();
      return box !== null && box.y + box.height < screens.phone.viewport.height;
    };
    const balance = page.getByRole('region', { name: 'Stamps', exact: true }).locator('.balance');
    await button(page, '+1').click();
    await page.getByText('STAMPS: 0 → 1').waitFor();
    await button(page, '+2').click();
    await page.getByText('STAMPS: 1 → 3').waitFor();
    await until(async () => (await balance.textContent()) === '3 STAMPS');
    for (const name of ['+1', '+2', '+3', 'Undo +2', 'Give a stamp', 'Redeem Coffee'])
      expect([name, await isOnFirstScreen(name)]).toEqual([name, true]);
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'console-member-counter-phone', { fullPage: false });
    await button(page, 'Redeem Coffee').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Redeem' }).click();
    await page
      .getByRole('region', { name: 'Stamps', exact: true })
      .getByRole('button', { name: 'Undo: Coffee' })
      .click();
    await page.getByText('Undone: Coffee.').waitFor();
    await until(async () => (await balance.textContent()) === '3 STAMPS');
    await page.context().close();
  });

  it('is reached by keyboard, and gets the focus on its heading', async () => {
    const page = await open('/readers');
    await heading(page, 'Readers').waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content');
    await page.getByRole('link', { name: 'Webhooks', exact: true }).focus();
    await page.keyboard.press('Enter');
    await heading(page, 'Webhooks').waitFor();
    await until(async () => (await page.evaluate('document.activeElement.textContent')) === 'Webhooks');
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('the served console', () => {
  it('is not bundled again while its sources are the same', async () => {
    expect(await buildConsole()).toBe(false);
  });

  it('is less than 300 kB compressed at the first load, without third parties and without anything the policy refuses', async () => {
    const page = await browser.open('about:blank', screens.desktop);
    await signIn(page);
    let bytes = 0;
    const origins = new Set<string>();
    const refused: string[] = [];
    page.on('response', async (response) => {
      origins.add(new URL(response.url()).origin);
      if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
      bytes += Number(response.headers()['content-length'] ?? 0);
    });
    page.on('console', (message) => /Content.Security.Policy/i.test(message.text()) && refused.push(message.text()));
    await real.merchant.enroll({ firstName: 'Ada' });
    const { events } = real.service.deps.collections;
    await until(async () => (await events.countDocuments({ state: 'new' })) === 0);
    await page.goto(`${real.service.publicUrl}/console`);
    await heading(page, 'Overview').waitFor();
    await page.waitForLoadState('networkidle');
    await page.locator('.plot canvas').nth(2).waitFor();
    expect(await page.locator('.plot canvas').count()).toBe(await page.locator('.plot').count());
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(300_000);
    expect([...origins]).toEqual([real.service.publicUrl]);
    expect(refused).toEqual([]);
    await page.context().close();
  });

  it('is a page that is not cached and has a strict policy, and assets that are cached', async () => {
    const answer = await fetch(`${real.service.publicUrl}/console/members`);
    const policy = answer.headers.get('content-security-policy') ?? '';
    expect(policy).not.toMatch(/unsafe|\*|https?:/);
    expect(policy).toMatch(/script-src 'self';/);
    expect(answer.headers.get('cache-control')).toBe('no-cache');
    const text = await answer.text();
    const nonce = /'nonce-([^']+)'/.exec(policy)?.[1] ?? 'none';
    expect(text).toContain(`nonce="${nonce}"`);
    expect(await (await fetch(`${real.service.publicUrl}/console`)).text()).not.toContain(nonce);
    const script = /src="(assets\/[^"]+)"/.exec(text)?.[1];
    const asset = await fetch(`${real.service.publicUrl}/console/${script}`);
    expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(asset.headers.get('content-encoding')).toBe('gzip');
    const files = (await readdir('dist/console/assets')).filter((file) => !file.endsWith('.gz'));
    for (const file of files)
      expect([file, (await fetch(`${real.service.publicUrl}/console/assets/${file}`)).status]).toEqual([file, 200]);
    for (const gone of ['assets/console-GONE.js', 'assets/..%2Findex.html', 'assets/sources'])
      expect((await fetch(`${real.service.publicUrl}/console/${gone}`)).status).toBe(404);
  });
});
