// The console's control of the counter's poster, in a real browser.
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsole } from '../../../stack/buildConsole.js';
import { readPdf } from '../../rig/checks/pdf.js';
import { codesIn } from '../../rig/checks/readCodes.js';
import { until } from '../../rig/checks/until.js';
import {
  findBarriers,
  hasBrowser,
  isTooWide,
  keepScreenshot,
  screens,
  startBrowser,
  type TestBrowser,
} from '../../rig/standins/browser.js';
import { buttonOf as button, fieldOf as field, openConsole } from '../../rig/start/console.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import { aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let designer: Designer;
let browser: TestBrowser;

beforeAll(async () => {
  if (!hasBrowser) return;
  await buildConsole();
  [service, browser] = await Promise.all([startService({ worker: false }), startBrowser()]);
  merchant = await aMerchant(service);
  designer = await aDesigner(merchant);
});
afterAll(async () => {
  await browser?.close();
  await service?.stop();
});

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

  it('is offered to those who may only look, and says which letters it cannot show', async () => {
    const { _id } = await merchant.program({ name: '北京 Café' });
    const page = await open(_id, 'viewer');
    await button(page, 'Download PDF').click();
    await page.getByText('lack these letters of the card’s texts: 北 京').waitFor();
    await page.context().close();
  });
});
