// The pages for a merchant's customers in a real browser: enrollment and the web card, with and without JavaScript, on
// a phone and on a desktop, by keyboard and for screen readers.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import { until } from '../../rig/checks/until.js';
import { findCuts } from '../../rig/checks/wholePage.js';
import {
  findBarriers,
  hasBrowser,
  keepScreenshot,
  screens,
  startBrowser,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { type RealWallets, startRealWallets } from '../../rig/start/realWallets.js';

let real: RealWallets;
let browser: TestBrowser;

beforeAll(async () => {
  if (!hasBrowser) return;
  [real, browser] = await Promise.all([startRealWallets(), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await real?.stop();
});

const brown = { background: '#3b2417', foreground: '#fff7ed', label: '#fdba74' };
/** Every text that a merchant can set on a page for customers. */
const wholeCard = {
  name: 'Corner Coffee',
  style: 'stamps',
  goal: 3,
  rewardName: 'Espresso',
  fields: { primaryLabel: 'STAMPS' },
  passTemplate: {
    colors: brown,
    backFields: [{ key: 'terms', label: 'Terms', value: 'One card for each guest.\nNo cash value.' }],
  },
  enrollment: {
    fields: ['firstName', 'phone'],
    privacyUrl: 'https://example.com/privacy',
    consentText: 'Corner Coffee may keep my details for the card.',
  },
};

const blue = { background: '#1e3a8a', foreground: '#ffffff', label: '#bfdbfe' };
const stampCard = {
  name: 'Corner Coffee',
  style: 'stamps',
  goal: 10,
  fields: { primaryLabel: 'STAMPS' },
  passTemplate: { colors: brown },
  enrollment: { fields: ['firstName', 'phone'] },
};
const tierCard = {
  name: 'Harbour Books',
  style: 'tiered',
  goal: 500,
  tiers: [
    { name: 'Reader', threshold: 0 },
    { name: 'Collector', threshold: 200 },
  ],
  passTemplate: { colors: blue },
};

const rewards = [
  { id: 'cookie', name: 'Cookie', cost: 1 },
  { id: 'cake', name: 'Cake', cost: 40 },
];

const enrollUrl = async (fields: Record<string, unknown> = {}): Promise<string> =>
  `${real.service.publicUrl}/enroll/${(await real.merchant.program(fields)).slug}`;

const memberOf = async (page: Page): Promise<MemberRow> => {
  const token = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  return until(() => real.service.deps.collections.members.findOne({ 'pass.token': token }));
};

const award = async (page: Page, body: Record<string, unknown>): Promise<void> => {
  const { _id } = await memberOf(page);
  const { status } = await real.merchant.call(`/merchants/me/members/${_id}/points`, { method: 'PATCH', body });
  expect(status).toBe(200);
};

async function join(page: Page, fields: Record<string, string> = {}): Promise<void> {
  await page.getByLabel('Email').fill(`${crypto.randomUUID()}@example.com`);
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label).fill(text);
  await page.getByRole('button', { name: 'Get my card' }).click();
  await page.waitForURL('**/passes/**');
}

describe.runIf(hasBrowser)('the public page', () => {
  for (const javaScriptEnabled of [true, false]) {
    const way = javaScriptEnabled ? 'with JavaScript' : 'without JavaScript';
    it(`takes a customer from the form to the card, ${way}`, async () => {
      const page = await browser.open(await enrollUrl(stampCard), { ...screens.phone, javaScriptEnabled });
      expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('Join Corner Coffee');
      await keepScreenshot(page, `join-phone-${javaScriptEnabled ? 'js' : 'plain'}`);
      await join(page, { 'First name': 'Ada' });
      expect(await page.getByRole('heading', { name: 'Welcome, Ada!' }).isVisible()).toBe(true);
      const { memberCode, serialNumber } = await memberOf(page);
      expect(await page.getByRole('img', { name: `Code of Member ID ${memberCode}` }).isVisible()).toBe(true);
      expect(await page.content()).not.toContain(serialNumber);
      const links = await page.getByRole('navigation', { name: 'Add to a wallet' }).getByRole('link').allTextContents();
      expect(links).toEqual(['Add to Apple Wallet', 'Add to Google Wallet']);
      await keepScreenshot(page, `card-new-phone-${javaScriptEnabled ? 'js' : 'plain'}`);
      await page.context().close();
    });
  }

  it('shows each error next to its field, keeps the input, and accepts the corrected form', async () => {
    const page = await browser.open(await enrollUrl(stampCard), { ...screens.phone, javaScriptEnabled: false });
    await page.getByLabel('First name').fill('Ada');
    await page.getByLabel('Phone').fill('call me');
    await page.getByLabel('Email').fill('nobody');
    await page.getByRole('button').click();
    expect(await page.title()).toBe('Please check: Join Corner Coffee');
    expect(await page.getByRole('alert').textContent()).toBe('Please check the marked fields.');
    for (const name of ['email', 'phone']) {
      const input = page.locator(`#${name}`);
      expect(await input.getAttribute('aria-invalid')).toBe('true');
      const described = await input.getAttribute('aria-describedby');
      expect(await page.locator(`#${described}`).textContent()).toMatch(
        name === 'email' ? 'Enter an email address' : 'Enter a phone number',
      );
    }
    expect(await page.locator('#firstName').getAttribute('aria-invalid')).toBeNull();
    expect(await page.getByLabel('First name').inputValue()).toBe('Ada');
    await keepScreenshot(page, 'join-errors-phone');
    await join(page, { Phone: '+49 30 1234567' });
    expect((await memberOf(page)).firstName).toBe('Ada');
    await page.context().close();
  });

  it('shows no card for a known email, and stores the source of the visit', async () => {
    const url = `${await enrollUrl()}?utm_source=poster`;
    const email = `${crypto.randomUUID()}@example.com`;
    const pages = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const page = await browser.open(url);
      await page.getByLabel('Email').fill(email);
      await page.getByRole('button').click();
      await page.waitForLoadState();
      pages.push(page);
    }
    const [first, second] = pages;
    if (!first || !second) throw new Error('no pages');
    const { memberCode, pass, attribution } = await memberOf(first);
    expect(attribution).toEqual({ utm_source: 'poster' });
    expect(await second.getByRole('heading', { name: 'You are in already' }).isVisible()).toBe(true);
    const content = await second.content();
    expect([content.includes(memberCode), content.includes(pass.token)]).toEqual([false, false]);
    for (const page of pages) await page.context().close();
  });

  it('leads a second submission of the same form to the card, and nobody else', async () => {
    const url = await enrollUrl();
    const email = `${crypto.randomUUID()}@example.com`;
    const cookie = ((await fetch(url)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
    const submit = (headers: Record<string, string>, body: Record<string, string> = {}) =>
      fetch(url, { method: 'POST', redirect: 'manual', headers, body: new URLSearchParams({ email, ...body }) });
    const twice = await Promise.all([submit({ cookie }), submit({ cookie })]);
    const [place, again] = twice.map((answer) => answer.headers.get('location'));
    expect([twice.map(({ status }) => status), again]).toEqual([[303, 303], place]);
    const stranger = await submit({ cookie: 'join=somebody-elses-cookie' });
    expect([stranger.status, stranger.headers.get('location')]).toEqual([303, `${new URL(url).pathname}?sent`]);
  });

  it('shows the form again with what was typed when a browser filled the hidden field', async () => {
    const page = await browser.open(`${await enrollUrl()}?utm_source=a&utm_source=b&phone=nobody%27s`);
    const email = `${crypto.randomUUID()}@example.com`;
    await page.getByLabel('Email').fill(email);
    await page.locator('.unseen input').evaluate((input) => input.setAttribute('value', 'filled'));
    await page.getByRole('button').click();
    expect(await page.getByRole('alert').textContent()).toBe('Please send the form once more.');
    expect(await page.getByLabel('Email').inputValue()).toBe(email);
    await page.getByRole('button').click();
    await page.waitForURL(/passes/);
    expect((await memberOf(page)).attribution).toEqual({ utm_source: 'a' });
    await page.context().close();
  });

  it('can be filled in by keyboard alone, in the order of the page', async () => {
    const page = await browser.open(await enrollUrl(stampCard), screens.desktop);
    const seen = [];
    for (let turn = 0; turn < 4; turn += 1) {
      await page.keyboard.press('Tab');
      seen.push(await page.evaluate('document.activeElement.name || document.activeElement.textContent'));
      if (turn === 0) await page.keyboard.type(`${crypto.randomUUID()}@example.com`);
    }
    expect(seen).toEqual(['email', 'firstName', 'phone', 'Get my card']);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/passes/**');
    await page.context().close();
  });

  it('shows a wide logo at a readable size, on the form and on the card', async () => {
    const logo = encodePng(canvas(320, 100), { paper: '#fdba74', ink: '#3b2417' }).toString('base64');
    const passTemplate = { colors: brown, images: { logo } };
    const page = await browser.open(await enrollUrl({ ...stampCard, passTemplate }));
    const size = async () => {
      const { width = 0, height = 0 } = (await page.locator('img.logo').boundingBox()) ?? {};
      return { height: Math.round(height), ratio: Math.round((10 * width) / height) / 10 };
    };
    expect(await size()).toEqual({ height: 56, ratio: 3.2 });
    await keepScreenshot(page, 'join-logo-phone');
    await join(page);
    expect(await size()).toEqual({ height: 40, ratio: 3.2 });
    await keepScreenshot(page, 'card-logo-phone');
    await page.context().close();
  });

  it('is 404 with a message for people when there is nothing to join', async () => {
    const page = await browser.open(`${real.service.publicUrl}/enroll/no-such-program`);
    expect(await page.getByRole('heading').textContent()).toBe('Nobody can join here');
    expect(await page.title()).toBe('Nobody can join here');
    await page.goto(`${real.service.publicUrl}/passes/${'x'.repeat(32)}`);
    expect(await page.getByRole('heading').textContent()).toBe('There is no such card');
    expect(await page.title()).toBe('There is no such card');
    await page.goto(await enrollUrl({ ...stampCard, archived: true }));
    expect(await page.getByRole('heading').textContent()).toMatch(/ takes no new members now$/);
    expect(await page.getByRole('textbox').count()).toBe(0);
    await keepScreenshot(page, 'join-closed-phone');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'Lost your card?' }).click();
    await page.getByRole('heading', { name: 'Lost your card?' }).waitFor();
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('the web card', () => {
  it('fills its stamps and shows the message while it is open', async () => {
    const page = await browser.open(await enrollUrl(stampCard));
    await join(page);
    expect(await page.locator('#stamps li').count()).toBe(10);
    expect(await page.locator('#stamps li.full').count()).toBe(0);
    for (let turn = 1; turn <= 4; turn += 1)
      await award(page, { delta: 1, changeMessage: `Stamp ${turn}, thank you!` });
    await until(async () => (await page.locator('#stamps li.full').count()) === 4);
    expect(await page.locator('#balance').textContent()).toBe('4');
    expect(await page.locator('#message').textContent()).toBe('Stamp 4, thank you!');
    expect(await page.getByRole('status').last().textContent()).toBe('STAMPS: 4. Stamp 4, thank you!');
    await keepScreenshot(page, 'card-stamps-phone');
    await page.setViewportSize(screens.desktop.viewport);
    await keepScreenshot(page, 'card-stamps-desktop');
    await page.context().close();
  });

  it('shows tiers with the way to the next one, and the state of a voided card', async () => {
    const page = await browser.open(await enrollUrl(tierCard), screens.desktop);
    await keepScreenshot(page, 'join-desktop');
    await join(page, { 'First name': 'Grace', 'Last name': 'Hopper' });
    await award(page, { delta: 140, changeMessage: 'Thank you for your visit' });
    await until(async () => (await page.locator('#balance').textContent()) === '140');
    expect(await page.locator('#tier').textContent()).toBe('Reader');
    expect(await page.locator('#next').textContent()).toBe('60 to Collector');
    const bar = page.getByRole('progressbar', { name: 'Towards Collector' });
    expect([await bar.getAttribute('value'), await bar.getAttribute('max')]).toEqual(['140', '200']);
    await keepScreenshot(page, 'card-tiers-desktop');
    await page.setViewportSize(screens.phone.viewport);
    await keepScreenshot(page, 'card-tiers-phone');
    const { _id } = await memberOf(page);
    await real.merchant.call(`/merchants/me/members/${_id}/status`, {
      method: 'PATCH',
      body: { status: 'voided', reason: 'the card was reported lost' },
    });
    const notice = 'This card is blocked. Reason: the card was reported lost';
    await until(async () => (await page.locator('#status').textContent()) === notice);
    const wallets = page.getByRole('navigation', { name: 'Add to a wallet' });
    expect(await wallets.isVisible()).toBe(false);
    await page.reload();
    expect([await page.locator('#status').textContent(), await wallets.isVisible()]).toEqual([notice, false]);
    expect(await findCuts(page)).toEqual([]);
    expect(await page.getByText('Show the code at the till').isVisible()).toBe(false);
    await keepScreenshot(page, 'card-voided-phone');
    await page.context().close();
  });

  it('offers Google Wallet as soon as Google has the card, also when it was opened before', async () => {
    const page = await browser.open(await enrollUrl());
    await join(page);
    const google = page.getByRole('link', { name: 'Add to Google Wallet' });
    await google.waitFor();
    const { _id, pass } = await memberOf(page);
    const { members } = real.service.deps.collections;
    await members.updateOne({ _id }, { $unset: { 'pass.googleSaveUrl': '' } });
    await page.reload();
    expect(await google.count()).toBe(0);
    await members.updateOne({ _id }, { $set: { 'pass.googleSaveUrl': pass.googleSaveUrl ?? '' } });
    await google.waitFor();
    expect(await google.getAttribute('href')).toBe(pass.googleSaveUrl);
    await page.context().close();
  });

  it('shows which rewards are ready, and stays current', async () => {
    const page = await browser.open(await enrollUrl({ rewards }));
    await join(page);
    const lines = page.getByRole('list', { name: 'Rewards' }).getByRole('listitem');
    const read = async () => (await lines.allTextContents()).map((line) => line.replace(/\s+/g, ' '));
    expect(await read()).toEqual(['Cookie 1 1 to go', 'Cake 40 40 to go', 'Reward 100 100 to go']);
    await award(page, { delta: 40 });
    await until(async () => (await page.locator('#rewards .ready').count()) === 2);
    expect(await read()).toEqual(['Cookie 1 Ready', 'Cake 40 Ready', 'Reward 100 60 to go']);
    await page.context().close();
  });

  it('offers its wallet buttons to the keyboard, and a way to the phone on desktops only', async () => {
    const page = await browser.open(await enrollUrl(), screens.desktop);
    await join(page);
    const aside = page.getByRole('complementary', { name: 'On your phone' });
    expect(await aside.isVisible()).toBe(true);
    const reached = [];
    for (let turn = 0; turn < 2; turn += 1) {
      await page.keyboard.press('Tab');
      reached.push(await page.evaluate('document.activeElement.textContent'));
    }
    expect(reached).toEqual(['Add to Apple Wallet', 'Add to Google Wallet']);
    // Only the demo has virtual phones.
    expect(await page.content()).not.toMatch(/virtual phone|live-desk/);
    await page.setViewportSize(screens.phone.viewport);
    expect(await aside.isVisible()).toBe(false);
    await page.context().close();
  });

  it('is up to date without JavaScript when it is opened again', async () => {
    const page = await browser.open(await enrollUrl(), { ...screens.phone, javaScriptEnabled: false });
    await join(page);
    await award(page, { delta: 25 });
    await page.reload();
    expect(await page.locator('#balance').textContent()).toBe('25');
    await page.context().close();
  });

  it('loads no scripts and calls no servers of third parties', async () => {
    const page = await browser.open(await enrollUrl());
    const asked: string[] = [];
    const refused: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).origin));
    page.on('console', (message) => refused.push(message.text()));
    await join(page);
    await award(page, { delta: 1 });
    await until(async () => (await page.locator('#balance').textContent()) === '1');
    expect([...new Set(asked)]).toEqual([real.service.publicUrl]);
    expect(refused).toEqual([]);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('a whole card', () => {
  it('needs the consent that the program asks for, and keeps it with time and version', async () => {
    const page = await browser.open(await enrollUrl(wholeCard), { ...screens.phone, javaScriptEnabled: false });
    await page.getByLabel('Email').fill(`${crypto.randomUUID()}@example.com`);
    await page.getByRole('button').click();
    const box = page.getByRole('checkbox', { name: wholeCard.enrollment.consentText });
    expect([await box.isChecked(), await box.getAttribute('aria-invalid')]).toEqual([false, 'true']);
    expect(await page.locator('#consent-error').textContent()).toBe('Please tick the box to join');
    expect(await page.getByRole('link', { name: 'How your data is used' }).getAttribute('href')).toBe(
      wholeCard.enrollment.privacyUrl,
    );
    const before = Date.now();
    await box.check();
    await page.getByRole('button').click();
    await page.waitForURL('**/passes/**');
    const { _id, consent } = await memberOf(page);
    expect(consent).toMatchObject({ text: wholeCard.enrollment.consentText, programVersion: 1 });
    expect(consent?.at.getTime()).toBeGreaterThanOrEqual(before - 1_000);
    const { body } = await real.merchant.call(`/merchants/me/members/${_id}`);
    expect(body.data.consent).toEqual({ ...consent, at: consent?.at.toISOString() });
    await page.context().close();
  });

  it.each([
    ['Linux; Android 15; Pixel 9', ['Add to Google Wallet', 'Add to Apple Wallet']],
    ['iPhone; CPU iPhone OS 18_0 like Mac OS X', ['Add to Apple Wallet', 'Add to Google Wallet']],
  ])('offers the wallet of the phone first: %s', async (phone, buttons) => {
    const page = await browser.open(await enrollUrl(), { ...screens.phone, userAgent: `Mozilla/5.0 (${phone})` });
    await join(page);
    expect(await page.getByRole('navigation').getByRole('link').allTextContents()).toEqual(buttons);
    await page.context().close();
  });

  it('celebrates when the last stamp comes, while it is open', async () => {
    const page = await browser.open(await enrollUrl({ ...wholeCard, enrollment: {} }));
    await join(page);
    for (let turn = 0; turn < 2; turn += 1) await award(page, { delta: 1 });
    await until(async () => (await page.locator('#balance').textContent()) === '2');
    expect(await page.locator('#celebration').isVisible()).toBe(false);
    await award(page, { delta: 1 });
    await until(() => page.locator('#celebration').isVisible());
    expect(await page.locator('#celebration').textContent()).toContain('Ready for you: Espresso.');
    // The last place of the confetti is over the text where letters are large.
    const fallen = `[...document.querySelectorAll('.celebration i')].map((each) => {
      for (const fall of each.getAnimations()) fall.finish();
      return getComputedStyle(each).opacity;
    })`;
    expect(new Set(await page.evaluate<string[]>(fallen))).toEqual(new Set(['0']));
    expect(await page.getByRole('status').last().textContent()).toContain('Ready for you: Espresso.');
    await page.getByText('About this card').click();
    expect(await page.getByText('No cash value.').isVisible()).toBe(true);
    await page.context().close();
  });

  const says = {
    de: { button: 'Meine Karte holen', celebration: 'Ihre Karte ist voll!', about: 'Über diese Karte' },
    fr: { button: 'Obtenir ma carte', celebration: 'Votre carte est complète !', about: 'À propos de cette carte' },
  } as const;
  it.each(['de', 'fr'] as const)(
    'is clean for axe in %s, on a phone in light and a desktop in dark',
    async (language) => {
      const { button, celebration, about } = says[language];
      // German is chosen by the browser, French by the program.
      const byProgram = language === 'fr' ? { language } : {};
      const locale = language === 'de' ? 'de-AT' : 'en-GB';
      const page = await browser.open(await enrollUrl({ ...wholeCard, ...byProgram }), { ...screens.phone, locale });
      const bothScreens = async (name: string) => {
        for (const [screen, colorScheme] of [
          ['phone', 'light'],
          ['desktop', 'dark'],
        ] as const) {
          await page.setViewportSize(screens[screen].viewport);
          await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
          expect([name, screen, await findBarriers(page)]).toEqual([name, screen, []]);
          await keepScreenshot(page, `${name}-${language}-${screen}-${colorScheme}`);
        }
      };
      expect(await page.locator('html').getAttribute('lang')).toBe(language);
      await bothScreens('join');
      await page.locator('#email').fill('nobody');
      await page.getByRole('button', { name: button }).click();
      await bothScreens('join-errors');
      await page.locator('#email').fill(`${crypto.randomUUID()}@example.com`);
      await page.locator('#firstName').fill('Ada');
      await page.locator('#consent').check();
      await page.getByRole('button', { name: button }).click();
      await page.waitForURL('**/passes/**');
      for (let turn = 0; turn < 3; turn += 1) await award(page, { delta: 1 });
      await until(() => page.getByText(celebration).isVisible());
      await page.getByText(about).click();
      await bothScreens('card-full');
      await page.context().close();
    },
  );
});

describe.runIf(hasBrowser)('accessibility', () => {
  const looks = [
    ['stamps', stampCard, 'light'],
    ['tiers', tierCard, 'dark'],
    ['points', { rewards }, 'light'],
  ] as const;
  it.each(looks)('axe finds no problem with %s', async (kind, fields, colorScheme) => {
    const page = await browser.open(await enrollUrl(fields), { ...screens.phone, colorScheme });
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('button').click();
    expect(await findBarriers(page)).toEqual([]);
    await join(page);
    await award(page, { delta: 1, changeMessage: 'Thank you' });
    await until(async () => (await page.locator('#message').textContent()) === 'Thank you');
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, `card-${kind}-${colorScheme}-phone`);
    await page.context().close();
  });
});
