// The overview of an owner: the first steps of a new merchant, then numbers, each of which leads to its list.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { findBarriers, hasBrowser, keepScreenshot, screens, type TestBrowser } from '../../rig/standins/browser.js';
import { headingOf, openConsole, type StartedConsole, startConsole } from '../../rig/start/console.js';
import { aMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let service: TestService;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;

beforeAll(async () => {
  if (!hasBrowser) return;
  ({ service, browser, stop } = await startConsole());
});
afterAll(() => stop?.());

const sizes = [
  ['desktop', screens.desktop],
  ['phone', screens.phone],
] as const;

describe.runIf(hasBrowser)('the overview', () => {
  it('of a new merchant is three steps, each of which is done with the first stamp', async () => {
    const merchant = await aMerchant(service);
    const at = { browser, service, merchant };
    for (const [name, screen] of sizes) {
      const page = await openConsole(at, '', { screen });
      const steps = page.getByRole('region', { name: 'Three steps to your first stamp' });
      await steps.getByText('Give the first stamp').waitFor();
      expect(await steps.getByText('Not done yet').count()).toBe(3);
      await keepScreenshot(page, `console-overview-new-${name}`);
      expect(await findBarriers(page)).toEqual([]);
      await page.context().close();
    }
    const page = await openConsole(at, '');
    const session = { Authorization: `Bearer ${await merchant.token()}` };
    const card = {
      name: 'Coffee card',
      slug: merchant.id.toLowerCase().replace(/[^a-z0-9]/g, 'x'),
      style: 'stamps',
      goal: 5,
    };
    const body = { ...card, fields: { primaryLabel: 'STAMPS' } };
    const draft = (await merchant.call('/merchants/me/programs', { body, credential: session })).body.data;
    const steps = page.getByRole('region', { name: 'Three steps to your first stamp' });
    const doneSteps = () => steps.getByText('Done', { exact: true }).count();
    await page.reload();
    await until(async () => (await doneSteps()) === 1);
    await merchant.call(`/merchants/me/programs/${draft._id}/publish`, { method: 'POST', credential: session });
    await page.reload();
    await until(async () => (await doneSteps()) === 2);
    await keepScreenshot(page, 'console-overview-published-desktop');
    const { id } = await merchant.enroll({ programId: draft._id, firstName: 'Ada' });
    await merchant.call(`/merchants/me/members/${id}/points`, { method: 'PATCH', body: { delta: 1 } });
    const { events } = service.deps.collections;
    await until(async () => (await events.countDocuments({ merchantId: merchant.id, state: 'new' })) === 0);
    await page.reload();
    await page.getByRole('link', { name: /^Visits today 1 / }).waitFor();
    await page.context().close();
  });

  it('has numbers that are those of the lists behind them', async () => {
    const merchant = await aMerchant(service);
    const program = await merchant.program({ style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 5 });
    const people = [];
    for (const initialPoints of [0, 3, 4, 5])
      people.push(await merchant.enroll({ programId: program._id, firstName: 'Ben', initialPoints }));
    const [first, , , last] = people;
    await merchant.call(`/merchants/me/members/${first.id}/points`, { method: 'PATCH', body: { delta: 1 } });
    await merchant.call(`/merchants/me/members/${last.id}/redeem`, { body: {} });
    const { events, members } = service.deps.collections;
    await members.updateOne({ _id: people[1].id }, { $set: { seenAt: new Date(Date.now() - 31 * 86_400_000) } });
    await until(async () => (await events.countDocuments({ merchantId: merchant.id, state: 'new' })) === 0);
    const figures = [
      ['Visits today', 2, 'Came today'],
      ['Customers who came back', 0, 'Came back in the last 7 days'],
      ['New members in 7 days', 4, 'Joined in the last 7 days'],
      ['Rewards in 7 days', 1, 'Had a reward in the last 7 days'],
      ['Cards nearly full', 1, 'Card nearly full'],
      ['Away for 30 days', 1, 'Away for 30 days'],
    ] as const;
    for (const [name, screen] of sizes) {
      const page = await openConsole({ browser, service, merchant }, '', { screen });
      const numbers = page.getByRole('region', { name: 'At a glance' });
      for (const [label, value] of figures)
        await numbers.getByRole('link', { name: new RegExp(`^${label} ${value} `) }).waitFor();
      await numbers.getByText('for 5 stamps').waitFor();
      await page
        .getByRole('img', { name: /^Visits by day/ })
        .locator('canvas')
        .waitFor();
      await keepScreenshot(page, `console-overview-${name}`);
      expect(await findBarriers(page)).toEqual([]);
      if (name === 'desktop')
        for (const [label, value, audience] of figures) {
          await numbers.getByRole('link', { name: new RegExp(`^${label}`) }).click();
          await headingOf(page, 'Members').waitFor();
          await page.getByText(value === 1 ? '1 member' : `${value} members`, { exact: true }).waitFor();
          const who = page.getByLabel('Who', { exact: true });
          expect(await who.locator('option:checked').textContent()).toBe(audience);
          await page.goBack();
        }
      await page.context().close();
    }
  });
});
