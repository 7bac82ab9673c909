// The dialog of the console that mails the people of an import their cards, in a real browser.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  isTooWide,
  keepScreenshot,
  screens,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { type SmtpServer, startSmtpServer } from '../../rig/standins/smtpServer.js';
import { buttonOf as button, openConsole, type StartedConsole, startConsole } from '../../rig/start/console.js';
import { batchEnd, sendImport } from '../../rig/start/imports.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let smtp: SmtpServer;
let service: TestService;
let merchant: TestMerchant;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;

beforeAll(async () => {
  if (!hasBrowser) return;
  smtp = await startSmtpServer();
  ({ service, browser, stop } = await startConsole({ env: { SMTP_URL: `smtp://127.0.0.1:${smtp.port}` } }));
});
afterAll(async () => {
  await stop?.();
  await smtp?.close();
});
beforeEach(async () => {
  if (hasBrowser) merchant = await aMerchant(service);
});

async function anImport(emails: readonly string[]): Promise<void> {
  const { _id: programId } = await merchant.program({ name: 'Corner Coffee' });
  const file = ['firstName,email', ...emails.map((email, at) => `Person ${at},${email}`)].join('\n');
  const { body } = await sendImport(merchant, { programId, file });
  await batchEnd(merchant, body.data.batchId);
}
const mailsTo = (address: string) => smtp.mails.filter(({ to }) => to.includes(address));

describe.runIf(hasBrowser).each(['desktop', 'phone'] as const)('the people of an import, on a %s', (screen) => {
  const open = (role: string) =>
    openConsole({ browser, service, merchant }, '/imports', { screen: screens[screen], role });

  it('are counted before they are mailed, each gets one mail, and the import says that they were mailed', async () => {
    const addresses = ['ada', 'ben'].map((name) => `${name}.${screen}@example.org`);
    await anImport([...addresses, '']);
    const page = await open('owner');
    await button(page, 'Mail their cards').click();
    const dialog = page.getByRole('alertdialog').or(page.getByRole('dialog'));
    await dialog.getByText('2 people get a mail with the link to the card. It takes about 1 minute.').waitFor();
    await dialog.getByText('1 person has no email and gets nothing.').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(0);
    await keepScreenshot(page, `card-mails-${screen}`);
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(smtp.mails.filter(({ to }) => addresses.some((address) => to.includes(address)))).toEqual([]);
    await button(page, 'Mail their cards').click();
    await dialog.getByRole('button', { name: 'Mail 2 people' }).dblclick();
    await page.getByText('Their cards are mailed.').waitFor();
    expect(await button(page, 'Mail their cards').count()).toBe(0);
    await until(() => addresses.every((address) => mailsTo(address).length > 0));
    const sent = await service.deps.collections.batches.find({ merchantId: merchant.id, kind: 'cards.mail' }).toArray();
    expect(sent).toHaveLength(1);
    await batchEnd(merchant, sent[0]?._id ?? '');
    expect(addresses.map((address) => mailsTo(address).length)).toEqual([1, 1]);
    await page.reload();
    await page.getByText('Their cards are mailed.').waitFor();
    await page.context().close();
  });

  it('cannot be mailed where none has an email, and not by who may only look', async () => {
    await anImport(['']);
    const page = await open('owner');
    await button(page, 'Mail their cards').click();
    await page.getByText('Nobody of this import has an email.').waitFor();
    expect(await button(page, 'Mail 0 people').isDisabled()).toBe(true);
    await page.context().close();
    const looking = await open('viewer');
    await looking.getByRole('heading', { level: 1 }).waitFor();
    expect(await button(looking, 'Mail their cards').isDisabled()).toBe(true);
    await looking.context().close();
  });
});
