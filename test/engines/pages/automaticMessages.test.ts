// The automatic messages on the page of the campaigns: a person switches one on, changes it and switches it off.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { findBarriers, hasBrowser, keepScreenshot, type TestBrowser } from '../../rig/standins/browser.js';
import { openConsole, type StartedConsole, startConsole } from '../../rig/start/console.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;

beforeAll(async () => {
  if (!hasBrowser) return;
  ({ service, browser, merchant, stop } = await startConsole());
});
afterAll(() => stop?.());

const rules = () =>
  service.deps.collections.automaticMessages.find({ merchantId: merchant.id, audience: 'joined' }).toArray();

describe.runIf(hasBrowser)('an automatic message', () => {
  it('is switched on with its text, changed and switched off, and says whom it would go to today', async () => {
    const { _id: programId } = await merchant.program({ name: 'Coffee card', timeZone: 'Europe/Berlin' });
    await merchant.enroll({ programId });
    const page = await openConsole({ browser, service, merchant }, '/campaigns');
    const form = page.getByRole('form', { name: 'Joined in the last 7 days' });
    await page.getByLabel('Messages of', { exact: true }).selectOption({ label: 'Coffee card' });
    await form.getByText('Today it would go to 1 member, 0 with the card on a phone.').waitFor();
    const send = form.getByRole('switch', { name: 'Send it by itself' });
    expect(await send.isChecked()).toBe(false);

    await send.press('Space');
    await form.getByText('is required').waitFor();
    expect(await rules()).toEqual([]);
    await form.getByLabel('Text', { exact: true }).fill('Welcome to us');
    await form.getByLabel('Time of day (clock of Europe/Berlin)').selectOption('9');
    await send.press('Space');
    await page.getByText('The automatic message is saved.').waitFor();
    await until(() => send.isChecked());
    await form.getByText(/^Next: .* 9:00\sAM GMT\+\d$/).waitFor();
    expect(await rules()).toMatchObject([{ on: true, hour: 9, message: 'Welcome to us' }]);
    await keepScreenshot(page, 'console-automatic-desktop', { fullPage: true });

    await form.getByLabel('Text', { exact: true }).fill('A warm welcome');
    await form.getByRole('button', { name: 'Save' }).click();
    await until(async () => (await rules())[0]?.message === 'A warm welcome');
    await page.setViewportSize({ width: 390, height: 844 });
    await page.reload();
    await page.locator('summary').filter({ hasText: 'Automatic messages' }).click();
    await page.getByLabel('Messages of', { exact: true }).selectOption({ label: 'Coffee card' });
    await form.getByText('Next:').waitFor();
    await keepScreenshot(page, 'console-automatic-phone', { fullPage: true });
    await send.press('Space');
    await until(async () => (await rules())[0]?.on === false);
    await until(async () => !(await send.isChecked()));
    expect(await findBarriers(page)).toEqual([]);
    await page.context().close();
  });

  it('is shown by UTC in a browser that does not know the time zone of the card', async () => {
    const { _id: programId } = await merchant.program({ name: 'Far card', timeZone: 'America/Coyhaique' });
    const page = await openConsole({ browser, service, merchant }, '/campaigns');
    await page.addInitScript(`Intl.DateTimeFormat = class extends Intl.DateTimeFormat {
      constructor(locale, options) {
        if (options?.timeZone === 'America/Coyhaique') throw new RangeError('Invalid time zone specified');
        super(locale, options);
      }
    }`);
    const body = { audience: 'joined', on: true, hour: 9, message: 'Welcome' };
    await merchant.call(`/merchants/me/programs/${programId}/automatic-messages`, { method: 'PATCH', body });
    await page.reload();
    await page.getByLabel('Messages of', { exact: true }).selectOption({ label: 'Far card' });
    await page
      .getByRole('form', { name: 'Joined in the last 7 days' })
      .getByText(/^Next: .* UTC$/)
      .waitFor();
    await page.context().close();
  });

  it('is only shown to somebody who may not send', async () => {
    await merchant.program({ name: 'Another card' });
    const page = await openConsole({ browser, service, merchant }, '/campaigns', { role: 'viewer' });
    const form = page.getByRole('form', { name: 'Card nearly full' });
    await form.waitFor();
    expect(await form.getByRole('switch').isDisabled()).toBe(true);
    await page.getByLabel('Messages of', { exact: true }).selectOption({ label: 'Another card' });
    await form.getByText('Today it would go to 0 members').waitFor();
    await page.context().close();
  });
});
