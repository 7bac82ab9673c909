// The live desk of `npm start` (docs/console.md): two virtual phones that are added to the running demo from the
// console.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasBrowser, keepScreenshot, screens, startBrowser, type TestBrowser } from '../rig/browser.js';
import { newStackDir, type RunningStack, startStack } from '../rig/runningStack.js';
import { until } from '../rig/until.js';

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
const hops = async (page: Page): Promise<string[]> =>
  (await page.getByRole('table', { name: 'Every hop' }).getByRole('row').allTextContents()).slice(1);

describe.runIf(hasBrowser)('the live desk', () => {
  it('shows push, list, fetch and the new pass of a change, also after flight mode, and with worker or Temporal killed', async () => {
    const { publicUrl, demo, pids } = stack.file();
    const page = await browser.open('about:blank', screens.desktop);
    await page.context().addCookies([{ name: 'session', value: demo.consoleToken, url: publicUrl }]);
    await page.goto(`${publicUrl}/console/live-desk`);
    await button(page, 'Start wallets and phones').click();
    await page.getByText('worker and API have wallets').waitFor({ timeout: 90_000 });
    await button(page, 'Give both phones a card').click();
    await page
      .getByRole('figure')
      .filter({ hasText: 'Android of Grace' })
      .locator('.pass')
      .waitFor({ timeout: 90_000 });

    const give = button(page, 'Give one of STAMPS');
    await give.click();
    const shows = (hop: RegExp) => until(async () => (await hops(page)).some((line) => hop.test(line)));
    await Promise.all([shows(/iPhonenew face: STAMPS 1/), shows(/Androidnew face: STAMPS 1/)]);
    const told = (await hops(page)).join('\n');
    for (const hop of [
      'APNspush',
      'iPhonelist (GET 200)',
      'iPhonefetch (GET 200)',
      'lock screen: Thank you for your visit',
    ])
      expect(told).toContain(hop);
    expect(told).toMatch(/\d+ msiPhonenew face: STAMPS 1/);
    await keepScreenshot(page, 'console-live-desk');

    await button(page, 'Flight mode').click();
    await button(page, 'Kill the worker').click();
    await until(() => stack.file().pids.worker !== pids.worker && stack.file().pids.worker);
    await give.click();
    await shows(/Androidnew face: STAMPS 2/);
    await button(page, 'End flight mode').click();
    await shows(/iPhonenew face: STAMPS 2/);

    await button(page, 'Kill Temporal').click();
    await until(() => stack.file().pids.temporal !== pids.temporal && stack.file().pids.temporal);
    await shows(/Desktemporal was killed/);
    await until(async () => (await fetch(`${publicUrl}/readyz`)).ok);
    await give.click();
    await Promise.all([shows(/iPhonenew face: STAMPS 3/), shows(/Androidnew face: STAMPS 3/)]);
    await page.context().close();
  });

  it('shows the mails of the demo, each as a page that can do nothing', async () => {
    const { publicUrl, baseUrl, demo } = stack.file();
    const page = await browser.open('about:blank', screens.desktop);
    await page.context().addCookies([{ name: 'session', value: demo.consoleToken, url: publicUrl }]);
    await page.goto(`${publicUrl}/console/live-desk`);
    const joined = await fetch(`${baseUrl}/enroll/demo-stamps/submit`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ email: 'ada@example.com' }),
    });
    const { data } = (await joined.json()) as { data: { apple: { passUrl: string } } };
    const link = page.getByRole('table', { name: 'Every hop' }).getByRole('link').first();
    await link.waitFor({ timeout: 60_000 });
    const [mail] = await Promise.all([page.context().waitForEvent('page'), link.click()]);
    await mail.getByRole('link', { name: data.apple.passUrl }).waitFor();
    const url = new URL(mail.url());
    const { headers } = await fetch(url);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox allow-popups .*default-src 'none'/);
    expect(headers.get('access-control-allow-origin')).toBeNull();
    for (const name of ['no-such.eml', '..%2Fstack.json', url.pathname.slice('/mails/'.length, -'.eml'.length)])
      expect((await fetch(new URL(`/mails/${name}`, url))).status).toBe(404);
    expect((await fetch(new URL('/mails/', url))).status).toBe(403);
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
});
