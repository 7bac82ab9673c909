// The public page of a service that mails the links to cards, and the mail, in a real browser.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  keepScreenshot,
  screens,
  startBrowser,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { aMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

describe.runIf(hasBrowser)('when links are mailed', () => {
  const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-mail-'));
  let service: TestService;
  let browser: TestBrowser;
  let url: string;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startService({ env: { MAIL_FOLDER: folder } }), startBrowser()]);
    const merchant = await aMerchant(service);
    url = `${service.publicUrl}/enroll/${(await merchant.program({ name: 'Corner Coffee', style: 'stamps', goal: 10, language: 'it' })).slug}`;
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const mails = () =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.eml'))
      .toSorted();

  it('the page is the same for a new and a known customer, and both get the link', async () => {
    const email = `${crypto.randomUUID()}@example.com`;
    const answers = [];
    for (let turn = 0; turn < 2; turn += 1) {
      const body = new URLSearchParams({ email, firstName: `Ada ${turn}` });
      const answer = await fetch(url, { method: 'POST', body, redirect: 'manual' });
      const { status, headers } = answer;
      const cookie = headers.get('set-cookie') ?? '';
      const shown = await fetch(new URL(headers.get('location') ?? '', url), {
        headers: { cookie: cookie.split(';', 1)[0] ?? '' },
      });
      const kept = ['location', 'cache-control'].map((name) => headers.get(name));
      // What is in the cookie is encrypted, and its length must not tell either.
      answers.push({ status, kept, cookie: cookie.length, shown: shown.status, text: await shown.text() });
      await until(() => mails().length === turn + 1);
    }
    expect(answers[1]).toEqual(answers[0]);
    expect(answers[0]).toMatchObject({ status: 303, shown: 200, text: expect.stringContaining(email) });
    const page = await browser.open(url);
    expect(await page.getByText('Inviamo il link alla Sua carta a questo indirizzo.').isVisible()).toBe(true);
    await page.locator('#email').fill(email);
    await page.getByRole('button').click();
    expect(await page.getByRole('status').textContent()).toContain(`Inviamo il link alla Sua carta a ${email}.`);
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, 'joined-phone');
    const member = await service.deps.collections.members.findOne({ email });
    const content = await page.content();
    for (const secret of [member?.memberCode, member?.pass.token]) expect(content).not.toContain(secret);
    await page.context().close();
  });

  it('the mail reads well, light and dark, and its button opens the card', async () => {
    const [file = ''] = await until(() => mails().length > 0 && mails());
    const { html = '', subject } = await PostalMime.parse(readFileSync(join(folder, file)));
    expect(subject).toBe('La Sua carta: Corner Coffee');
    const page = await browser.open('about:blank', screens.phone);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await page.setContent(html);
      expect([colorScheme, await findBarriers(page)]).toEqual([colorScheme, []]);
      await keepScreenshot(page, `mail-${colorScheme}`);
    }
    await page.getByRole('link', { name: 'Apri la mia carta' }).click();
    await page.waitForURL('**/passes/**');
    expect(await page.getByRole('article').isVisible()).toBe(true);
    await page.context().close();
  });
});
