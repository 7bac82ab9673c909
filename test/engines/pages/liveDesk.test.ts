// The live desk of `npm start` (docs/console.md): two virtual phones that hold the cards of the demo's members.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt, SignJWT } from 'jose';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canvas, encodePng } from '../../../activities/wallets/apple/drawing.rules.js';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  keepScreenshot,
  screens,
  startBrowser,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { newStackDir, type RunningStack, startStack } from '../../rig/start/runningStack.js';
import { cookieOf, press } from '../../rig/start/signIn.js';

const { stackDir, remove } = newStackDir();
let stack: RunningStack;
let browser: TestBrowser;

beforeAll(async () => {
  if (!hasBrowser) return;
  [stack, browser] = await Promise.all([startStack(stackDir), startBrowser()]);
});
afterAll(async () => {
  await browser?.close();
  await stack?.stop();
  remove();
});

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const log = (page: Page) => page.getByRole('region', { name: 'What happened', exact: true });
const groups = (page: Page, title: string) => log(page).getByRole('region', { name: title, exact: true });
const figure = (page: Page, name: string) => page.getByRole('figure').filter({ hasText: name });
const chosen = (page: Page, phone: string) =>
  page.getByLabel(`${phone}: card of`).locator('option:checked').textContent();
const drawn = async (page: Page, phone: string) => {
  const pass = figure(page, phone).locator('.pass');
  await pass.waitFor();
  return pass.textContent();
};

async function signIn(page: Page): Promise<void> {
  const { publicUrl, demo } = stack.file();
  await page.context().addCookies([{ name: 'session', value: demo.consoleToken, url: publicUrl }]);
}

async function call<T>(path: string, body: unknown): Promise<T> {
  const { baseUrl, demo } = stack.file();
  const headers = { Authorization: `Bearer ${demo.consoleToken}`, 'Content-Type': 'application/json' };
  const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  const { data, error } = (await answer.json()) as { data: T; error?: { message: string } };
  if (error) throw new Error(error.message);
  return data;
}

const cafe = {
  _id: 'corner-cafe',
  slug: 'corner-cafe',
  name: 'Corner Cafe',
  style: 'stamps',
  fields: { primaryLabel: 'STAMPS' },
  goal: 8,
  rewardName: 'Free coffee',
  passTemplate: {
    colors: { background: '#7c3a1d', foreground: '#ffffff', label: '#fde68a' },
    images: { logo: encodePng(canvas(320, 100), { paper: '#fde68a', ink: '#7c3a1d' }).toString('base64') },
  },
};

