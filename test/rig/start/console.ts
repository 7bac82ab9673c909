// A person at the console, in a browser page that is signed in, and the controls that a test presses.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { buildConsole } from '../../../stack/buildConsole.js';
import { screens, startBrowser, type TestBrowser } from '../standins/browser.js';
import { aMerchant, type TestMerchant } from './merchant.js';
import { type ServiceOptions, startService, type TestService } from './service.js';

export interface AtConsole {
  browser: TestBrowser;
  service: Pick<TestService, 'publicUrl'>;
  merchant: TestMerchant;
}

export interface StartedConsole extends AtConsole {
  service: TestService;
  /** Ends browser and service. */
  stop: () => Promise<void>;
}

/** The console with its service and a browser, and a merchant. */
export async function startConsole(options: ServiceOptions = {}): Promise<StartedConsole> {
  await buildConsole();
  const [service, browser] = await Promise.all([startService(options), startBrowser()]);
  return {
    service,
    browser,
    merchant: await aMerchant(service),
    async stop() {
      await browser.close();
      await service.stop();
    },
  };
}

export async function signInAtConsole(
  page: Page,
  { service, merchant }: Omit<AtConsole, 'browser'>,
  role = 'owner',
): Promise<void> {
  const value = await merchant.token({ roleIds: [role] });
  await page
    .context()
    .addCookies([{ name: 'session', value, url: service.publicUrl, httpOnly: true, sameSite: 'Lax' }]);
}

/** A page of the console, signed in as owner unless another role is named. */
export async function openConsole(
  { browser, ...at }: AtConsole,
  path: string,
  { screen = screens.desktop, role }: { screen?: BrowserContextOptions; role?: string } = {},
): Promise<Page> {
  const page = await browser.open('about:blank', screen);
  await signInAtConsole(page, at, role);
  await page.goto(`${at.service.publicUrl}/console${path}`);
  return page;
}

/**
 * Leads to another page as the menu does, without loading the console again. What a page decides when it is shown, such
 * as what it folds, is decided for the width of now.
 */
export async function goInConsole(page: Page, path: string): Promise<void> {
  await page.evaluate(`document.querySelector('h1').dataset.left = '';
    history.pushState(null, '', '/console${path}');`);
  await page.locator('h1:not([data-left])').waitFor();
}

export const headingOf = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
export { button as buttonOf } from './counter.js';
export const fieldOf = (page: Page, name: string) => page.getByLabel(name, { exact: true });

/** The language, the calls of the tab and the way out are in the menu of the account. */
export const openAccount = (page: Page) => page.getByRole('button', { name: /^Account/ }).click();
