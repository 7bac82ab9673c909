// What staff and owners do every day in the console, in a real browser: give, take, redeem, undo, look up who did what,
// read and delete what is kept about a person, and leave a page.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  isTooWide,
  keepScreenshot,
  screens,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import {
  buttonOf as button,
  fieldOf as field,
  headingOf as heading,
  openConsole,
  type StartedConsole,
  startConsole,
} from '../../rig/start/console.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;
let programId: string;
let aheadMs = 0;

beforeAll(async () => {
  if (!hasBrowser) return;
  const now = () => new Date(Date.now() + aheadMs);
  ({ service, browser, merchant, stop } = await startConsole({ worker: false, now }));
  const fields = { style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 4, rewardName: 'Coffee' };
  programId = (await merchant.program({ ...fields, name: 'Corner Coffee' }))._id;
});
afterAll(() => stop?.());

const open = (path: string, screen: BrowserContextOptions = screens.desktop, role = 'owner') =>
  openConsole({ browser, service, merchant }, path, { screen, role });
const dialog = (page: Page, name: string | RegExp) => page.getByRole('dialog', { name });
const balanceOf = async (id: string) => (await merchant.call(`/merchants/me/members/${id}`)).body.data.balance;
const points = (id: string, delta: number) =>
  merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta } });

describe.runIf(hasBrowser).each(['desktop', 'phone'] as const)('on a %s', (screen) => {
  it('taking more than there is, and giving very much, asks first', async () => {
    const { id } = await merchant.enroll({ firstName: 'Olli', initialPoints: 30 });
    const page = await open(`/members/${id}`, screens[screen]);
    const change = async (delta: string) => {
      await field(page, 'Change of points').fill(delta);
      await button(page, 'Change points').click();
    };
    await change('-100');
    await dialog(page, 'Take 100 points?').getByText('Olli has 30 points.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, `daily-asked-${screen}`, { fullPage: false });
    await button(page, 'Cancel').click();
    expect(await balanceOf(id)).toBe(30);
    await change('1000000');
    await dialog(page, 'Give 1,000,000 points?').getByRole('button', { name: 'Give them' }).click();
    await page.getByText('POINTS: 30 → 1,000,030').waitFor();
    await dialog(page, /Give/).waitFor({ state: 'detached' });
    await change('-5');
    await page.getByText('POINTS: 1,000,030 → 1,000,025').waitFor();
    const ledger = page.getByRole('table', { name: /and rewards$/ });
    await ledger.getByText('Points taken').waitFor();
    await ledger.getByText('Points given').waitFor();
    await page.context().close();
  });

  it('several stamps are given at once, and what cannot be given is off with the reason', async () => {
    const { id } = await merchant.enroll({ programId, firstName: 'Ulla' });
    const page = await open(`/members/${id}`, screens[screen]);
    await field(page, 'How many').fill('5');
    await page.getByText('The card has room for 4 stamps.').waitFor();
    expect(await button(page, 'Give stamps').isDisabled()).toBe(true);
    await field(page, 'How many').fill('2');
    await button(page, 'Give stamps').click();
    await page.getByText('STAMPS: 0 → 2').waitFor();
    await until(() => button(page, '+3').isDisabled());
    await button(page, '+1').click();
    await page.getByText('STAMPS: 2 → 3').waitFor();
    await page
      .getByRole('table', { name: /and rewards$/ })
      .getByText('+1 stamp', { exact: true })
      .waitFor();
    await until(() => button(page, '+2').isDisabled());
    await button(page, '+1').click();
    await page.getByText('The card is full.').waitFor();
    for (const name of ['+1', '+2', '+3']) expect(await button(page, name).isDisabled()).toBe(true);
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, `daily-full-${screen}`, { fullPage: false });

    await merchant.call(`/merchants/me/members/${id}/status`, { method: 'PATCH', body: { status: 'voided' } });
    await page.reload();
    await page.getByText('The card is blocked.').first().waitFor();
    expect(await button(page, '+1').isDisabled()).toBe(true);
    expect(await button(page, 'Redeem Coffee').isDisabled()).toBe(true);
    await page.context().close();
  });

  it('a redemption says whose and which, asks once, and is undone for ten minutes', async () => {
    const { id } = await merchant.enroll({ programId, firstName: 'Lilo', initialPoints: 4 });
    const page = await open(`/members/${id}`, screens[screen]);
    await button(page, 'Redeem Coffee').click();
    const asked = dialog(page, 'Redeem Coffee for Lilo?');
    await asked.getByText('It costs 4 stamps.').waitFor();
    expect(await balanceOf(id)).toBe(4);
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, `daily-redeem-${screen}`, { fullPage: false });
    await asked.getByRole('button', { name: 'Redeem' }).click();
    await page.getByText('Coffee is redeemed for Lilo.').waitFor();
    await page.reload();
    const ledger = page.getByRole('table', { name: /and rewards$/ });
    await ledger.getByText('Reward: Coffee').waitFor();
    await ledger.getByRole('button', { name: 'Undo: Coffee' }).click();
    await dialog(page, 'Undo this entry?').getByText('Coffee counts as not redeemed.').waitFor();
    await dialog(page, 'Undo this entry?').getByText('4 stamps go back to the card.').waitFor();
    await button(page, 'Cancel').click();
    await page
      .getByRole('region', { name: 'Stamps', exact: true })
      .getByRole('button', { name: 'Undo: Coffee' })
      .click();
    await page.getByText('Undone: Coffee.').waitFor();
    expect(await balanceOf(id)).toBe(4);
    aheadMs = -11 * 60_000;
    const late = await merchant.enroll({ programId, firstName: 'Otto', initialPoints: 3 });
    await points(late.id, 1);
    aheadMs = 0;
    await page.goto(`${service.publicUrl}/console/members/${late.id}`);
    await page
      .getByRole('table', { name: /and rewards$/ })
      .getByText('+1 stamp', { exact: true })
      .waitFor();
    expect(await page.getByRole('button', { name: /^Undo(?: [+-]|: Coffee)/ }).count()).toBe(0);
    await page.context().close();
  });

  it('after a deletion the browser’s Back shows nothing of the person', async () => {
    await merchant.enroll({
      firstName: 'Ottilou',
      lastName: 'Iloul',
      email: `${screen}@ottilou.example`,
    });
    const page = await open('/members', screens[screen]);
    await field(page, 'Search').fill('Ottilou');
    await page.waitForURL((url) => url.search === '?q=Ottilou');
    await page.getByRole('link', { name: 'Ottilou Iloul' }).click();
    await heading(page, 'Ottilou Iloul').waitFor();
    await field(page, 'First name').fill('Ottilou the');
    await page.getByRole('region', { name: 'Name and contact' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await button(page, 'Delete for good').click();
    await dialog(page, /^Delete/)
      .getByRole('button', { name: 'Delete for good' })
      .click();
    await heading(page, 'Members').waitFor();
    const nothing = async () => {
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate("document.documentElement.outerHTML.match(/ottilou/i)?.[0] ?? 'nothing'")).toBe(
        'nothing',
      );
      expect(await page.evaluate('[...document.querySelectorAll("input")].map(({ value }) => value).join("")')).toBe(
        '',
      );
      expect(await page.title()).not.toContain('Ottilou');
      expect(await page.evaluate('JSON.stringify({ ...sessionStorage })')).not.toMatch(/ottilou/i);
    };
    await nothing();
    await page.goBack();
    await nothing();
    await page.waitForURL((url) => url.search === '');
    await page.goForward();
    await nothing();
    await page.context().close();
  });

  it('all that is kept about a person is read on a page, and downloaded as JSON', async () => {
    const { id } = await merchant.enroll({ firstName: 'Lulu', email: `lulu.${screen}@example.com`, initialPoints: 7 });
    const page = await open(`/members/${id}`, screens[screen]);
    await page.getByRole('link', { name: 'Read all that is kept' }).click();
    await heading(page, 'All that is kept about Lulu').waitFor();
    const person = page.getByRole('region', { name: 'The person and the card' });
    await person.getByText('First name').waitFor();
    expect(await person.locator('dt:text-is("Balance") + dd').textContent()).toBe('7');
    await page.getByRole('region', { name: 'Points and rewards' }).getByText('Balance after').first().waitFor();
    expect(await person.getByText('serialNumber').isVisible()).toBe(false);
    await person.getByText('Technical').click();
    await person.getByText('serialNumber').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(0);
    await keepScreenshot(page, `daily-kept-${screen}`, { fullPage: false });
    const download = page.waitForEvent('download');
    await page.getByRole('link', { name: 'As a file (JSON)' }).click();
    expect((await download).suggestedFilename()).toMatch(/^member-.*\.json$/);
    await page.context().close();
  });

  it('edits that are not saved are asked about before the page is left', async () => {
    const { id } = await merchant.enroll({ firstName: 'Till' });
    const page = await open('/audit', screens[screen]);
    await heading(page, 'Audit').waitFor();
    const menu = async (name: string) => {
      if (screen === 'phone') await button(page, 'Menu').click();
      await page.getByRole('link', { name, exact: true }).click();
    };
    await menu('Members');
    await page.getByRole('link', { name: 'Till', exact: true }).click();
    await field(page, 'First name').fill('Tilly');
    const asked = dialog(page, 'Leave without saving?');
    await menu('Audit');
    await asked.waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await asked.getByRole('button', { name: 'Cancel' }).click();
    await heading(page, 'Till').waitFor();
    await page.goBack();
    await asked.waitFor();
    await keepScreenshot(page, `daily-leave-${screen}`, { fullPage: false });
    await asked.getByRole('button', { name: 'Leave the page' }).click();
    await heading(page, 'Members').waitFor();
    await page.goForward().catch(() => undefined);
    await page.goto(`${service.publicUrl}/console/members/${id}`);
    expect(await field(page, 'First name').inputValue()).toBe('Tilly');
    await page.getByRole('region', { name: 'Name and contact' }).getByRole('button', { name: 'Save' }).click();
    await page.getByText('Saved.', { exact: true }).waitFor();
    await menu('Audit');
    await heading(page, 'Audit').waitFor();
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('the audit', () => {
  it('names people and what they changed, and is filtered by names', async () => {
    const credential = { Authorization: `Bearer ${await merchant.token({ roleIds: ['owner'] })}` };
    const body = { email: 'uli@example.com', roleIds: ['manager'] };
    const user = await merchant.call('/merchants/me/users', { body, credential });
    const page = await open('/audit');
    await field(page, 'Target').selectOption({ label: 'uli@example.com' });
    await until(async () => (await page.getByRole('row').count()) === 2);
    await page.getByRole('row').nth(1).getByRole('link', { name: 'uli@example.com' }).waitFor();
    expect(new URL(page.url()).searchParams.get('targetId')).toBe(user.body.data.id);
    await field(page, 'Target').selectOption({ label: 'Anything' });
    await field(page, 'Who').selectOption({ label: 'uli@example.com' });
    await page.getByText('Nothing matches.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'daily-audit-desktop', { fullPage: false });
    await page.context().close();
  });

  it.each(['desktop', 'phone'] as const)(
    'and the versions of a card say from what to what on a German %s',
    async (size) => {
      const credential = { Authorization: `Bearer ${await merchant.token({ roleIds: ['owner'] })}` };
      const call = (path: string, method: string, body?: object) =>
        merchant.call(`/merchants/me${path}`, { method, credential, ...(body && { body }) });
      const { _id } = await merchant.program({ name: `Lilo ${size}`, style: 'points', goal: 8 });
      await call(`/programs/${_id}`, 'PATCH', { goal: 1_200, passTemplate: { barcodeFormat: 'Aztec' } });
      await call(`/programs/${_id}/publish`, 'POST');
      const user = await call('/users', 'POST', { email: `ulli.${size}@example.com`, roleIds: ['till'] });
      await call(`/users/${user.body.data.id}`, 'PATCH', { roleIds: ['manager'] });
      const german = { ...screens[size], locale: 'de-DE' };
      const page = await open('/audit', german);
      const row = (name: string) => page.getByRole('row').filter({ hasText: name });
      await row('Rollen einer Person geändert')
        .filter({ hasText: `ulli.${size}` })
        .getByText('Leitung')
        .waitFor();
      const published = row('veröffentlicht')
        .filter({ hasText: `Lilo ${size}` })
        .first();
      await published
        .locator('dt:text-is("Ziel") + dd')
        .filter({ hasText: /^8 →.*1\.200$/ })
        .waitFor();
      expect(await findBarriers(page)).toEqual([]);
      expect(await isTooWide(page)).toBe(0);
      await keepScreenshot(page, `daily-audit-german-${size}`);
      await page.goto(`${service.publicUrl}/console/programs/${_id}`);
      const versions = page.getByRole('table', { name: 'Frühere Versionen' });
      await versions
        .locator('dt:text-is("Ziel") + dd')
        .filter({ hasText: /^8 →.*1\.200$/ })
        .waitFor();
      expect(await isTooWide(page)).toBe(0);
      await page.context().close();
    },
  );

  it.each(['desktop', 'phone'] as const)('all that is kept is read in German on a %s', async (size) => {
    const { id } = await merchant.enroll({
      firstName: 'Lulu',
      email: `lulu.de.${size}@example.com`,
      initialPoints: 1_207,
    });
    const page = await open(`/members/${id}/data`, { ...screens[size], locale: 'de-DE' });
    const person = page.getByRole('region', { name: 'Die Person und ihre Karte' });
    const value = (label: string) => person.locator(`dt:text-is("${label}") + dd`).textContent();
    await person.getByText('Vorname').waitFor();
    expect([await value('Stand'), await value('Status'), await value('Aufgenommen durch')]).toEqual([
      ...['1.207', 'Aktiv', 'Ein verbundenes System'],
    ]);
    expect(await value('Aufgenommen am')).toMatch(/^\d\d\.\d\d\.20\d\d,/);
    const read = await page.locator('dt:visible').allTextContents();
    expect(read.filter((label) => /^[a-z_]\w*(\.|[A-Z]|$)/.test(label))).toEqual([]);
    expect(await findBarriers(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(0);
    await keepScreenshot(page, `daily-kept-german-${size}`);
    await page.context().close();
  });
});