describe.runIf(hasBrowser)('the live desk', () => {
  it('puts the card of somebody who joined on the public page on both phones, and shows a stamp arrive', async () => {
    const { publicUrl } = stack.file();
    await call('/merchants/me/programs', cafe);
    await call('/merchants/me/programs/corner-cafe/publish', {});
    const page = await browser.open('about:blank', screens.desktop);
    await signIn(page);
    await page.goto(`${publicUrl}/console/live-desk`);
    await page.getByText('Put a card on a phone first: choose whose.').waitFor();
    await page.goto(`${publicUrl}/enroll/corner-cafe`);
    await page.getByLabel('Email').fill('ada.visitor@example.com');
    await page.getByLabel('First name').fill('Ada');
    await keepScreenshot(page, 'desk-join');
    await page.getByRole('button', { name: 'Get my card' }).click();
    await page.getByRole('heading', { name: 'Look into your mail' }).waitFor();
    await keepScreenshot(page, 'desk-joined');
    expect(await findBarriers(page)).toEqual([]);
    await page.getByRole('link', { name: 'See it on a virtual phone' }).click();
    await figure(page, 'Android').locator('.pass').waitFor();
    expect([await chosen(page, 'iPhone'), await chosen(page, 'Android')]).toEqual([
      'Ada, Corner Cafe',
      'Ada, Corner Cafe',
    ]);
    expect(new URL(page.url()).hash).toBe('');
    expect(stack.printed()).not.toContain('ended with code');
    for (const phone of ['iPhone', 'Android']) {
      expect(await drawn(page, phone)).toContain('Corner Cafe');
      expect(await figure(page, phone).locator('.pass-head img').count()).toBe(1);
    }

    await button(page, 'Give a stamp').click();
    const first = groups(page, 'Ada: STAMPS: 0 → 1');
    for (const step of [
      /\d+ ms.*Apple tells the iPhone/,
      /\d+ ms.*iPhone asks which.*GET 200/,
      /\d+ ms.*iPhone fetches the card.*GET 200/,
      /\d+ ms.*iPhone shows STAMPS: 1; lock screen: Thank you for your visit/,
      /\d+ ms.*Android shows STAMPS: 1/,
    ])
      await first.getByRole('listitem').filter({ hasText: step }).first().waitFor();
    expect(await first.getByRole('time').textContent()).toMatch(/^\d{1,2}:\d\d:\d\d/);
    const headings = await page.getByRole('heading', { level: 2 }).allTextContents();
    expect(headings).toEqual([...new Set(headings)]);
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'console-live-desk');
    const faces = [await drawn(page, 'iPhone'), await drawn(page, 'Android')];

    // A change on another page is measured from the change, too, and the phones keep their cards.
    await page.getByRole('link', { name: 'Open Ada in Members' }).first().click();
    await page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
    expect([await drawn(page, 'iPhone'), await drawn(page, 'Android')]).toEqual(faces);
    await button(page, 'Give a stamp').click();
    await page.getByText('STAMPS: 1 → 2').waitFor();
    await page.getByRole('link', { name: 'Live desk', exact: true }).click();
    const second = groups(page, 'Ada: STAMPS: 1 → 2').getByRole('listitem');
    await second.filter({ hasText: /\d+ ms.*iPhone shows STAMPS: 2/ }).waitFor();
    await second.filter({ hasText: /\d+ ms.*Android shows STAMPS: 2/ }).waitFor();
    for (let stamps = 2; stamps < 5; stamps += 1) {
      await button(page, 'Give a stamp').click();
      await groups(page, `Ada: STAMPS: ${stamps} → ${stamps + 1}`)
        .filter({ hasText: 'Android shows' })
        .waitFor();
    }
    await groups(page, 'Ada: STAMPS: 4 → 5').getByText('Google shows three messages of a card a day').waitFor();
    expect(await log(page).getByText('Google shows three messages').count()).toBe(1);
    expect(await chosen(page, 'iPhone')).toBe('Ada, Corner Cafe');

    // The till of the desk undoes its last tap, and redeems a card that was filled elsewhere.
    const arrives = (change: string, face: string) =>
      groups(page, change).getByRole('listitem').filter({ hasText: face }).first().waitFor();
    await button(page, 'Undo').click();
    await arrives('Ada: STAMPS: 5 → 4', 'iPhone shows STAMPS: 4');
    expect(await button(page, 'Undo').isDisabled()).toBe(true);
    expect(await button(page, 'Redeem').isDisabled()).toBe(true);
    const { memberCode } = await call<{ memberCode: string }>('/till/lookup', { email: 'ada.visitor@example.com' });
    await call('/till/earn', { memberCode, quantity: 4 });
    await until(() => button(page, 'Redeem').isEnabled());
    await button(page, 'Redeem').click();
    await arrives('Ada: STAMPS: 8 → 0', 'Android shows STAMPS: 0');
    await page.setViewportSize(screens.phone.viewport);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await keepScreenshot(page, 'console-live-desk-phone');
    await page.context().close();
  });

  it('offers a member who joins meanwhile, and shows changes after flight mode, and with worker or Temporal killed', async () => {
    const { publicUrl, pids } = stack.file();
    const page = await browser.open('about:blank', screens.desktop);
    await signIn(page);
    await page.goto(`${publicUrl}/console/live-desk`);
    const switchOn = button(page, 'Switch on the phones');
    await page.getByLabel('iPhone: card of').waitFor();
    if (await switchOn.isVisible()) await switchOn.click();
    await until(() => page.getByLabel('iPhone: card of').isEnabled());
    const { id } = await call<{ id: string }>('/merchants/me/members', { programId: 'demo-stamps', firstName: 'Eve' });
    for (const phone of ['iPhone', 'Android']) {
      await page.getByLabel(`${phone}: card of`).locator(`option[value="${id}"]`).waitFor({ state: 'attached' });
      await page.getByLabel(`${phone}: card of`).selectOption(id);
      await until(async () => (await chosen(page, phone)) === 'Eve, Demo Stamps');
      await figure(page, phone).getByText('Demo Stamps').first().waitFor();
    }
    const arrives = (change: string, face: string) =>
      groups(page, change).getByRole('listitem').filter({ hasText: face }).first().waitFor();
    const give = button(page, 'Give a stamp');
    await button(page, 'Flight mode').click();
    await button(page, 'Stop what tells phones').click();
    await until(() => stack.file().pids.worker !== pids.worker && stack.file().pids.worker);
    await give.click();
    await arrives('Eve: STAMPS: 0 → 1', 'Android shows STAMPS: 1');
    await button(page, 'End flight mode').click();
    await arrives('Flight mode off', 'iPhone shows STAMPS: 1');

    await button(page, 'Stop what remembers the work').click();
    await until(() => stack.file().pids.temporal !== pids.temporal && stack.file().pids.temporal);
    await groups(page, 'The part that remembers the work was stopped').waitFor();
    await until(async () => (await fetch(`${publicUrl}/readyz`)).ok);
    await give.click();
    await arrives('Eve: STAMPS: 1 → 2', 'iPhone shows STAMPS: 2');
    await arrives('Eve: STAMPS: 1 → 2', 'Android shows STAMPS: 2');
    await page.context().close();
  });

  it('shows the mails of the demo, each as a page that can do nothing', async () => {
    const { publicUrl, baseUrl } = stack.file();
    const page = await browser.open('about:blank', screens.desktop);
    await signIn(page);
    await page.goto(`${publicUrl}/console/live-desk`);
    const joined = await fetch(`${baseUrl}/enroll/demo-stamps/submit`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.com' }),
    });
    const { data } = (await joined.json()) as { data: { apple: { passUrl: string } } };
    const link = log(page).getByRole('link', { name: 'Mail: Your card: Demo Stamps' }).first();
    await link.waitFor();
    const [mail] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await mail.getByRole('link', { name: data.apple.passUrl }).waitFor();
    const url = new URL(mail.url());
    const owner = { headers: { Cookie: `session=${stack.file().demo.consoleToken}` } };
    const { headers } = await fetch(url, owner);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox allow-popups .*default-src 'none'/);
    expect(headers.get('access-control-allow-origin')).toBeNull();
    for (const name of ['no-such.eml', '..%2Fstack.json', url.pathname.slice('/mails/'.length, -'.eml'.length)])
      expect((await fetch(new URL(`/mails/${name}`, url), owner)).status).toBe(404);
    expect((await fetch(new URL('/mails/', url), owner)).status).toBe(403);
    await page.context().close();
  });

  it('accepts commands only from the console', async () => {
    const page = await (await fetch(`${stack.file().publicUrl}/console`)).text();
    const desk = /name="live-desk" content="([^"]+)"/.exec(page)?.[1] ?? '';
    const order = (headers: Record<string, string>) =>
      fetch(desk, { method: 'POST', body: JSON.stringify({ do: 'kill', name: 'worker' }), headers });
    expect((await order({})).status).toBe(403);
    expect((await order({ Origin: 'http://elsewhere.example' })).status).toBe(403);
  });

  it('is the owner’s alone: another session, one of another merchant, or none, neither reads it nor its mails nor ends anything', async () => {
    const { publicUrl } = stack.file();
    const page = await browser.open('about:blank', screens.desktop);
    await signIn(page);
    await page.goto(`${publicUrl}/console/live-desk`);
    const desk = (await page.locator('meta[name=live-desk]').getAttribute('content')) ?? '';
    const mailed = page.locator('a[href*="/mails/"]').first();
    await call('/merchants/me/users', { email: 'looker@example.com', roleIds: ['viewer'] });
    const folder = join(stackDir, 'mail');
    const link = await until(async () => {
      const texts = await Promise.all((await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')));
      const mail = texts.find((text) => text.includes('looker@example.com'))?.replaceAll(/=\r?\n/g, '');
      return mail && /\/console\/sign-in\/([\w-]+)/.exec(mail)?.[1];
    });
    const looker = { Cookie: `session=${cookieOf(await press({ publicUrl }, link))}` };
    const href = await mailed.getAttribute('href');
    const origin = new URL(publicUrl).origin;
    const { demo, baseUrl } = stack.file();
    const secret = new TextEncoder().encode(await readFile(join(stackDir, 'console-jwt-secret'), 'utf8'));
    const token = await new SignJWT({ ...decodeJwt(demo.consoleToken), merchantId: 'elsewhere' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(secret);
    const neighbour = { Cookie: `session=${token}` };
    const known = (await (await fetch(`${baseUrl}/auth/session`, { headers: neighbour })).json()) as { data: unknown };
    expect(known.data).toMatchObject({ merchant: { id: 'elsewhere' }, roleIds: ['owner'] });
    for (const headers of [looker, neighbour, {}]) {
      const asked = { headers: { ...headers, Origin: origin } };
      expect((await fetch(desk, asked)).status).toBe(403);
      expect((await fetch(href ?? '', asked)).status).toBe(403);
      const body = JSON.stringify({ do: 'kill', name: 'worker' });
      expect((await fetch(desk, { ...asked, method: 'POST', body })).status).toBe(403);
    }
    await page.context().clearCookies();
    await page.context().addCookies([{ name: 'session', value: looker.Cookie.slice(8), url: publicUrl }]);
    await page.goto(`${publicUrl}/console/live-desk`);
    await page.getByText('The live desk is the owner’s').waitFor();
    expect(await page.getByRole('link', { name: 'Live desk', exact: true }).count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Stop what tells phones' }).count()).toBe(0);
    await keepScreenshot(page, 'desk-not-owner', { fullPage: false });
    await page.context().close();
  });
});
