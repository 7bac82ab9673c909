// The till where something is unusual: in the console on a phone, on the device of a person, on one that cannot store,
// with a scanner of another layout.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  findBarriers,
  hasBrowser,
  keepScreenshot,
  pressAtOnce,
  screens,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { type StartedConsole, startConsole } from '../../rig/start/console.js';
import { button, findCard, sent } from '../../rig/start/counter.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { aUser, signedIn } from '../../rig/start/signIn.js';

let service: TestService;
let merchant: TestMerchant;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;
let programId: string;

beforeAll(async () => {
  if (!hasBrowser) return;
  ({ service, browser, merchant, stop } = await startConsole());
  const card = { style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10, rewardName: 'Free coffee' } as const;
  programId = (await merchant.program({ ...card, name: 'Coffee card' }))._id;
});
afterAll(() => stop?.());

const aMember = (person: object) =>
  merchant.enroll({ programId, email: `${crypto.randomUUID()}@example.com`, lastName: 'Lovelace', ...person });

const ledgerOf = async (memberId: string) =>
  (await service.deps.collections.ledger.find({ memberId }).sort({ memberVersion: 1 }).toArray())
    .filter(({ type }) => type !== 'initial')
    .map(({ type, delta, actor }) => [type, delta, actor?.type]);

async function openAs(role: string, path: string, options: BrowserContextOptions = screens.phone): Promise<Page> {
  const user = await aUser(service.deps, { merchantId: merchant.id, roleIds: [role] });
  const [cookie = ''] = (await signedIn(service, user)).Cookie?.split('session=').slice(1) ?? [];
  const page = await browser.open('about:blank', { locale: 'en-GB', ...options });
  await page.context().addCookies([{ name: 'session', value: cookie, url: service.publicUrl }]);
  await page.goto(`${service.publicUrl}${path}`);
  return page;
}

async function pairingCode(name: string): Promise<string> {
  const credential = { Authorization: `Bearer ${await merchant.token()}` };
  const { body } = await merchant.call('/merchants/me/readers', { body: { name }, credential });
  return body.data.pairingCode;
}

/** Keys of a scanner that may be set to another layout. */
const keysOf = (text: string, swaps: Record<string, string> = {}) =>
  [...text].map((key) => {
    const at = swaps[key] ?? key;
    return { key, code: /\d/.test(at) ? `Digit${at}` : `Key${at}`, shiftKey: /[A-Z]/.test(key) };
  });
const enter = { key: 'Enter', code: 'Enter' };

