// The screen of the till in a real browser: every size and direction, a screen reader, sound and vibration, and what the
// device takes away from it.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsole } from '../../../stack/buildConsole.js';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  keepScreenshot,
  screens,
  startBrowser,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { startFilmingBrowser } from '../../rig/standins/cameraFilm.js';
import { type Gateway, startGateway } from '../../rig/standins/gateway.js';
import { closeDatabases, failCamera, noticed } from '../../rig/standins/pageWatch.js';
import { button, type Counter, findCard, openCounter, scan, sent } from '../../rig/start/counter.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let counter: Counter;
let gateway: Gateway;
/** Its camera shows the card of Grace. */
let filming: TestBrowser;
/** It gives pages no camera, and its letters are twice as large as usual. */
let plain: TestBrowser;
let grace: { memberCode: string; id: string };

beforeAll(async () => {
  if (!hasBrowser) return;
  await buildConsole();
  gateway = await startGateway('/cards');
  service = await startService({ env: { PUBLIC_URL: gateway.url } });
  gateway.leadTo(service.publicUrl);
  counter = await openCounter(service);
  grace = await counter.aMember({ firstName: 'Grace' });
  filming = await startFilmingBrowser(grace.memberCode);
  plain = await startBrowser(['--blink-settings=defaultFontSize=32']);
});
afterAll(async () => {
  await filming?.close();
  await plain?.close();
  await service?.stop();
  await gateway?.stop();
});

const openTill = (name: string, options: Parameters<Counter['openTill']>[2] = screens.phone, browser = filming) =>
  counter.openTill(browser, name, { at: gateway.url, ...options });

/** What does not fit: wider than the screen, or cut off within its own box. */
const cut = (page: Page): Promise<string[]> =>
  page.evaluate(`[...document.querySelectorAll('h1, h2, p, a, strong, span, label, input, button, .card')]
    .filter((each) => each.offsetParent !== null)
    .filter((each) => {
      const { left, right } = each.getBoundingClientRect();
      const isInline = getComputedStyle(each).display === 'inline';
      return left < 0 || right > innerWidth + 1 || (!isInline && each.scrollWidth > each.clientWidth + 1);
    })
    .map((each) => each.className + ' ' + each.textContent)`);

interface Place {
  name: string;
  top: number;
  bottom: number;
  height: number;
}
/** Where the buttons are, in parts of the screen; their height in pixels. */
const places = (page: Page): Promise<Place[]> =>
  page.evaluate(`[...document.querySelectorAll('button')].map((each) => {
    const { top, bottom, height } = each.getBoundingClientRect();
    return { name: each.textContent, top: top / innerHeight, bottom: bottom / innerHeight, height };
  })`);

