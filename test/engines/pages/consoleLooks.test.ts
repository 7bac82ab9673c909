// What the console looks like and how it is worked with: its menus, fonts, tables and side panels.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  isTooWide,
  keepScreenshot,
  screens,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { aGate } from '../../rig/standins/gate.js';
import {
  buttonOf,
  fieldOf,
  headingOf,
  openConsole,
  type StartedConsole,
  startConsole,
} from '../../rig/start/console.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';
import { aLink, aUser } from '../../rig/start/signIn.js';

let service: TestService;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;
let merchant: TestMerchant;

beforeAll(async () => {
  if (!hasBrowser) return;
  ({ service, browser, merchant, stop } = await startConsole());
});
afterAll(() => stop?.());

const sizes = ['desktop', 'phone'] as const;
const open = (path: string, size: (typeof sizes)[number] = 'desktop') =>
  openConsole({ browser, service, merchant }, path, { screen: screens[size] });

describe.runIf(hasBrowser)('the account', () => {
  it.each(sizes)('says on a %s who is signed in and with which role, and is closed with Escape', async (size) => {
    const user = await aUser(service.deps, { merchantId: merchant.id });
    const page = await browser.open(
      `${service.publicUrl}/console/sign-in/${await aLink(service.deps, user)}`,
      screens[size],
    );
    await page.getByRole('button').click();
    await headingOf(page, 'Overview').waitFor();
    const opener = buttonOf(page, `Account ${user.email}`).or(buttonOf(page, 'Account'));
    await opener.focus();
    await page.keyboard.press('Enter');
    const account = page.getByRole('region', { name: 'Account' });
    await account.getByText(user.email, { exact: true }).waitFor();
    await account.getByText('Owner', { exact: true }).waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, `console-account-${size}`, { fullPage: false });
    await page.keyboard.press('Tab');
    expect(await fieldOf(page, 'Language').evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.press('Escape');
    await account.waitFor({ state: 'hidden' });
    expect(await opener.evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('the frame', () => {
  it('has the logo of the first program that is published, and the name of the merchant', async () => {
    const draft = { name: 'A draft', slug: `draft-${crypto.randomUUID()}`, style: 'points' };
    const body = { ...draft, fields: { primaryLabel: 'POINTS' } };
    const credential = { Authorization: `Bearer ${await merchant.token()}` };
    await merchant.call('/merchants/me/programs', { body, credential });
    const program = await merchant.program();
    const page = await open('/members');
    await until(() =>
      page.evaluate(`(() => {
        const logo = document.querySelector('.brand img');
        return logo?.src.includes('/wallet/images/${program._id}/') && logo.naturalWidth > 0;
      })()`),
    );
    await page.context().close();
  });

  it.each(sizes)('is written in a font of the service, and does not move on a %s while it loads', async (size) => {
    const page = await browser.open('about:blank', screens[size]);
    await page.addInitScript(`globalThis.moved = 0;
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) moved += value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    const value = await merchant.token();
    await page.context().addCookies([{ name: 'session', value, url: service.publicUrl }]);
    const fonts: string[] = [];
    page.on('response', (answer) => {
      if (answer.request().resourceType() === 'font')
        fonts.push(`${answer.status()} ${answer.headers()['content-type']}`);
    });
    await page.goto(`${service.publicUrl}/console/members`);
    await headingOf(page, 'Members').waitFor();
    await page.waitForLoadState('networkidle');
    expect(fonts).toEqual(['200 font/woff2']);
    expect(await page.evaluate('document.fonts.check(\'16px "Inter Variable"\')')).toBe(true);
    const moved = Number(await page.evaluate('moved'));
    console.log(`On a ${size} the page of the members moved by ${moved.toFixed(3)} while it loaded.`);
    expect(moved).toBeLessThan(0.1);
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('a table', () => {
  it('leads to what a row is about, wherever the row is pressed, by one link that a keyboard reaches', async () => {
    const program = await merchant.program();
    await merchant.enroll({ programId: program._id, firstName: 'Lolo', lastName: 'Ulloi' });
    const page = await open('/members');
    const row = page.getByRole('row').filter({ hasText: 'Lolo Ulloi' });
    const link = row.getByRole('link');
    await row.waitFor();
    expect(await link.allTextContents()).toEqual(['Lolo Ulloi']);
    const { x, y, width, height } = (await row.getByRole('cell').last().boundingBox()) ?? {
      ...{ x: 0, y: 0, width: 0, height: 0 },
    };
    await page.mouse.click(x + width / 2, y + height / 2);
    await headingOf(page, 'Lolo Ulloi').waitFor();
    await page.goBack();
    await link.focus();
    await page.keyboard.press('Enter');
    await headingOf(page, 'Lolo Ulloi').waitFor();
    await page.context().close();
  });

  it('lets its texts be selected with the mouse, and opens a row in a new tab with Control or the middle button', async () => {
    const program = await merchant.program();
    const email = `ilu-${crypto.randomUUID()}@example.com`;
    await merchant.enroll({ programId: program._id, firstName: 'Ilu', lastName: 'Oluli', email });
    const page = await open('/members');
    const row = page.getByRole('row').filter({ hasText: 'Ilu Oluli' });
    const code = row.locator('code');
    const selected = async (what: typeof code) => {
      const { x, y, width, height } = (await what.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
      await page.mouse.move(x + 1, y + 1);
      await page.mouse.down();
      await page.mouse.move(x + width / 2, y + height / 2, { steps: 4 });
      await page.mouse.move(x + width - 2, y + height - 2, { steps: 4 });
      await page.mouse.up();
      return (await page.evaluate('getSelection().toString()')) as string;
    };
    expect((await selected(code)).trim()).toBe(await code.textContent());
    expect((await selected(row.getByRole('cell').nth(1))).trim()).toBe(email);
    expect(new URL(page.url()).pathname).toBe('/console/members');
    const opened = page.context().waitForEvent('page');
    await row
      .locator('time')
      .last()
      .click({ modifiers: ['ControlOrMeta'] });
    await headingOf(await opened, 'Ilu Oluli').waitFor();
    const another = page.context().waitForEvent('page');
    await row.locator('time').last().click({ button: 'middle' });
    await headingOf(await another, 'Ilu Oluli').waitFor();
    expect(new URL(page.url()).pathname).toBe('/console/members');
    await row.locator('time').last().click();
    await headingOf(page, 'Ilu Oluli').waitFor();
    await page.context().close();
  });

  it('that has all of its rows is sorted by a press on a title, and says so', async () => {
    const other = await aMerchant(service);
    for (const [name, goal] of [
      ['Lilo', 30],
      ['Uli', 9],
      ['Ilo', 100],
    ] as const)
      await other.program({ name, goal });
    const page = await openConsole({ browser, service, merchant: other }, '/programs', { screen: screens.desktop });
    const firsts = () => page.locator('tbody td:first-child').allTextContents();
    const column = (name: string) => page.getByRole('columnheader', { name });
    await column('Goal').getByRole('button').click();
    await until(async () => (await firsts()).join() === 'Uli,Lilo,Ilo');
    expect(await column('Goal').getAttribute('aria-sort')).toBe('ascending');
    await column('Goal').getByRole('button').click();
    await until(async () => (await firsts()).join() === 'Ilo,Lilo,Uli');
    expect(await column('Goal').getAttribute('aria-sort')).toBe('descending');
    expect(await findBarriers(page)).toEqual([]);
    await page.goto(`${service.publicUrl}/console/members`);
    await page.getByText(/^\d+ members?$/).waitFor();
    // Of many pages one is shown, so sorting it would say something false.
    expect(await page.getByRole('columnheader').getByRole('button').count()).toBe(0);
    await page.context().close();
  });

  it('says how long ago something was, and when exactly', async () => {
    const page = await open('/api-keys');
    await page.getByRole('row').nth(1).waitFor();
    const used = page.getByRole('row').nth(1).locator('time').first();
    expect(await used.textContent()).toMatch(/just\snow|minutes?\sago/);
    expect(await used.getAttribute('title')).toContain(String(new Date().getFullYear()));
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('what is new', () => {
  it.each(sizes)('is written at the side of its list on a %s, and asks before it is closed', async (size) => {
    const page = await open('/readers', size);
    const opener = buttonOf(page, 'New reader');
    await opener.click();
    const panel = page.getByRole('dialog', { name: 'New reader' });
    await panel.waitFor();
    expect(await findBarriers(page)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await keepScreenshot(page, `console-side-panel-${size}`, { fullPage: false });
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await until(() => opener.evaluate((element) => element.matches(':focus')));
    await opener.click();
    await panel.getByLabel('Name', { exact: true }).fill('Window till');
    const isInDialog = () => page.evaluate("document.activeElement.closest('[role=dialog]') !== null");
    for (let count = 0; count < 40; count += 1) {
      await page.keyboard.press('Tab');
      expect(await isInDialog()).toBe(true);
    }
    await page.keyboard.press('Escape');
    const question = page.getByRole('dialog', { name: 'Leave without saving?' });
    await question.waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await panel.waitFor();
    // The panel has the focus again one frame after the question is gone.
    await until(isInDialog);
    await page.keyboard.press('Escape');
    await question.getByRole('button', { name: 'Close' }).click();
    await panel.waitFor({ state: 'detached' });
    await opener.click();
    expect(await panel.getByLabel('Name', { exact: true }).inputValue()).toBe('Window till');
    await page.context().close();
  });

  it('has its form in a panel on each page with a list', async () => {
    const page = await open('');
    for (const [path, title] of [
      ['/members', 'Add a member'],
      ['/campaigns', 'New campaign'],
      ['/programs', 'New loyalty card'],
      ['/people', 'Invite somebody'],
      ['/webhooks', 'New webhook'],
      ['/api-keys', 'New key'],
    ] as const) {
      await page.goto(`${service.publicUrl}/console${path}`);
      await buttonOf(page, title).click();
      await page.getByRole('dialog', { name: title }).getByRole('form', { name: title }).waitFor();
      expect([title, await findBarriers(page)]).toEqual([title, []]);
    }
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('the designer', () => {
  it.each(sizes)(
    'has Save and Publish in reach on a %s wherever it is scrolled to, after its last field',
    async (size) => {
      const draft = { name: 'Reach', slug: `reach-${crypto.randomUUID()}`, style: 'stamps', goal: 10 };
      const body = { ...draft, fields: { primaryLabel: 'STAMPS' } };
      const credential = { Authorization: `Bearer ${await merchant.token()}` };
      const { _id } = (await merchant.call('/merchants/me/programs', { body, credential })).body.data;
      const page = await open(`/programs/${_id}`, size);
      await headingOf(page, 'Reach').waitFor();
      const last = fieldOf(page, 'Another language');
      const isInReach = () =>
        buttonOf(page, 'Publish').evaluate((button) => {
          const { top, bottom, left, width } = button.getBoundingClientRect();
          const seen = button.ownerDocument.elementFromPoint(left + width / 2, (top + bottom) / 2);
          return button.contains(seen);
        });
      expect(await isInReach()).toBe(true);
      await fieldOf(page, 'Goal').fill('8');
      await keepScreenshot(page, `console-reach-top-${size}`, { fullPage: false });
      await last.focus();
      await last.scrollIntoViewIfNeeded();
      expect(await isInReach()).toBe(true);
      for (const name of ['Save', 'Publish']) {
        await page.keyboard.press('Tab');
        expect(await buttonOf(page, name).evaluate((button) => button.matches(':focus'))).toBe(true);
      }
      expect(await findBarriers(page)).toEqual([]);
      expect(await isTooWide(page)).toBe(0);
      await buttonOf(page, 'Publish').click();
      await page.getByRole('dialog', { name: 'Publish this version?' }).waitFor();
      await page.context().close();
    },
  );
});

describe.runIf(hasBrowser)('a notice', () => {
  it.each(sizes)('is short and alone on a %s, takes back what it says, and goes with its page', async (size) => {
    const stamps = { style: 'stamps', fields: { primaryLabel: 'STAMPS' }, goal: 10 };
    const program = await merchant.program(stamps);
    const { id } = await merchant.enroll({ programId: program._id, firstName: 'Lilo' });
    const page = await open(`/members/${id}`, size);
    const notice = page.locator('.notice');
    await buttonOf(page, '+1').click();
    await notice.getByText('STAMPS: 0 → 1').waitFor();
    await buttonOf(page, '+2').click();
    await notice.getByText('STAMPS: 1 → 3').waitFor();
    expect(await notice.count()).toBe(1);
    await notice.getByRole('button', { name: 'Undo' }).click();
    await notice.getByText('STAMPS: 3 → 1').waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await keepScreenshot(page, `console-notice-${size}`, { fullPage: false });
    expect((await merchant.call(`/merchants/me/members/${id}`)).body.data.balance).toBe(1);
    await buttonOf(page, '+3').click();
    await notice.getByText('STAMPS: 1 → 4').waitFor();
    await page.getByRole('link', { name: 'Members' }).first().click();
    await headingOf(page, 'Members').waitFor();
    expect(await notice.filter({ hasText: '1 → 4' }).count()).toBe(0);
    await page.context().close();
  });

  it.each(sizes)('on a %s covers no part of the designer that cannot be scrolled out from under it', async (size) => {
    const { _id } = await merchant.program();
    const page = await open(`/programs/${_id}`, size);
    await page.getByRole('table', { name: 'Versions' }).waitFor();
    await fieldOf(page, 'Name').fill('Another name');
    await buttonOf(page, 'Save').click();
    await page.locator('.notice').waitFor();
    const room = await page.evaluate(`scrollTo(0, document.documentElement.scrollHeight);
      document.querySelector('.notice').getBoundingClientRect().top -
        document.querySelector('main').lastElementChild.getBoundingClientRect().bottom`);
    expect(room).toBeGreaterThan(0);
    await page.context().close();
  });
});

// A press is lost when its button moves between touch and lift.
describe.runIf(hasBrowser).each(sizes)('the pictures of the phones on a %s', (size) => {
  it.each([
    ['program', () => merchant.program({ name: 'Corner Coffee' }).then(({ _id }) => _id), 'Download PDF'],
    ['member', () => merchant.enroll({ firstName: 'Lilo' }).then(({ id }) => id), 'Send the card again'],
  ])('leave the page of a %s in its place when they arrive', async (what, make, control) => {
    const page = await open('/readers', size);
    const answer = aGate();
    await page.route('**/preview', async (route) => {
      await answer.opened;
      await route.continue();
    });
    await page.goto(`${service.publicUrl}/console/${what}s/${await make()}`);
    await buttonOf(page, control).waitFor();
    await until(async () => (await page.locator('.skeleton').count()) === 0);
    const place = async () => (await buttonOf(page, control).boundingBox())?.y;
    const before = await place();
    answer.open();
    await page.locator('.screen .pass').nth(1).waitFor();
    expect(await place()).toBe(before);
    for (const phone of await page.locator('.phone').all()) {
      const [whole, drawn, card] = await Promise.all([
        phone.boundingBox(),
        phone.locator('.screen').boundingBox(),
        phone.locator('.pass').boundingBox(),
      ]);
      expect(drawn?.width).toBeLessThanOrEqual(whole?.width ?? 0);
      expect((card?.y ?? 0) + (card?.height ?? 0)).toBeLessThan((drawn?.y ?? 0) + (drawn?.height ?? 0));
    }
    await page.context().close();
  });
});

describe.runIf(hasBrowser)('a tablet that is turned', () => {
  it('shows the plots as wide as there is room', async () => {
    const page = await open('/webhooks');
    await page.locator('.plot canvas').first().waitFor();
    await page.setViewportSize(screens.phone.viewport);
    await until(async () => (await isTooWide(page)) === 0);
    await page.context().close();
  });

  it('keeps open what was opened', async () => {
    const page = await open('/members', 'phone');
    await page.getByText('Filters', { exact: true }).click();
    await page.setViewportSize(screens.desktop.viewport);
    await fieldOf(page, 'Search').fill('nothing like it');
    await until(async () => (await page.getByRole('status').first().textContent())?.includes('0'));
    expect(await page.locator('details.fold[open]').count()).toBe(1);
    await page.context().close();
  });
});