describe.runIf(hasBrowser)('the till', () => {
  it.each([
    ['owner', '+49 170 5550199'],
    ['manager', '+49 170 5550188'],
  ])('is the first thing on the first page of somebody with a phone who is %s', async (role, phone) => {
    const ada = await aMember({ firstName: 'Ada', initialPoints: 8, phone });
    const page = await openAs(role, '/console');
    const till = page.getByRole('region', { name: 'Till' });
    await till.getByRole('heading', { name: 'Next customer' }).waitFor();
    const [top = 0, others = []] = await Promise.all([
      till.boundingBox().then((box) => box?.y),
      page.locator('main .panel, main .fields').evaluateAll((all) => all.map((each) => each.getBoundingClientRect().y)),
    ]);
    expect(top).toBeLessThan(200);
    for (const other of others) expect(other).toBeGreaterThan(top);
    expect(await page.getByRole('heading', { level: 1 }).allTextContents()).toEqual(['Overview']);
    await keepScreenshot(page, `console-counter-find-${role}-phone`, { fullPage: false });
    expect(await findBarriers(page)).toEqual([]);
    await findCard(page, phone);
    await till.getByRole('heading', { name: 'Ada L.' }).waitFor();
    await keepScreenshot(page, `console-counter-member-${role}-phone`, { fullPage: false });
    await button(page, '+2: 2 stamps').click();
    await sent(page);
    await page.getByText('10 of 10').waitFor();
    await button(page, 'Give more').click();
    await button(page, 'Redeem: Free coffee').click();
    await page.getByText('0 of 10').waitFor();
    await sent(page);
    await button(page, 'Undo: Free coffee').click();
    await page.getByText('10 of 10').waitFor();
    await sent(page);
    await keepScreenshot(page, `console-counter-done-${role}-phone`, { fullPage: false });
    expect(await ledgerOf(ada.id)).toEqual([
      ['earn', 2, 'user'],
      ['redeem', -10, 'user'],
      ['reversal', 10, 'user'],
    ]);
    expect(await findBarriers(page)).toEqual([]);
    await button(page, 'Next customer').click();
    await page.getByRole('link', { name: 'Scan with the camera' }).click();
    await page.waitForURL(/\/till$/);
    await page.context().close();
  });

  it('is a link on the first page of an owner at a desk', async () => {
    const page = await openAs('owner', '/console', screens.desktop);
    await page.getByRole('link', { name: 'Open the till' }).waitFor();
    expect(await page.getByRole('region', { name: 'Till' }).count()).toBe(0);
    await keepScreenshot(page, 'console-overview-desktop', { fullPage: false });
    await page.context().close();
  });

  it('connects the device of somebody who is signed in by a code that is typed', async () => {
    const page = await openAs('till', '/till');
    await page.getByRole('heading', { name: 'Next customer' }).waitFor();
    await keepScreenshot(page, 'till-person-phone');
    await button(page, 'Use this device as a till').click();
    await page.getByLabel('Pairing code').waitFor();
    await keepScreenshot(page, 'till-person-pairing-phone');
    expect(await findBarriers(page)).toEqual([]);
    await button(page, 'Back').click();
    await page.getByRole('heading', { name: 'Next customer' }).waitFor();
    await button(page, 'Use this device as a till').click();
    await page.getByLabel('Pairing code').fill((await pairingCode('Kitchen till')).toLowerCase());
    await button(page, 'Connect').click();
    await page.getByText('Kitchen till').waitFor();
    const ada = await aMember({ firstName: 'Ada' });
    await findCard(page, ada.memberCode);
    await button(page, '+1: 1 stamp').click();
    await sent(page);
    expect(await ledgerOf(ada.id)).toEqual([['earn', 1, 'reader']]);
    await button(page, 'Next customer').click();
    expect(await button(page, 'Use this device as a till').count()).toBe(0);
    await page.context().close();
  });

  for (const [size, options] of Object.entries(screens))
    it(`says on a ${size} that a tap is not noted when the device cannot store it`, async () => {
      const ada = await aMember({ firstName: 'Ada' });
      const page = await openAs('till', '/till', options);
      await page.getByRole('heading', { name: 'Next customer' }).waitFor();
      await findCard(page, ada.memberCode);
      await page.getByText('0 of 10').waitFor();
      await page.evaluate(`kept = IDBObjectStore.prototype.add;
        IDBObjectStore.prototype.add = () => { throw new DOMException('full', 'QuotaExceededError') }`);
      await button(page, '+1: 1 stamp').click();
      await page.getByRole('alert').getByText('NOT noted.').waitFor();
      await page.getByText('0 of 10').waitFor();
      expect(await findBarriers(page)).toEqual([]);
      await keepScreenshot(page, `till-not-noted-${size}`);
      await page.evaluate('IDBObjectStore.prototype.add = kept');
      await button(page, '+1: 1 stamp').click();
      await sent(page);
      expect(await page.getByText('NOT noted.').count()).toBe(0);
      expect(await ledgerOf(ada.id)).toEqual([['earn', 1, 'user']]);
      await page.context().close();
    });

  it('says when the device stores nothing at all, and goes on when it does', async () => {
    const page = await openAs('till', '/till');
    await page.getByRole('heading', { name: 'Next customer' }).waitFor();
    await page.addInitScript(`if (!sessionStorage.stores) IDBFactory.prototype.open = new Proxy(IDBFactory.prototype.open, {
      apply: (open, factory, given) => {
        if (!sessionStorage.stores) throw new DOMException('private', 'SecurityError');
        return Reflect.apply(open, factory, given);
      } })`);
    await page.reload();
    await page.getByText('This device can store nothing at the moment', { exact: false }).waitFor();
    await keepScreenshot(page, 'till-stores-nothing-phone');
    await page.evaluate("sessionStorage.stores = 'yes'");
    await button(page, 'Try again').click();
    await page.getByRole('heading', { name: 'Next customer' }).waitFor();
    await page.context().close();
  });

  it('asks which card it is without a line, when the letters of a scanner can be read in two ways', async () => {
    const ada = await aMember({ firstName: 'Ada' });
    const page = await openAs('till', '/till');
    await page.getByRole('heading', { name: 'Next customer' }).waitFor();
    await findCard(page, ada.memberCode);
    await page.getByText('0 of 10').waitFor();
    await button(page, 'Next customer').click();
    await page.context().setOffline(true);
    // The device is set to German, the scanner to English, so that Y and Z change places.
    await pressAtOnce(page, [...keysOf('Z7Y9A2B3C4', { Z: 'Y', Y: 'Z' }), enter]);
    await page.getByRole('heading', { name: 'Whose card is it?' }).waitFor();
    await page.getByText('The scanner', { exact: false }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'till-readings-phone');
    await button(page, 'Y7Z9A2B3C4').click();
    await page.getByRole('heading', { name: 'Y7Z9A2B3C4' }).waitFor();
    await page.context().close();
  });

  it('reads a scanner that writes the prefix of a code with AltGr', async () => {
    const ada = await aMember({ firstName: 'Ada' });
    const page = await openAs('till', '/till', screens.desktop);
    await page.getByRole('heading', { name: 'Next customer' }).waitFor();
    const bracket = { key: ']', code: 'Digit9', ctrlKey: true, altKey: true };
    await pressAtOnce(page, [bracket, ...keysOf(`Q3${ada.memberCode}`), enter]);
    await page.getByRole('heading', { name: 'Ada L.' }).waitFor();
    await page.context().close();
  });
});
