// The console's control of the counter's poster, in a real browser.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readPdf } from '../../rig/checks/pdf.js';
import { codesIn } from '../../rig/checks/readCodes.js';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  isTooWide,
  keepScreenshot,
  screens,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import {
  buttonOf as button,
  fieldOf as field,
  headingOf,
  openConsole,
  type StartedConsole,
  startConsole,
} from '../../rig/start/console.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import type { TestMerchant } from '../../rig/start/merchant.js';
import type { TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let designer: Designer;
let browser: TestBrowser;
let stop: StartedConsole['stop'] | undefined;

beforeAll(async () => {
  if (!hasBrowser) return;
  ({ service, browser, merchant, stop } = await startConsole({ worker: false }));
  designer = await aDesigner(merchant);
});
afterAll(() => stop?.());

describe.runIf(hasBrowser).each(['desktop', 'phone'] as const)('the poster on a %s', (screen) => {
  const open = (id: string, role = 'owner') =>
    openConsole({ browser, service, merchant }, `/programs/${id}`, { screen: screens[screen], role });

  it('is off with the reason until the program is published, and then downloaded in each format and type', async () => {
    const { body } = await designer.create({ slug: `corner-${screen}`, name: 'Corner Coffee', rewardName: 'Coffee' });
    const id = body.data._id;
    const page = await open(id);
    const panel = page.getByRole('region', { name: 'Poster for the counter' });
    await panel.getByText('Publish the card first').waitFor();
    expect(await button(page, 'Download PDF').isDisabled()).toBe(true);
    await designer.publish(id);
    await page.reload();
    const downloads = async (name: string) => {
      const download = page.waitForEvent('download');
      await button(page, name).click();
      const made = await download;
      await page.getByText('The poster is in your downloads.').first().waitFor();
      return { name: made.suggestedFilename(), bytes: await readFile(await made.path()) };
    };
    const pdf = await downloads('Download PDF');
    expect([pdf.name, readPdf(pdf.bytes).pages]).toEqual([`corner-${screen}-a4.pdf`, 1]);
    await field(page, 'Size').selectOption({ label: 'A5' });
    const png = await downloads('Download picture (PNG)');
    expect(png.name).toBe(`corner-${screen}-a5.png`);
    const codes = (await codesIn(png.bytes)).map(({ rawValue }) => rawValue);
    expect(codes).toEqual([`${service.deps.config.PUBLIC_URL}/enroll/corner-${screen}`]);
    expect(await findBarriers(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(0);
    await page.getByRole('button', { name: 'Poster for the counter' }).click();
    const isInView = ({ y }: { y: number }) => y >= 0 && y < 800;
    await until(async () => isInView((await button(page, 'Download PDF').boundingBox()) ?? { y: -1 }));
    expect(await page.evaluate('document.activeElement?.id')).toBe('counter-poster');
    await keepScreenshot(page, `program-poster-${screen}`);
    await page.context().close();
  });

  it('is what the first publication ends with, beside the page, its code and the next step', async () => {
    const slug = `first-${screen}`;
    const { body } = await designer.create({ slug, name: 'First Coffee', rewardName: 'Coffee' });
    const page = await open(body.data._id);
    await button(page, 'Publish').click();
    await page.getByRole('dialog', { name: 'Publish this version?' }).getByRole('button', { name: 'Publish' }).click();
    const live = page.getByRole('dialog', { name: 'Your card is live' });
    const address = `${service.publicUrl}/enroll/${slug}`;
    expect(await live.getByRole('link', { name: address }).getAttribute('href')).toBe(address);
    const code = await live.getByRole('img').screenshot();
    expect((await codesIn(code)).map(({ rawValue }) => rawValue)).toEqual([address]);
    expect(await findBarriers(page)).toEqual([]);
    expect(await isTooWide(page)).toBe(0);
    await keepScreenshot(page, `program-first-${screen}`, { fullPage: false });
    const download = page.waitForEvent('download');
    await live.getByRole('button', { name: 'Download the poster (A4, PDF)' }).click();
    expect((await download).suggestedFilename()).toBe(`${slug}-a4.pdf`);
    await live.getByRole('link', { name: 'Give the first points' }).click();
    await headingOf(page, 'Members').waitFor();
    expect(await live.count()).toBe(0);
    await page.context().close();
  });

  it('is offered to those who may only look, and says which letters it cannot show', async () => {
    const { _id } = await merchant.program({ name: '北京 Café' });
    const page = await open(_id, 'viewer');
    await button(page, 'Download PDF').click();
    await page.getByText('lack these letters of the card’s texts: 北 京').waitFor();
    await page.context().close();
  });
});
