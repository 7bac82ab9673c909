// The pages around joining a program that mails its links: each form is answered with a redirect, an address can be
// corrected, a lost card comes back, and everything can be read at any size.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { findCuts, setTextSize } from '../../rig/checks/wholePage.js';
import {
  findBarriers,
  hasBrowser,
  keepScreenshot,
  screens,
  startBrowser,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-join-'));
const enrollment = {
  fields: ['firstName', 'phone'],
  privacyUrl: 'https://example.com/privacy',
  consentText: 'Corner Coffee may keep my details for the card.',
  marketingText: 'Corner Coffee may write to me about offers.',
};
const cafe = {
  name: 'Corner Coffee',
  style: 'stamps',
  goal: 10,
  fields: { primaryLabel: 'STAMPS' },
  passTemplate: { colors: { background: '#3b2417', foreground: '#fff7ed', label: '#fdba74' } },
  enrollment,
};
const newAddress = () => `${crypto.randomUUID()}@example.com`;

describe.runIf(hasBrowser)('the pages to join', () => {
  let service: TestService;
  let browser: TestBrowser;
  let merchant: TestMerchant;

  beforeAll(async () => {
    [service, browser] = await Promise.all([startService({ env: { MAIL_FOLDER: folder } }), startBrowser()]);
    merchant = await aMerchant(service);
  });
  afterAll(async () => {
    await browser?.close();
    await service?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const membersOf = (programId: string) => service.deps.collections.members.find({ programId }).toArray();
  async function linksTo(email: string): Promise<string[]> {
    const names = readdirSync(folder).filter((name) => name.endsWith('.eml'));
    const mails = await Promise.all(names.map((name) => PostalMime.parse(readFileSync(join(folder, name)))));
    return mails
      .filter(({ to }) => to?.some(({ address }) => address === email))
      .flatMap(({ text }) => text?.match(/http\S+/g) ?? []);
  }
  const mailed = (email: string, count = 1) =>
    until(async () => {
      const links = await linksTo(email);
      return links.length >= count && links;
    });

  /** Opens the page, and notes the status of each answer to a form. */
  async function open(program: { slug: string }, options = screens.phone as Parameters<TestBrowser['open']>[1]) {
    const page = await browser.open(`${service.publicUrl}/enroll/${program.slug}?utm_source=poster`, options);
    const statuses: number[] = [];
    page.on('response', (answer) => {
      if (answer.request().method() === 'POST') statuses.push(answer.status());
    });
    return { page, statuses };
  }
  /** Presses the button and waits for the page that answers. */
  const send = (page: Page, name: string) =>
    Promise.all([page.waitForEvent('load'), page.getByRole('button', { name }).click()]);
  async function fill(page: Page, email: string, { marketing = false } = {}) {
    await page.locator('#email').fill(email);
    if (await page.locator('#consent').isVisible()) await page.locator('#consent').check();
    if (marketing) await page.locator('#marketing').check();
    await send(page, 'Get my card');
  }

  it('are answered with redirects, so that each can be loaded again', async () => {
    const program = await merchant.program(cafe);
    const { page, statuses } = await open(program);
    await fill(page, 'nobody');
    const again = async () => {
      await page.reload();
      return page.title();
    };
    expect(await again()).toBe('Please check: Join Corner Coffee');
    expect(await page.locator('#email').inputValue()).toBe('nobody');
    const email = newAddress();
    await fill(page, email);
    expect(await again()).toBe('Look into your mail · Corner Coffee');
    expect(await page.getByRole('status').textContent()).toContain(email);
    expect(new URL(page.url()).search).toBe('?utm_source=poster&sent');
    await page.goto(`${service.publicUrl}/enroll/${program.slug}?lost`);
    await page.locator('#email').fill('x');
    await send(page, 'Mail me the link');
    expect(await again()).toBe('Lost your card? · Corner Coffee');
    expect(await page.locator('#email-error').isVisible()).toBe(true);
    expect(statuses).toEqual([303, 303, 303]);
    expect((await membersOf(program._id)).map(({ attribution }) => attribution)).toEqual([{ utm_source: 'poster' }]);
    await page.context().close();
  });

  it('let a mistyped address be corrected: one member, and the link that went astray works no more', async () => {
    const program = await merchant.program(cafe);
    const { page, statuses } = await open(program);
    const [wrong, right] = [newAddress(), newAddress()];
    await fill(page, wrong, { marketing: true });
    const [astray = ''] = await mailed(wrong);
    await page.getByText('Wrong address, or nothing came?').click();
    await keepScreenshot(page, 'joined-correct-phone');
    expect(await findBarriers(page)).toEqual([]);
    await page.locator('#email').fill('nobody');
    await send(page, 'Send the link again');
    expect(await page.locator('#email-error').isVisible()).toBe(true);
    expect(await page.locator('#email').inputValue()).toBe('nobody');
    expect(await page.getByRole('status').textContent()).toContain(`We are sending the link to your card to ${wrong}.`);
    await page.locator('#email').fill(right);
    await page.getByRole('button', { name: 'Send the link again' }).click();
    await page.getByText(`We are sending the link to your card to ${right}.`).waitFor();
    const [link = ''] = await mailed(right);
    const [member, ...others] = await membersOf(program._id);
    expect([member?.email, others]).toEqual([right, []]);
    expect(member?.marketing?.text).toBe(enrollment.marketingText);
    expect([(await fetch(link)).status, (await fetch(astray)).status]).toEqual([200, 404]);
    // The same address once more, though the same mail went out a moment ago.
    await page.getByText('Wrong address, or nothing came?').click();
    await page.getByRole('button', { name: 'Send the link again' }).click();
    expect(await mailed(right, 2)).toEqual([link, link]);
    expect(statuses).toEqual([303, 303, 303, 303]);
    await page.context().close();
  });

  it('lead back to the form that came too often, whose address can then still be corrected', async () => {
    const env = { MAIL_FOLDER: folder, RATE_LIMIT_PUBLIC: '1', TRUST_PROXY: '1' };
    const strict = await startService({ env });
    try {
      const owner = await aMerchant(strict);
      const program = await owner.program({ ...cafe, enrollment: {} });
      const page = await browser.open(`${strict.publicUrl}/enroll/${program.slug}`);
      const comeFrom = (address: string) => page.setExtraHTTPHeaders({ 'X-Forwarded-For': address });
      await comeFrom('198.51.100.1');
      const [wrong, right] = [newAddress(), newAddress()];
      await page.locator('#email').fill(wrong);
      await send(page, 'Get my card');
      const correct = async () => {
        if (!(await page.locator('#email').isVisible())) await page.locator('summary').click();
        await page.locator('#email').fill(right);
        await send(page, 'Send the link again');
        return page.getByRole('status').textContent();
      };
      expect(await correct()).toContain(`We are sending the link to your card to ${wrong}.`);
      expect(await page.getByRole('alert').textContent()).toContain('There were too many tries.');
      // As after the end of the window: nothing is counted for this address yet.
      await comeFrom('198.51.100.2');
      expect(await correct()).toContain(`to ${right}.`);
      const members = await strict.deps.collections.members.find({ programId: program._id }).toArray();
      expect(members.map(({ email }) => email)).toEqual([right]);
      await page.goto(`${strict.publicUrl}/enroll/${program.slug}?lost`);
      await page.locator('#email').fill(right);
      await send(page, 'Mail me the link');
      expect(await page.title()).toBe('Lost your card? · Corner Coffee');
      expect(await page.getByRole('alert').textContent()).toContain('There were too many tries.');
      await page.context().close();
    } finally {
      await strict.stop();
    }
  });

  it('say the same when the address of a member is typed and corrected, and leave that member alone', async () => {
    const program = await merchant.program(cafe);
    const known = await merchant.enroll({ programId: program._id, email: newAddress(), firstName: 'Known' });
    const [own, unknown] = [newAddress(), newAddress()];
    const seen = [];
    for (const [typed, corrected] of [
      [known.email, own],
      [unknown, known.email],
    ] as const) {
      const { page } = await open(program);
      await fill(page, typed);
      const sent = (await page.content()).replaceAll(typed, 'somebody');
      await page.getByText('Wrong address, or nothing came?').click();
      await page.locator('#email').fill(corrected);
      await page.getByRole('button', { name: 'Send the link again' }).click();
      await page.getByText(`to ${corrected}.`).waitFor();
      seen.push([sent, (await page.content()).replaceAll(corrected, 'somebody')]);
      await page.context().close();
    }
    expect(seen[1]).toEqual(seen[0]);
    const after = await merchant.call(`/merchants/me/members/${known.id}`);
    expect(after.body.data).toMatchObject({ email: known.email, firstName: 'Known' });
    expect(await mailed(own)).not.toContain(after.body.data.apple.passUrl);
    expect(await mailed(known.email, 2)).toEqual(Array(2).fill(after.body.data.apple.passUrl));
  });

  it('drop the link that confirms a mistyped address when it is corrected', async () => {
    const program = await merchant.program({ ...cafe, enrollment: { confirmEmail: true } });
    const { page } = await open(program);
    const [wrong, right] = [newAddress(), newAddress()];
    await fill(page, wrong);
    const [astray = ''] = await mailed(wrong);
    await page.getByText('Wrong address, or nothing came?').click();
    await page.locator('#email').fill(right);
    await page.getByRole('button', { name: 'Send the link again' }).click();
    const [link = ''] = await mailed(right);
    expect((await fetch(astray)).status).toBe(410);
    await page.goto(link);
    await page.getByRole('button', { name: 'Get my card' }).click();
    await page.waitForURL('**/passes/**');
    expect((await membersOf(program._id)).map(({ email }) => email)).toEqual([right]);
    await page.context().close();
  });

  it('lead back to a lost card, and do not say who has one', async () => {
    const program = await merchant.program(cafe);
    const known = await merchant.enroll({ programId: program._id, email: newAddress() });
    const seen = [];
    for (const email of [known.email, newAddress()]) {
      const { page } = await open(program);
      await page.getByRole('link', { name: 'Lost your card?' }).click();
      await keepScreenshot(page, 'lost-phone');
      expect(await findBarriers(page)).toEqual([]);
      await page.locator('#email').fill(email);
      await page.getByRole('button', { name: 'Mail me the link' }).click();
      await page.getByText(`If ${email} has a card here`).waitFor();
      seen.push((await page.content()).replaceAll(email, 'somebody'));
      await page.context().close();
    }
    expect(seen[1]).toBe(seen[0]);
    expect(await mailed(known.email)).toEqual([known.apple.passUrl]);
    expect(await membersOf(program._id)).toHaveLength(1);
  });

  it('keep the consent to marketing of those who gave it, show it in the export, and erase it with the person', async () => {
    const program = await merchant.program(cafe);
    for (const marketing of [true, false]) {
      const { page } = await open(program);
      await fill(page, newAddress(), { marketing });
      await page.context().close();
    }
    const [asked, silent] = await membersOf(program._id);
    const marketing = { at: expect.any(Date), programVersion: 1, text: enrollment.marketingText };
    expect([asked?.marketing, silent && 'marketing' in silent]).toEqual([marketing, false]);
    const at = `/merchants/me/members/${asked?._id}`;
    expect((await merchant.call(at)).body.data.marketing.text).toBe(enrollment.marketingText);
    const credential = { Authorization: `Bearer ${await merchant.token()}` };
    const exported = await merchant.call(`${at}/export`, { credential });
    expect(exported.body.data.kept.members[0].marketing.text).toBe(enrollment.marketingText);
    expect((await merchant.call(at, { method: 'DELETE', credential })).status).toBe(200);
    await until(async () => !(await membersOf(program._id)).some(({ _id }) => _id === asked?._id));
    const submit = (body: object) =>
      merchant.call(`/enroll/${program.slug}/submit`, { body: { consent: true, ...body }, credential: null });
    expect((await submit({ email: newAddress(), marketing: 'on' })).status).toBe(201);
    expect((await membersOf(program._id)).filter((member) => member.marketing)).toHaveLength(1);
  });

  const sizes = [
    ['195 px', 195, 100],
    ['twice the text on a phone', 390, 200],
    ['twice the text on a small phone', 320, 200],
    ['twice the text on a desktop', 1280, 200],
    ['a phone', 390, 100],
    ['a desktop', 1280, 100],
  ] as const;
  it.each(sizes)('are whole with %s', async (what, width, percent) => {
    const program = await merchant.program({ ...cafe, goal: 3, rewardName: 'Ein Cappuccino und ein Croissant' });
    const viewport = { width, height: 800 };
    const { page } = await open(program, { viewport });
    const look = async (name: string) => {
      await keepScreenshot(page, `${name}-${width}-${percent}`);
      expect([name, await findCuts(page)]).toEqual([name, []]);
    };
    await setTextSize(page, percent);
    expect(await page.evaluate('getComputedStyle(document.documentElement).fontSize')).toBe(
      `${(16 * percent) / 100}px`,
    );
    await look('join');
    await fill(page, 'nobody');
    await look('join-wrong');
    const email = newAddress();
    await fill(page, email);
    await page.getByText('Wrong address, or nothing came?').click();
    await look('joined');
    await page.goto(`${service.publicUrl}/enroll/${program.slug}?lost`);
    await look('lost');
    const [member] = await membersOf(program._id);
    for (let turn = 0; turn < 3; turn += 1)
      await merchant.call(`/merchants/me/members/${member?._id}/points`, { method: 'PATCH', body: { delta: 1 } });
    await page.goto(`${service.publicUrl}/passes/${member?.pass.token}?welcome`);
    await look('card');
    const [code, panel] = [page.locator('.code svg'), page.locator('.code')];
    const [box, around] = [await code.boundingBox(), await panel.boundingBox()];
    expect(box?.width).toBeGreaterThan(what === '195 px' ? 110 : 160);
    expect(Math.abs((box?.width ?? 0) - (box?.height ?? 0))).toBeLessThan(1);
    expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual((around?.x ?? 0) + (around?.width ?? 0));
    expect(await panel.locator('strong').textContent()).toBe(member?.memberCode);
    await page.context().close();
  });
});
