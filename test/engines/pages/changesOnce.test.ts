// A change of points that the console sends is one change, however often its button is pressed: by a double click, and
// again when the answer of the first request was lost.
import type { Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { hasBrowser, type TestBrowser } from '../../rig/standins/browser.js';
import { buttonOf as button, openConsole, type StartedConsole, startConsole } from '../../rig/start/console.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;

beforeAll(async () => {
  if (!hasBrowser) return;
  ({ service, browser, merchant, stop } = await startConsole({ worker: false }));
});
afterAll(() => stop?.());

const failures = (page: Page) => page.locator('.notice.failed');

const open = (path: string) => openConsole({ browser, service, merchant }, path);

/**
 * Requests that change something reach the service, and the answers of the first `count` of them do not reach the page.
 * Ends by the function that it gives.
 */
async function loseAnswers(page: Page, count = Number.POSITIVE_INFINITY): Promise<() => Promise<void>> {
  const isChange = (url: URL) => /\/(points|earn|redeem|reverse|members|campaigns)$/.test(url.pathname);
  let lost = 0;
  const lose = async (route: Route) => {
    if (route.request().method() === 'GET' || lost >= count) return route.fallback();
    lost += 1;
    await route.fetch();
    await route.abort('connectionreset');
  };
  await page.route(isChange, lose);
  return () => page.unroute(isChange, lose);
}

/** A member of a stamp card with three stamps, the last of which was given as an entry of its own. */
async function aMemberWithStamps() {
  const program = await merchant.program({
    ...{ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 20, rewardName: 'Coffee' },
    rewards: [{ id: 'tea', name: 'Tea', cost: 1, active: true }],
  });
  const { id } = await merchant.enroll({ programId: program._id, firstName: 'Cora', initialPoints: 2 });
  await merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta: 1 } });
  return { id, at: `/members/${id}` };
}

const ledgerOf = async (id: string) => {
  const { body } = await merchant.call(`/merchants/me/members/${id}/transactions`);
  return body.data.items.map(({ type, delta }: { type: string; delta: number }) => `${type} ${delta}`).reverse();
};

const before = ['initial 2', 'adjust 1'];
/** Opens the question, if it is not asked yet, and answers it. */
const answered = (opens: string | RegExp, name: string) => async (page: Page) => {
  const dialog = page.getByRole('dialog');
  if (!(await dialog.isVisible())) await button(page, opens).first().click();
  await dialog.getByRole('button', { name }).click();
};

const ways: [string, (page: Page) => Promise<unknown>, entry: string][] = [
  ['+1', (page) => button(page, '+1').click(), 'adjust 1'],
  ['+2', (page) => button(page, '+2').click(), 'earn 2'],
  ['Redeem', answered('Redeem Tea', 'Redeem'), 'redeem -1'],
  ['Undo, in the ledger', answered(/^Undo: reverse/, 'Undo'), 'reversal -1'],
  [
    'Give a stamp, with a message',
    async (page) => {
      await page.getByLabel('Message for the lock screen').fill('One more');
      await button(page, 'Give a stamp').click();
    },
    'adjust 1',
  ],
];

/** Twice within the page, so that no load of the machine parts the clicks. */
async function clickTwice(page: Page, target: Locator, afterMs: number): Promise<void> {
  await target.click({ trial: true });
  await target.evaluate(async (shown, ms) => {
    const { click } = Object(shown);
    click.call(shown);
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    click.call(shown);
  }, afterMs);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await until(() => button(page, '+1').isEnabled());
}

describe.runIf(hasBrowser)('a change of points', () => {
  it.concurrent.each(ways)(
    'is one when its answer is lost and it is pressed again: %s',
    async (_name, press, entry) => {
      const { id, at } = await aMemberWithStamps();
      const page = await open(at);
      const answer = await loseAnswers(page);
      await press(page);
      expect(await failures(page).textContent()).toContain('Press again: it counts once.');
      await answer();
      await press(page);
      await page.locator('.notice.done').waitFor();
      expect(await ledgerOf(id)).toEqual([...before, entry]);
      expect(await failures(page).count()).toBe(0);
      await page.context().close();
    },
  );

  it.concurrent.each([0, 50, 300])('is one for a double click with %i ms between', async (afterMs) => {
    const { id, at } = await aMemberWithStamps();
    const page = await open(at);
    await clickTwice(page, button(page, '+1'), afterMs);
    await button(page, 'Redeem Tea').click();
    await clickTwice(page, page.getByRole('dialog').getByRole('button', { name: 'Redeem' }), afterMs);
    await clickTwice(page, button(page, 'Undo: Tea').first(), afterMs);
    expect(await ledgerOf(id)).toEqual([...before, 'adjust 1', 'redeem -1', 'reversal 1']);
    expect(await failures(page).count()).toBe(0);
    await page.context().close();
  });

  it.concurrent.each([1, 2])('is one for a double click of which %i answers are lost', async (lost) => {
    const { id, at } = await aMemberWithStamps();
    const page = await open(at);
    await loseAnswers(page, lost);
    await clickTwice(page, button(page, '+1'), 50);
    expect(await ledgerOf(id)).toEqual([...before, 'adjust 1']);
    expect(await failures(page).count()).toBe(0);
    await page.context().close();
  });

  it('is another one once it was answered', async () => {
    const { id, at } = await aMemberWithStamps();
    const page = await open(at);
    for (const shown of ['3 → 4', '4 → 5']) {
      await button(page, '+1').click();
      await page.getByText(`STAMPS: ${shown}`).waitFor();
    }
    expect(await ledgerOf(id)).toEqual([...before, 'adjust 1', 'adjust 1']);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('once are also, when the answer is lost and the button pressed again,', () => {
  it('a new member without an email', async () => {
    const { _id: programId, name } = await merchant.program({ name: 'Once' });
    const page = await open('/members');
    await button(page, 'Add a member').click();
    const form = page.getByRole('form', { name: 'Add a member' });
    await form.getByLabel('Loyalty card').selectOption({ label: name });
    await form.getByLabel('First name').fill('Zilli');
    const answer = await loseAnswers(page);
    await button(page, 'Create').click();
    await failures(page).waitFor();
    await answer();
    await button(page, 'Create').click();
    await page.getByRole('heading', { level: 1, name: 'Zilli' }).waitFor();
    expect(await service.deps.collections.members.countDocuments({ programId })).toBe(1);
    await page.context().close();
  });
});
