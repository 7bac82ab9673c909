// The console's page of readers, in a real browser: a device is added, paired by its code, changed and revoked, and what
// has not arrived from it is named.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { encode } from 'uqr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { findBarriers, hasBrowser, keepScreenshot, screens, type TestBrowser } from '../../rig/standins/browser.js';
import {
  buttonOf as button,
  fieldOf as field,
  openConsole,
  type StartedConsole,
  startConsole,
} from '../../rig/start/console.js';
import { outcome, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;
let aheadMs = 0;

beforeAll(async () => {
  if (!hasBrowser) return;
  const now = () => new Date(Date.now() + aheadMs);
  ({ service, browser, merchant, stop } = await startConsole({ worker: false, now }));
});
afterAll(() => stop?.());

const open = (path = '/readers', screen: BrowserContextOptions = screens.desktop) =>
  openConsole({ browser, service, merchant }, path, { screen });
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const shownCode = async (page: Page) => {
  const code = page.getByRole('img', { name: /^Pairing code: / });
  return ((await code.getAttribute('aria-label')) ?? '').replace('Pairing code: ', '').replaceAll(' ', '');
};
const pair = (code: string) => merchant.call('/till/pair', { body: { code }, credential: null });

/** A reader that is paired, and what its device does. */
async function aTill(name: string) {
  const credential = { Authorization: `Bearer ${await merchant.token()}` };
  const { body } = await merchant.call('/merchants/me/readers', { body: { name }, credential });
  const paired = await pair(body.data.pairingCode);
  const device = { Authorization: `Bearer ${paired.body.data.token}` };
  const at = (path: string, call: object) => merchant.call(`/till/${path}`, { body: call, credential: device });
  return { id: body.data.id as string, at };
}

const aStampCard = async (person: object = {}) => {
  const fields = { style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10, name: 'Corner Coffee' };
  const program = await merchant.program(fields);
  return merchant.enroll({ programId: program._id, ...person });
};

describe.runIf(hasBrowser)('a reader', () => {
  it('is added with its place and programs, and paired by the code that is shown large and as a QR code', async () => {
    await merchant.program({ name: 'Harbour Books' });
    await merchant.program({ name: 'Harbour Cakes' });
    const page = await open();
    await page.getByText('No reader yet.').waitFor();
    await button(page, 'New reader').click();
    await field(page, 'Name').fill('Terrace till');
    await field(page, 'Place').fill('Terrace');
    await page.getByText('Harbour Books').click();
    await page.getByText('Phone number', { exact: true }).click();
    await button(page, 'Create').click();
    const dialog = page.getByRole('dialog', { name: 'Pair Terrace till' });
    await dialog.getByText(/^Valid for (10:00|9:\d\d) minutes$/).waitFor();
    const code = await shownCode(page);
    expect(code).toMatch(/^[A-Z]{8}$/);
    const { data, size } = encode(`${service.publicUrl}/till#${code}`, { border: 2 });
    const qr = dialog.getByRole('img', { name: /^QR code/ });
    expect(await qr.getAttribute('viewBox')).toBe(`0 0 ${size} ${size}`);
    const dark = data.flatMap((cells, y) => cells.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h`] : [])));
    expect((await qr.locator('path').getAttribute('d'))?.match(/M\d+ \d+h/g)).toEqual(dark);
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'console-reader-pairing-desktop', { fullPage: false });
    await row(page, 'Terrace till').getByText('No device yet').waitFor({ state: 'attached' });

    expect((await pair(code)).status).toBe(200);
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Terrace till is paired.').waitFor();
    const cells = row(page, 'Terrace till').getByRole('cell');
    await row(page, 'Terrace till').getByText('Paired', { exact: true }).waitFor();
    expect((await cells.allTextContents()).slice(0, 6)).toEqual([
      ...['Terrace till', 'Terrace', 'Paired', 'Never', '–', 'Harbour Books'],
    ]);
    const stored = await service.deps.collections.readers.findOne({ merchantId: merchant.id, name: 'Terrace till' });
    expect(stored).toMatchObject({ location: 'Terrace', lookupBy: ['phone'], programIds: [expect.any(String)] });
    await page.context().close();
  });

  it('gets a new code for another device by keyboard, which is over after ten minutes', async () => {
    const { at } = await aTill('Bar till');
    const page = await open();
    await page.clock.install();
    await button(page, 'New code for Bar till').focus();
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Pair Bar till' });
    await dialog.getByText('The device that is paired works until another one has used this code.').waitFor();
    const first = await shownCode(page);
    await page.clock.fastForward('10:00');
    await dialog.getByText('This code has expired. Make a new one.').waitFor();
    await dialog.getByRole('button', { name: 'New code' }).click();
    await dialog.getByText(/^Valid for/).waitFor();
    const second = await shownCode(page);
    expect(second).not.toBe(first);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect((await at('hello', {})).status).toBe(200);
    expect(outcome(await pair(first))).toEqual([400, 'PAIRING_CODE_INVALID']);
    expect((await pair(second)).status).toBe(200);
    expect((await at('hello', {})).status).toBe(401);
    await page.context().close();
  });

  it('is renamed, and revoked after a question', async () => {
    const { at } = await aTill('Door till');
    const page = await open();
    await button(page, 'Change Door till').click();
    const edit = page.getByRole('dialog', { name: 'Change Door till' });
    await edit.getByLabel('Name', { exact: true }).fill('');
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.getByLabel('Name', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await edit.getByLabel('Name', { exact: true }).fill('Gate till');
    await edit.getByRole('button', { name: 'Save' }).click();
    await edit.waitFor({ state: 'detached' });
    await button(page, 'Revoke Gate till').click();
    const question = page.getByRole('dialog', { name: 'Revoke Gate till' });
    await question.getByRole('button', { name: 'Cancel' }).click();
    expect((await at('hello', {})).status).toBe(200);
    await button(page, 'Revoke Gate till').click();
    await question.getByRole('button', { name: 'Revoke' }).click();
    await row(page, 'Gate till').getByText('Revoked', { exact: true }).waitFor();
    expect((await at('hello', {})).status).toBe(401);
    expect(await row(page, 'Gate till').getByRole('button').count()).toBe(0);
    await page.context().close();
  });

  it.each(['desktop', 'phone'] as const)(
    'says on a %s when it was seen and which taps have not arrived, until they come',
    async (screen) => {
      const name = `Garden ${screen} till`;
      const { at } = await aTill(name);
      const { memberCode } = await aStampCard();
      const page = await open('/readers', screens[screen]);
      await page.clock.install();
      /** The page reads its list every ten seconds. */
      const later = () => page.clock.runFor(10_000);
      await at('earn', { memberCode, sequence: 1 });
      await at('hello', { lastSequence: 3, waiting: 2 });
      await later();
      await row(page, name).getByText('2 taps wait to be sent').waitFor();
      await row(page, name).getByText('just now').waitFor();
      const words = page.getByRole('status').getByText(`2 taps of the ${name} have not arrived`);
      expect(await words.count()).toBe(0);
      aheadMs += 61_000;
      await later();
      await words.waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
      await keepScreenshot(page, `console-readers-missing-${screen}`);
      await at('earn', { memberCode, sequence: 3 });
      await later();
      await page.getByText(`1 tap of the ${name} has not arrived`).waitFor();
      await at('earn', { memberCode, sequence: 2 });
      await at('hello', { lastSequence: 3, waiting: 0 });
      await later();
      await page.getByText('arrived').waitFor({ state: 'detached' });
      await page.context().close();
    },
  );

  it('is named where it did something: in the ledger, the timeline and the audit', async () => {
    const { id: readerId, at } = await aTill('Counter till');
    const { id, memberCode } = await aStampCard({ firstName: 'Cora' });
    await at('lookup', { memberCode });
    await at('earn', { memberCode, sequence: 1 });
    const page = await open(`/members/${id}`);
    await page
      .getByRole('table', { name: /and rewards$/ })
      .getByRole('row')
      .filter({ hasText: 'Counter till' })
      .waitFor();
    const scan = page
      .getByRole('table', { name: 'What happened' })
      .getByRole('row')
      .filter({ hasText: 'Card scanned' });
    await scan.getByText('Counter till').waitFor();
    await page.goto(`${service.publicUrl}/console/audit?targetId=${readerId}`);
    const entries = page.getByRole('row').filter({ hasText: 'Reader' });
    await until(async () => (await entries.count()) === 2);
    const paired = page.getByRole('row').filter({ hasText: 'Reader paired' });
    expect((await paired.getByRole('cell').allTextContents()).slice(1, 4)).toEqual([
      ...['Counter till', 'Reader paired', 'Counter till'],
    ]);
    await paired.getByRole('link', { name: 'Counter till' }).click();
    await page.getByRole('heading', { level: 1, name: 'Readers' }).waitFor();
    await page.context().close();
  });
});
