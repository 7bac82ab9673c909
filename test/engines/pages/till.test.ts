// The till in a real browser against the real service (docs/till.md): paired, stamping, without a line, with a camera.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsole } from '../../../stack/buildConsole.js';
import { until } from '../../rig/checks/until.js';
import { findBarriers, hasBrowser, keepScreenshot, screens, type TestBrowser } from '../../rig/standins/browser.js';
import { startFilmingBrowser } from '../../rig/standins/cameraFilm.js';
import { button, type Counter, findCard, openCounter, scan, sent } from '../../rig/start/counter.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { aLink, aUser, signedIn } from '../../rig/start/signIn.js';

let service: TestService;
let merchant: TestMerchant;
let counter: Counter;
let browser: TestBrowser;
let filmed: { memberCode: string; id: string };

beforeAll(async () => {
  if (!hasBrowser) return;
  await buildConsole();
  service = await startService();
  counter = await openCounter(service);
  ({ merchant } = counter);
  filmed = await aMember({ firstName: 'Grace' });
  browser = await startFilmingBrowser(filmed.memberCode);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const { aMember, asOwner, ledgerOf } = {
  aMember: (person: object) => counter.aMember(person),
  asOwner: (path: string, body?: object) => counter.asOwner(path, body),
  ledgerOf: (memberId: string) => counter.ledgerOf(memberId),
};
const aTill = (name: string, options: Parameters<Counter['openTill']>[2] = screens.phone) =>
  counter.openTill(browser, name, options);

describe.runIf(hasBrowser)('the till', () => {
  it('is paired by a link, and stamps, redeems and undoes with one touch each', async () => {
    const ada = await aMember({ firstName: 'Ada', initialPoints: 8 });
    const page = await aTill('Bar till');
    expect(page.url()).not.toContain('#');
    await keepScreenshot(page, 'till-find-phone');
    expect(await findBarriers(page)).toEqual([]);
    await findCard(page, ada.memberCode.toLowerCase());
    await page.getByRole('heading', { name: 'Ada L.' }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'till-member-phone');
    expect(await button(page, '+3: 3 stamps').isDisabled()).toBe(true);
    await button(page, '+2: 2 stamps').click();
    await sent(page);
    await page.getByText('10 of 10').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'till-done-phone');
    await button(page, 'Give more').click();
    await button(page, 'Redeem: Free coffee').click();
    await page.getByText('0 of 10').waitFor();
    await button(page, 'Undo: Free coffee').click();
    await page.getByText('10 of 10').waitFor();
    await sent(page);
    expect(await ledgerOf(ada.id)).toEqual([
      ['earn', 2],
      ['redeem', -10],
      ['reversal', 10],
    ]);
    await button(page, 'Show the customer').click();
    const face = page.getByRole('dialog', { name: 'Ada' });
    await face.getByText('Ready: Free coffee').waitFor();
    expect(await face.textContent()).not.toContain('L.');
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'till-customer-phone');
    await face.getByRole('button').click();
    await button(page, 'Next customer').click();
    await page.getByText('Latest entries').click();
    await page
      .getByText(/Redeemed: Free coffee/)
      .first()
      .waitFor();
  });

  it('works without a line, is reloaded and closed, and sends each tap once when the line is back', async () => {
    const ada = await aMember({ firstName: 'Ada', initialPoints: 3 });
    const stranger = await aMember({ firstName: 'Linus', initialPoints: 9 });
    const page = await aTill('Terrace till');
    const context = page.context();
    await findCard(page, ada.memberCode);
    await page.getByText('3 of 10').waitFor();
    await button(page, 'Next customer').click();
    await context.setOffline(true);
    await page.reload();
    await findCard(page, ada.memberCode);
    await page.getByText(/^Balance from .* ago$/).waitFor();
    await button(page, '+1: 1 stamp').click();
    await page.getByText('4 of 10').waitFor();
    await page.getByText('Noted. It is sent when the internet is back.').waitFor();
    await keepScreenshot(page, 'till-offline-phone');
    await button(page, 'Next customer').click();
    await findCard(page, stranger.memberCode);
    await page.getByText('This till has not seen the card before.', { exact: false }).waitFor();
    await button(page, 'Coffee card').click();
    await button(page, '+3: 3 stamps').click();
    await page.getByText('2 not sent yet').waitFor();
    await page.close();

    const again = await context.newPage();
    await again.goto(`${service.publicUrl}/till`);
    await again.getByText('2 not sent yet').waitFor();
    expect(await ledgerOf(ada.id)).toEqual([]);
    const second = await context.newPage();
    await second.goto(`${service.publicUrl}/till`);
    await context.setOffline(false);
    await until(async () => (await ledgerOf(ada.id)).length > 0);
    await again.getByText(/^Online/).waitFor();
    await again.getByRole('heading', { name: 'Did not go through' }).waitFor();
    await again
      .getByText(/Refused: \S.*1/)
      .first()
      .waitFor();
    expect(await findBarriers(again)).toEqual([]);
    await keepScreenshot(again, 'till-refused-phone');
    expect(await ledgerOf(ada.id)).toEqual([['earn', 1]]);
    expect(await ledgerOf(stranger.id)).toEqual([]);
    await button(again, 'Done').click();
    await again.getByRole('heading', { name: 'Did not go through' }).waitFor({ state: 'detached' });
    const reader = async () => (await asOwner('/merchants/me/readers?pageSize=100')).items[0];
    await until(async () => (await reader()).received === 2);
    expect(await reader()).toMatchObject({ name: 'Terrace till', received: 2, missing: [] });
  });

  it('reads the card with the camera, once for as long as it stays', async () => {
    const page = await aTill('Camera till', { ...screens.desktop, permissions: ['camera'] });
    await button(page, 'Scan with the camera').click();
    await page.getByRole('heading', { name: 'Grace L.' }).waitFor();
    await keepScreenshot(page, 'till-member-desktop');
    expect(await findBarriers(page)).toEqual([]);
    await button(page, '+1: 1 stamp').click();
    await sent(page);
    expect(await ledgerOf(filmed.id)).toEqual([['earn', 1]]);
  });

  it('reads a keyboard scanner wherever the focus is, and the same card once within two seconds', async () => {
    const ada = await aMember({ firstName: 'Scan' });
    const page = await aTill('Scanner till', screens.desktop);
    await scan(page, `]Q3${ada.memberCode}`);
    await page.getByRole('heading', { name: 'Scan L.' }).waitFor();
    await scan(page, ada.memberCode);
    await page.getByText('This card was just read.').waitFor();
  });

  it('says that it was disconnected, and keeps the taps', async () => {
    const ada = await aMember({ firstName: 'Ada' });
    const page = await aTill('Stolen till');
    await findCard(page, ada.memberCode);
    await page.getByText('0 of 10').waitFor();
    await page.context().setOffline(true);
    await button(page, '+1: 1 stamp').click();
    await page.getByText('1 not sent yet').waitFor();
    const [{ id }] = (await asOwner('/merchants/me/readers?pageSize=100')).items;
    const credential = bearer(await merchant.token());
    await merchant.call(`/merchants/me/readers/${id}`, { method: 'DELETE', credential });
    await page.context().setOffline(false);
    await page.getByRole('alert').first().waitFor();
    await page.getByRole('heading', { name: 'Use this device as a till' }).waitFor();
    await page.getByText('Not sent yet: 1.', { exact: false }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'till-disconnected-phone');
    expect(await ledgerOf(ada.id)).toEqual([]);
  });

  it('takes a sale as an amount where a program gives points for it', async () => {
    const { _id: programId } = await merchant.program({
      name: 'Points',
      earn: { per: 100, points: 2, currency: 'EUR' },
    });
    const ada = await merchant.enroll({ programId, firstName: 'Ada', email: 'ada@till.example' });
    const words = { connect: 'Verbinden', title: 'Nächster Gast' };
    const german = await aTill('Punktekasse', { ...screens.phone, locale: 'de-DE', words });
    await german.getByLabel('Kartennummer').fill(ada.memberCode);
    await button(german, 'Suchen').click();
    await german.getByLabel('Betrag in EUR').fill('12,50');
    await button(german, /Punkte geben \+25/).click();
    await german.getByRole('status').getByText('Gesendet ✓', { exact: true }).waitFor();
    expect(await ledgerOf(ada.id)).toEqual([['earn', 25]]);
  });

  it('is where a person lands who may use a till and nothing else', async () => {
    const ada = await aMember({ firstName: 'Ada' });
    const user = await aUser(service.deps, { merchantId: merchant.id, roleIds: ['till'] });
    const page = await browser.open(`${service.publicUrl}/console/sign-in/${await aLink(service.deps, user)}`, {
      ...screens.phone,
      locale: 'en-GB',
    });
    await page.getByRole('button').click();
    await page.waitForURL(/\/till$/);
    await findCard(page, ada.memberCode);
    await button(page, '+1: 1 stamp').click();
    await sent(page);
    const [entry] = await service.deps.collections.ledger.find({ memberId: ada.id, type: 'earn' }).toArray();
    expect(entry?.actor).toMatchObject({ type: 'user', id: user._id });
  });

  it('connects a device by its link also where an owner is signed in', async () => {
    const owner = await aUser(service.deps, { merchantId: merchant.id });
    const [cookie = ''] = (await signedIn(service, owner)).Cookie?.split('session=').slice(1) ?? [];
    const page = await browser.open('about:blank', { locale: 'en-GB', ...screens.phone });
    await page.context().addCookies([{ name: 'session', value: cookie, url: service.publicUrl }]);
    const { pairingLink } = await asOwner('/merchants/me/readers', { name: 'Kitchen till' });
    await page.goto(`${service.publicUrl}/till${new URL(pairingLink).hash}`);
    await button(page, 'Connect').click();
    await page.getByText('Kitchen till').waitFor();
    await page.getByRole('heading', { name: 'Next customer' }).waitFor();
    await page.context().close();
  });

  it('weighs less than 150 kB before the decoder', async () => {
    const folder = 'dist/console/assets';
    const names = (await readdir(folder)).filter((name) => /^till-.*\.(js|css)$/.test(name));
    const files = [join('dist/console/till.html'), ...names.map((name) => join(folder, name))];
    const sizes = await Promise.all(files.map(async (file) => gzipSync(await readFile(file)).length));
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(150_000);
  });
});
