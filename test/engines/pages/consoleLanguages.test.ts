// The console in languages other than English: what the browser asks for, what a person chooses, and nothing cut.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { findConsoleCuts } from '../../rig/checks/wholePage.js';
import { findBarriers, hasBrowser, keepScreenshot, screens, type TestBrowser } from '../../rig/standins/browser.js';
import {
  buttonOf,
  fieldOf,
  goInConsole,
  headingOf,
  openAccount,
  openConsole,
  type StartedConsole,
  startConsole,
} from '../../rig/start/console.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let service: TestService;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;
let merchant: TestMerchant;
let programId: string;
let paths: [string, string][];

beforeAll(async () => {
  if (!hasBrowser) return;
  ({ service, browser, merchant, stop } = await startConsole());
  const fields = { style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10, rewardName: 'Kaffee' };
  programId = (await merchant.program({ ...fields, name: 'Café Lilo' }))._id;
  const { id } = await merchant.enroll({ programId, firstName: 'Lilo', lastName: 'Iloul', initialPoints: 3 });
  await cancelledCampaign();
  paths = [
    ['overview', ''],
    ['programs', '/programs'],
    ['program', `/programs/${programId}`],
    ['members', '/members'],
    ['member', `/members/${id}`],
    ...['imports', 'campaigns', 'webhooks', 'requests', 'readers', 'api-keys', 'people', 'audit', 'live-desk'].map(
      (name): [string, string] => [name, `/${name}`],
    ),
  ];
});
afterAll(() => stop?.());

/** The service has a sentence in English for its end. */
async function cancelledCampaign(): Promise<void> {
  const sendAt = new Date(Date.now() + 86_400_000).toISOString();
  const body = { message: '50 %', audience: 'away', sendAt };
  const { body: answer } = await merchant.call('/merchants/me/campaigns', { body });
  await merchant.call(`/merchants/me/batches/${answer.data.id}/cancel`, { method: 'POST' });
}

/** Texts on the page, without codes, the phones (which speak the language of the card) and names of the API. */
const readTexts = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const { currentNode: node } = walker;
    if (node.parentElement.closest('code, pre, style, script, .pass, .phones, details:not([open]) [lang=en]')) continue;
    const text = node.data.trim();
    if (text) found.push(text);
  }
  const spoken = [...document.querySelectorAll('[aria-label], [alt], [placeholder]')];
  for (const element of spoken)
    for (const name of ['aria-label', 'alt', 'placeholder']) if (element.getAttribute(name)) found.push(element.getAttribute(name));
  return found;
})()`;

/** Words of English that none of the other languages has; a part of a member's code, such as 8THE5HGX14, is no word. */
const english =
  /(?<![\p{L}\d])(?:the|and|with|this|that|are|your|you|of|for|not|yet|new|all|members?|cards?)(?![\p{L}\d])/iu;

/** Names of events and of a kind of barcode. */
const ofTheApi = /^(?:member\.\w+|Interleaved 2 of 5 .*)$/;

const settled = (page: Page) => until(() => page.evaluate("!document.querySelector('.skeleton')"));

const openIn = (locale: string, path: string, size: keyof typeof screens) =>
  openConsole({ browser, service, merchant }, path, { screen: { ...screens[size], locale } });

describe.runIf(hasBrowser)('the console', () => {
  it.each([
    ['de-AT', 'de', ['desktop', 'phone']],
    ['it-IT', 'it', ['desktop', 'phone']],
    ['fr-FR', 'fr', ['phone']],
    ['es-ES', 'es', ['phone']],
  ] as const)(
    'of a browser in %s speaks %s on each page, and nothing is cut on a screen of %j',
    async (locale, language, sizes) => {
      const page = await openIn(locale, '/live-desk', 'phone');
      await page.getByRole('heading', { level: 1 }).waitFor();
      const wrong: string[] = [];
      for (const size of sizes) {
        await page.setViewportSize(screens[size].viewport);
        for (const [name, path] of paths) {
          await goInConsole(page, path);
          await settled(page);
          expect(await page.evaluate('document.documentElement.lang')).toBe(language);
          const look = async (what: string, parts?: string) => {
            const texts = (await page.evaluate(readTexts)) as string[];
            const foreign = texts.filter((text) => english.test(text) && !ofTheApi.test(text));
            const cuts = await findConsoleCuts(page, parts);
            const found = [...foreign, ...cuts, ...(await findBarriers(page))];
            wrong.push(...found.map((each) => `${what} on a ${size}: ${each}`));
            await keepScreenshot(page, `console-${language}-${what}-${size}`);
          };
          await look(name);
          const opener = page.locator('.title button.primary:has(svg)');
          if (size !== 'phone' || (await opener.count()) === 0) continue;
          await opener.click();
          await page.locator('.side .dialog').waitFor();
          await look(`${name}-new`, '.side');
        }
      }
      expect(wrong).toEqual([]);
      await page.context().close();
    },
  );

  it('keeps the language that a person chooses in this browser', async () => {
    const page = await openIn('en-GB', '/members', 'desktop');
    await headingOf(page, 'Members').waitFor();
    await openAccount(page);
    await fieldOf(page, 'Language').selectOption({ label: 'Français' });
    await headingOf(page, 'Membres').waitFor();
    await page.goto(`${service.publicUrl}/console/readers`);
    await headingOf(page, 'Appareils de caisse').waitFor();
    expect(await page.evaluate('document.documentElement.lang')).toBe('fr');
    await page.context().close();
  });

  it('says what the service refuses in the language that a person chose, not in that of the browser', async () => {
    const { id } = await merchant.enroll({ programId, firstName: 'Olli' });
    const page = await openIn('en-GB', `/members/${id}`, 'desktop');
    await headingOf(page, 'Olli').waitFor();
    await openAccount(page);
    await fieldOf(page, 'Language').selectOption({ label: 'Français' });
    await page.getByRole('heading', { name: 'Tampons et récompenses' }).waitFor();
    await page.route('**/points', async (route) => {
      await merchant.call(`/merchants/me/members/${id}/status`, { method: 'PATCH', body: { status: 'voided' } });
      await route.continue();
    });
    await buttonOf(page, '+1').click();
    await page.locator('.notice.failed').getByText('Cette carte est bloquée ou expirée.').waitFor();
    await page.context().close();
  });
});
