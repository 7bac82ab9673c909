// A counter of a merchant's own, with tills in a browser, and what a cashier does there.
import type { BrowserContextOptions, Page } from 'playwright-core';
import { pressAtOnce, screens, type TestBrowser } from '../standins/browser.js';
import { openWatched } from '../standins/pageWatch.js';
import { aMerchant } from './merchant.js';
import type { TestService } from './service.js';

export const button = (page: Page, name: string | RegExp) =>
  page.getByRole('button', { name, exact: typeof name === 'string' });

/** The service has the tap that is shown. */
export const sent = (page: Page) => page.getByRole('status').getByText('Sent ✓', { exact: true }).waitFor();

export async function findCard(page: Page, code: string): Promise<void> {
  await page.getByLabel(/Card number/).fill(code);
  await button(page, 'Find').click();
}

/** Types as a scanner does, and Enter at the end. */
export const scan = (page: Page, code: string): Promise<unknown> =>
  pressAtOnce(page, [...[...code].map((key) => ({ key, code: '' })), { key: 'Enter', code: 'Enter' }]);

interface TillOptions extends BrowserContextOptions {
  /** Further fields of the reader. */
  reader?: object;
  /** Where browsers find the service. */
  at?: string;
  words?: { connect: string; title: string };
}

const english = { connect: 'Connect', title: 'Next customer' };

export async function openCounter(service: TestService) {
  const merchant = await aMerchant(service);
  const fields = { style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10, rewardName: 'Free coffee' } as const;
  const stamps = await merchant.program({ ...fields, name: 'Coffee card' });
  const asOwner = async (path: string, body?: object) => {
    const credential = { Authorization: `Bearer ${await merchant.token()}` };
    return (await merchant.call(path, { ...(body && { body }), credential })).body.data;
  };
  return {
    merchant,
    asOwner,
    async aMember(person: object): Promise<{ memberCode: string; id: string }> {
      const email = `${crypto.randomUUID()}@example.com`;
      return merchant.enroll({ programId: stamps._id, email, lastName: 'Lovelace', ...person });
    },
    /** The changes of a member's balance, as type and number. */
    ledgerOf: async (memberId: string) =>
      (await service.deps.collections.ledger.find({ memberId }).sort({ memberVersion: 1 }).toArray())
        .filter(({ type }) => type !== 'initial')
        .map(({ type, delta }) => [type, delta]),
    /** A paired till in a fresh browser profile. */
    async openTill(
      browser: TestBrowser,
      name: string,
      { reader = {}, at = service.publicUrl, words = english, ...options }: TillOptions = screens.phone,
    ): Promise<Page> {
      const { pairingLink } = await asOwner('/merchants/me/readers', { name, ...reader });
      const page = await browser.open('about:blank', { locale: 'en-GB', ...options });
      await openWatched(page, `${at}/till${new URL(pairingLink).hash}`);
      await button(page, words.connect).click();
      await page.getByRole('heading', { name: words.title }).waitFor();
      await page.evaluate('navigator.serviceWorker.ready');
      return page;
    },
  };
}

export type Counter = Awaited<ReturnType<typeof openCounter>>;
