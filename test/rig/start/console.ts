// A person at the console, in a browser page that is signed in, and the controls that a test presses.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { screens, type TestBrowser } from '../standins/browser.js';
import type { TestMerchant } from './merchant.js';
import type { TestService } from './service.js';

export interface AtConsole {
  browser: TestBrowser;
  service: Pick<TestService, 'publicUrl'>;
  merchant: TestMerchant;
}

/** A page of the console, signed in as owner unless another role is named. */
export async function openConsole(
  { browser, service, merchant }: AtConsole,
  path: string,
  { screen = screens.desktop, role = 'owner' }: { screen?: BrowserContextOptions; role?: string } = {},
): Promise<Page> {
  const page = await browser.open('about:blank', screen);
  const value = await merchant.token({ roleIds: [role] });
  await page
    .context()
    .addCookies([{ name: 'session', value, url: service.publicUrl, httpOnly: true, sameSite: 'Lax' }]);
  await page.goto(`${service.publicUrl}/console${path}`);
  return page;
}

export const headingOf = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true });
export const buttonOf = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
export const fieldOf = (page: Page, name: string) => page.getByLabel(name, { exact: true });