describe.runIf(hasBrowser)('the screen of the till', () => {
  const onItsSide = { viewport: { width: 844, height: 390 }, isMobile: true, hasTouch: true };

  for (const [direction, options] of Object.entries({ upright: screens.phone, 'on its side': onItsSide }))
    it(`shows every button of a customer's card at once on a phone ${direction}, large enough for a thumb`, async () => {
      const ada = await counter.aMember({ firstName: 'Ada', initialPoints: 8 });
      const page = await openTill('Bar till', options);
      await findCard(page, ada.memberCode);
      await button(page, '+2: 2 stamps').waitFor();
      await page.getByRole('status').getByText('Online').waitFor();
      const seen: Place[][] = [await places(page)];
      await button(page, '+2: 2 stamps').click();
      await sent(page);
      seen.push(await places(page));
      await keepScreenshot(page, `till-full-${direction}`, { fullPage: false });
      expect(await cut(page)).toEqual([]);
      await button(page, 'Redeem: Free coffee').click();
      await page.getByText('Redeemed: Free coffee').waitFor();
      await sent(page);
      seen.push(await places(page));
      expect(await cut(page)).toEqual([]);
      for (const { name, top, bottom, height } of seen.flat())
        expect([name, top >= 0, bottom <= 1, height >= 44]).toEqual([name, true, true, true]);
      const highest = Math.min(...seen.flat().map(({ top }) => top));
      if (direction === 'upright') expect(highest).toBeGreaterThan(0.33);
      await page.context().close();
    });

  it('says of a card without a rule why it gives no points and where the owner sets one, and redeems all the same', async () => {
    const { _id: programId } = await counter.merchant.program({ name: 'Book card', goal: 50, rewardName: 'Cake' });
    const bo = await counter.aMember({ firstName: 'Bo', initialPoints: 100, programId });
    const page = await openTill('Bar till');
    await findCard(page, bo.memberCode);
    await page.getByText('No points can be given here: Book card has no rule for a purchase.').waitFor();
    await page.getByText('The owner sets it in the console: Programs, Book card, Earning.').waitFor();
    await keepScreenshot(page, 'till-no-rule-phone');
    await button(page, 'Redeem: Cake').click();
    await sent(page);
    await button(page, 'Undo: Cake').waitFor();
    await page.context().close();
  });

  it('gives, redeems and undoes once for the two touches of a wet finger', async () => {
    const { _id: programId } = await counter.merchant.program({
      ...{ name: 'Points', goal: 50, rewardName: 'Cake', earn: { per: 100, points: 1, currency: 'EUR' } },
    });
    const [ada, bo] = [
      await counter.aMember({ firstName: 'Ada', initialPoints: 9 }),
      await counter.aMember({ firstName: 'Bo', initialPoints: 100, programId }),
    ];
    const page = await openTill('Bar till');
    const touchTwice = async (name: string | RegExp, afterMs: number) => {
      await button(page, name).click({ trial: true });
      const { x = 0, y = 0, width = 0, height = 0 } = (await button(page, name).boundingBox()) ?? {};
      // Both within the page, so that no load of the machine parts them.
      await page.evaluate(`(async () => {
        const touch = () => document.elementFromPoint(${x + width / 4}, ${y + height / 2}).click();
        touch();
        await new Promise((resolve) => setTimeout(resolve, ${afterMs}));
        touch();
      })()`);
      await sent(page);
    };
    const changed = (id: string, count: number) => until(async () => (await counter.ledgerOf(id)).length === count);
    await findCard(page, ada.memberCode);
    await touchTwice('+1: 1 stamp', 50);
    await touchTwice('Redeem: Free coffee', 250);
    await changed(ada.id, 2);
    await touchTwice('Undo: Free coffee', 50);
    await button(page, 'Next customer').click();
    await findCard(page, bo.memberCode);
    await page.getByLabel('Amount of the sale in EUR').fill('12');
    await touchTwice(/^Add points/, 250);
    await changed(bo.id, 1);
    await touchTwice('Redeem: Cake', 50);
    await changed(bo.id, 2);
    expect(await counter.ledgerOf(ada.id)).toEqual([
      ['earn', 1],
      ['redeem', -10],
      ['reversal', 10],
    ]);
    expect(await counter.ledgerOf(bo.id)).toEqual([
      ['earn', 12],
      ['redeem', -50],
    ]);
    await page.context().close();
  });

  it('follows the size of letters that the browser is set to, and cuts nothing then', async () => {
    const narrow = { viewport: { width: 195, height: 600 } };
    for (const [options, browser, size] of [
      [screens.phone, plain, 36],
      [onItsSide, plain, 36],
      [narrow, filming, 18],
    ] as const) {
      const ada = await counter.aMember({ firstName: 'Maximiliane-Alexandra', initialPoints: 9 });
      const page = await openTill('Terrace till by the fountain', options, browser);
      expect(await page.evaluate('parseFloat(getComputedStyle(document.body).fontSize)')).toBe(size);
      expect(await cut(page)).toEqual([]);
      await findCard(page, ada.memberCode);
      await button(page, '+1: 1 stamp').waitFor();
      const [bar, heading] = [await page.locator('header').boundingBox(), await page.locator('h1').boundingBox()];
      expect(heading?.y).toBeGreaterThanOrEqual((bar?.y ?? 0) + (bar?.height ?? 0));
      expect(await cut(page)).toEqual([]);
      await keepScreenshot(page, `till-large-card-${options.viewport.width}`);
      await button(page, '+1: 1 stamp').click();
      await sent(page);
      expect(await cut(page)).toEqual([]);
      await keepScreenshot(page, `till-large-${options.viewport.width}`);
      await button(page, 'Show the customer').click();
      await page.getByRole('dialog').waitFor();
      expect(await cut(page)).toEqual([]);
      await page.context().close();
    }
  });

  it('says aloud where the cashier is, what a touch did, and what was refused', async () => {
    const ada = await counter.aMember({ firstName: 'Ada', initialPoints: 3 });
    const page = await openTill('Bar till');
    const said = async (...texts: string[]) => {
      let all: string[] = [];
      await until(async () => {
        all = [...all, ...(await noticed(page, 'said'))];
        return texts.every((text) => all.includes(text));
      }).catch(() => expect(all).toEqual(expect.arrayContaining(texts)));
    };
    await said('Use this device as a till', 'Next customer');
    await findCard(page, 'nosuch99');
    await said('There is no such card.');
    await findCard(page, ada.memberCode);
    await said('Ada L., 3 of 10');
    await button(page, '+1: 1 stamp').click();
    await said('+1Sent ✓', 'Ada L., 4 of 10');
    await page.context().setOffline(true);
    await button(page, 'Give more').click();
    await button(page, '+2: 2 stamps').click();
    await said('+2Noted. It is sent when the internet is back.', 'No internet · 1 not sent yet');
    await button(page, 'Next customer').click();
    await said('Next customer');
    await counter.merchant.call(`/merchants/me/members/${ada.id}/status`, {
      method: 'PATCH',
      body: { status: 'voided' },
    });
    await page.context().setOffline(false);
    await said('Online · Did not go through: 1');
    await page.context().close();
  });

  it('says that a card is blocked or has expired, and offers neither stamps nor rewards then, also in French', async () => {
    const ada = await counter.aMember({ firstName: 'Ada', initialPoints: 9 });
    const words = { connect: 'Connecter', title: 'Client suivant' };
    const page = await openTill('Bar till', { ...screens.phone, locale: 'fr-FR', words });
    const find = async () => {
      await page.getByLabel(/Numéro de carte/).fill(ada.memberCode);
      await button(page, 'Chercher').click();
    };
    await find();
    await button(page, /^\+1/).click();
    await button(page, 'Annuler\u00a0: +1').waitFor();
    await button(page, /^Remettre/).waitFor();
    for (const [status, text] of [
      ['voided', 'Cette carte est bloquée.'],
      ['expired', 'Cette carte a expiré.'],
    ] as const) {
      await counter.merchant.call(`/merchants/me/members/${ada.id}/status`, { method: 'PATCH', body: { status } });
      await button(page, 'Client suivant').click();
      await find();
      await page.getByText(text).waitFor();
      expect(await button(page, /^(\+\d|Remettre)/).count()).toBe(0);
      await button(page, 'Montrer au client').click();
      expect(await page.getByRole('dialog').textContent()).not.toContain('Free coffee');
      await page.getByRole('dialog').getByRole('button').click();
    }
    await page.context().close();
  });

  it('sounds and shakes when it reads, notes, sends and is refused, until that is switched off', async () => {
    const ada = await counter.aMember({ firstName: 'Ada', initialPoints: 8 });
    const page = await openTill('Bar till', screens.desktop);
    const heard = async (sounds: number[], shakes: string[]) => {
      const all: { sounds: number[]; shakes: string[] } = { sounds: [], shakes: [] };
      await until(async () => {
        all.sounds.push(...(await noticed<number>(page, 'sounds')));
        all.shakes.push(...(await noticed(page, 'shakes')));
        return all.sounds.length >= sounds.length && all.shakes.length >= shakes.length;
      }).catch(() => undefined);
      expect(all).toEqual({ sounds, shakes });
    };
    const [read, noted, done, refused] = [880, 660, 1_320, 220];
    await scan(page, ada.memberCode);
    await heard([read], ['30']);
    await button(page, '+1: 1 stamp').click();
    await heard([noted, done], ['40', '60']);
    await counter.merchant.call(`/merchants/me/members/${ada.id}/points`, {
      method: 'PATCH',
      body: { delta: 1 },
      headers: { 'Idempotency-Key': crypto.randomUUID() },
    });
    await button(page, 'Give more').click();
    await button(page, '+1: 1 stamp').click();
    await heard([noted, refused], ['40', '120 80 120']);
    // The card is shown as it is, so that the words of the refusal make sense.
    await page.getByText('10 of 10').waitFor();
    await button(page, 'Redeem: Free coffee').waitFor();
    await page.context().setOffline(true);
    await button(page, 'Redeem: Free coffee').click();
    await heard([noted], ['40']);
    await page.context().setOffline(false);
    await heard([done], ['60']);

    await button(page, 'Next customer').click();
    await page.getByLabel('Sound and vibration').uncheck();
    await page.reload();
    expect(await page.getByLabel('Sound and vibration').isChecked()).toBe(false);
    await scan(page, ada.memberCode);
    await button(page, '+1: 1 stamp').click();
    await sent(page);
    await heard([], []);
    await page.context().close();
  });

  it('does not shake where less motion is asked for', async () => {
    const ada = await counter.aMember({ firstName: 'Ada' });
    const page = await openTill('Bar till', { ...screens.desktop, reducedMotion: 'reduce' });
    await scan(page, ada.memberCode);
    await button(page, '+1: 1 stamp').click();
    await sent(page);
    await until(async () => (await noticed<number>(page, 'sounds')).includes(1_320));
    expect(await noticed(page, 'shakes')).toEqual([]);
    await page.context().close();
  });

  it('asks whose card it is, and shows no more of the people than names, programs and ends of numbers', async () => {
    const externalId = '4006381333931';
    const { _id: programId } = await counter.merchant.program({ name: 'Bakery card', style: 'stamps', goal: 5 });
    await counter.aMember({ firstName: 'Ada', externalId, initialPoints: 4 });
    const alan = await counter.aMember({ firstName: 'Alan', lastName: 'Turing', externalId, programId });
    const page = await openTill('Bar till');
    await scan(page, externalId);
    const heading = page.getByRole('heading', { name: 'Whose card is it?' });
    await heading.waitFor();
    await until(async () => (await noticed(page, 'said')).includes('Whose card is it?'));
    const offered = await heading.locator('..').getByRole('button').allTextContents();
    expect(offered.map((text) => text.replace(/…\u2060\w{4}$/, '…'))).toEqual([
      'Ada L. · Coffee card · …',
      'Alan T. · Bakery card · …',
    ]);
    expect(await page.locator('body').textContent()).not.toMatch(/Lovelace|Turing|@|\b4 of 10/);
    expect(await findBarriers(page)).toEqual([]);
    expect(await cut(page)).toEqual([]);
    await keepScreenshot(page, 'till-choice-phone');
    await button(page, /^Alan T\. · Bakery card/).click();
    await page.getByRole('heading', { name: 'Alan T.' }).waitFor();
    await page.getByText('0 of 5').waitFor();
    await button(page, '+1: 1 stamp').click();
    await sent(page);
    expect(await counter.ledgerOf(alan.id)).toEqual([['earn', 1]]);
    await page.context().close();
  });

  it('tells people of one name and one phone number apart by the ends of their card numbers', async () => {
    const phone = '+4930901820';
    const both = [
      await counter.aMember({ firstName: 'Ada', phone }),
      await counter.aMember({ firstName: 'Ada', phone }),
    ];
    const page = await openTill('Bar till', { ...screens.phone, reader: { lookupBy: ['phone'] } });
    await findCard(page, phone);
    for (const { memberCode } of both)
      await button(page, `Ada L. · Coffee card · …\u2060${memberCode.slice(-4)}`).waitFor();
    expect(await page.locator('body').textContent()).not.toMatch(/Lovelace|@|90 ?18 ?20/);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('what is taken away from the till', () => {
  it('a camera that is refused: it says what to do, and cards are typed', async () => {
    const page = await openTill('Bar till');
    await failCamera(page, ['NotAllowedError']);
    await button(page, 'Scan with the camera').click();
    await page.getByRole('alert').getByText('The camera cannot be used. Allow it', { exact: false }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'till-camera-refused-phone');
    await button(page, 'Scan with the camera').waitFor();
    await findCard(page, grace.memberCode);
    await page.getByRole('heading', { name: 'Grace L.' }).waitFor();
    await page.context().close();
    const without = await openTill('Bar till', screens.phone, plain);
    await button(without, 'Scan with the camera').click();
    await without.getByRole('alert').getByText('The camera cannot be used. Allow it', { exact: false }).waitFor();
    await without.context().close();
  });

  it('a camera whose track ends: it is opened again, and says so while it cannot be', async () => {
    const page = await openTill('Bar till', { ...screens.phone, permissions: ['camera'] });
    await failCamera(page, ['ended', 'NotReadableError', 'AbortError']);
    await button(page, 'Scan with the camera').click();
    await page.getByRole('alert').getByText('The camera has stopped.', { exact: false }).waitFor();
    await page.getByRole('heading', { name: 'Grace L.' }).waitFor();
    await button(page, 'Next customer').click();
    // The card is still before the camera.
    await page.getByText('This card was just read.').waitFor();
    await button(page, 'Open it again').click();
    await page.getByRole('heading', { name: 'Grace L.' }).waitFor();
    await page.context().close();
  });

  it('a connection to its database: it is opened again, and each tap is stored and sent once', async () => {
    const ada = await counter.aMember({ firstName: 'Ada' });
    const page = await openTill('Bar till');
    await findCard(page, ada.memberCode);
    await button(page, '+1: 1 stamp').waitFor();
    await closeDatabases(page);
    await button(page, '+1: 1 stamp').click();
    await sent(page);
    await page.context().setOffline(true);
    await button(page, 'Give more').click();
    await closeDatabases(page);
    await button(page, '+2: 2 stamps').click();
    await page.getByText('1 not sent yet').waitFor();
    await closeDatabases(page);
    await page.reload();
    await page.getByText('1 not sent yet').waitFor();
    await closeDatabases(page);
    await page.context().setOffline(false);
    await page.getByText('1 not sent yet').waitFor({ state: 'detached' });
    expect(await counter.ledgerOf(ada.id)).toEqual([
      ['earn', 1],
      ['earn', 2],
    ]);
    await page.context().close();
  });

  it('its whole storage: it asks for a new code, and the console names what had not been sent', async () => {
    const ada = await counter.aMember({ firstName: 'Ada' });
    const page = await openTill('Wiped till');
    await findCard(page, ada.memberCode);
    await page.getByText('0 of 10').waitFor();
    const protocol = await page.context().newCDPSession(page);
    await page.route('**/till/earn', (route) => route.abort());
    await button(page, '+1: 1 stamp').click();
    await page.getByText('1 not sent yet').waitFor();
    const [listed] = (await counter.asOwner('/merchants/me/readers?pageSize=100')).items;
    const hello = page.waitForResponse('**/till/hello');
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await hello;
    const { origin } = new URL(gateway.url);
    await protocol.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
    await page.getByRole('heading', { name: 'Use this device as a till' }).waitFor();
    const { pairingCode } = await counter.asOwner(`/merchants/me/readers/${listed.id}/pairing`, {});
    await page.getByLabel('Pairing code').fill(pairingCode);
    await button(page, 'Connect').click();
    await page.getByRole('heading', { name: 'Next customer' }).waitFor();
    const now = (await counter.asOwner('/merchants/me/readers?pageSize=100')).items[0];
    expect(now).toMatchObject({ name: 'Wiped till', missing: [{ from: 1, to: 1 }] });
    expect(await counter.ledgerOf(ada.id)).toEqual([]);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('a till below a path', () => {
  it('is paired, installed and started without a line, and keeps to its path', async () => {
    const ada = await counter.aMember({ firstName: 'Ada', initialPoints: 3 });
    const page = await openTill('Bar till');
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(`${gateway.url}/`)) foreign.push(request.url());
    });
    expect(await page.evaluate('navigator.serviceWorker.ready.then(({ scope }) => scope)')).toBe(`${gateway.url}/till`);
    const manifest = await page.evaluate(`fetch(document.querySelector('link[rel=manifest]').href).then((answer) =>
      answer.json().then(({ start_url, scope, icons }) => [start_url, scope, icons[0].src].map((link) =>
        new URL(link, answer.url).href)))`);
    expect(manifest).toEqual([`${gateway.url}/till`, `${gateway.url}/till`, `${gateway.url}/till/assets/till-192.png`]);
    for (const side of [192, 512]) {
      const icon = await fetch(`${gateway.url}/till/assets/till-${side}.png`);
      expect([icon.status, icon.headers.get('content-type')]).toEqual([200, 'image/png']);
    }
    await findCard(page, ada.memberCode);
    await page.getByText('3 of 10').waitFor();
    await page.context().setOffline(true);
    await page.reload();
    await findCard(page, ada.memberCode);
    await button(page, '+1: 1 stamp').click();
    await page.getByText('1 not sent yet').waitFor();
    await page.context().setOffline(false);
    await sent(page);
    expect(await counter.ledgerOf(ada.id)).toEqual([['earn', 1]]);
    expect(await page.getByRole('link').evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual(
      [],
    );
    expect(foreign).toEqual([]);
    await page.context().close();
  });
});
