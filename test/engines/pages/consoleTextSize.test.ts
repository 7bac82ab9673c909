// The console for somebody whose browser shows text twice as large: no page is wider than the window, nothing is cut.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { findConsoleCuts, setTextSize } from '../../rig/checks/wholePage.js';
import { findBarriers, hasBrowser, keepScreenshot, screens, type TestBrowser } from '../../rig/standins/browser.js';
import { goInConsole, openConsole, type StartedConsole, startConsole } from '../../rig/start/console.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let service: TestService;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;
let merchant: TestMerchant;
let paths: [string, string][];

beforeAll(async () => {
  if (!hasBrowser) return;
  ({ service, browser, merchant, stop } = await startConsole());
  const fields = { style: 'stamps', fields: { primaryLabel: 'STEMPEL' }, goal: 10, rewardName: 'Kaffee' };
  const { _id: programId } = await merchant.program({ ...fields, name: 'Café Lilo' });
  const email = 'lilo@example.com';
  const { id } = await merchant.enroll({ programId, email, firstName: 'Lilo', lastName: 'Iloul', initialPoints: 3 });
  await merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta: 1 } });
  await merchant.call('/merchants/me/campaigns', {
    body: { message: 'Heute ein Keks dazu', audience: 'away', sendAt: new Date(Date.now() + 86_400_000).toISOString() },
  });
  paths = [
    ['overview', ''],
    ['program', `/programs/${programId}`],
    ['member', `/members/${id}`],
    ...['programs', 'members', 'imports', 'campaigns', 'webhooks', 'readers', 'api-keys', 'people', 'audit'].map(
      (name): [string, string] => [name, `/${name}`],
    ),
  ];
});
afterAll(() => stop?.());

/** The panel of an import shows most when a file is chosen. */
async function chooseFile(page: Page): Promise<void> {
  const chooser = page.waitForEvent('filechooser');
  await page.locator('.overlay .drop button.button').click();
  const text = 'Kundennummer;Donaudampfschifffahrtsgesellschaftskapitän;Adresse e-mail\r\nK-1;Ada;ada@example.org\r\n';
  await (await chooser).setFiles({ name: 'kunden.csv', mimeType: 'text/csv', buffer: Buffer.from(text) });
  await page.locator('.overlay form select').first().waitFor();
}

describe.runIf(hasBrowser)('text of twice the size', () => {
  it.each(['de-DE', 'en-GB'])('fits each page of the console on a desktop and on a phone in %s', async (locale) => {
    const page = await openConsole({ browser, service, merchant }, '/live-desk', {
      screen: { ...screens.phone, locale },
    });
    await setTextSize(page, 200);
    await page.getByRole('heading', { level: 1 }).waitFor();
    const wrong: string[] = [];
    for (const size of ['desktop', 'phone'] as const) {
      await page.setViewportSize(screens[size].viewport);
      const panels: string[] = [];
      for (const [name, path] of paths) {
        await goInConsole(page, path);
        await until(() => page.evaluate("!document.querySelector('.skeleton')"));
        const cuts = await findConsoleCuts(page);
        wrong.push(...[...cuts, ...(await findBarriers(page))].map((found) => `${name} on a ${size}: ${found}`));
        await keepScreenshot(page, `console-large-${name}-${size}-${locale}`);
        const opener = page.locator('main button:has(.lucide-plus)').first();
        if (!(await opener.isVisible())) continue;
        await opener.click();
        const panel = page.locator('.overlay.side');
        await panel.waitFor();
        panels.push(name);
        if (name === 'imports') await chooseFile(page);
        const besides = [...(await findConsoleCuts(page, '.overlay')), ...(await findBarriers(page))];
        wrong.push(...besides.map((found) => `the panel of ${name} on a ${size}: ${found}`));
        await keepScreenshot(page, `console-large-panel-${name}-${size}-${locale}`, { fullPage: false });
      }
      const all = ['programs', 'members', 'imports', 'campaigns', 'webhooks', 'readers', 'api-keys', 'people'];
      expect(panels).toEqual(all);
    }
    expect(wrong).toEqual([]);
    await page.context().close();
  });
});
