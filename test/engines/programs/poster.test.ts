// The poster for the counter over HTTP (docs/interface.md#42-programs).
import { Resvg } from '@resvg/resvg-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import posterFile from '../../../api/pages/posterFile.view.js';
import { readPng } from '../../../schemas/programs/png.rules.js';
import { readPdf } from '../../rig/checks/pdf.js';
import { codesIn } from '../../rig/checks/readCodes.js';
import { aDesigner, type Designer } from '../../rig/start/designer.js';
import { aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

let service: TestService;
let merchant: TestMerchant;
let designer: Designer;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
  designer = await aDesigner(merchant);
});
afterAll(() => service.stop());

const posterOf = (id: string, query = '', headers: Record<string, string> = { 'X-API-Key': merchant.apiKey }) =>
  fetch(`${service.baseUrl}/merchants/me/programs/${id}/poster${query}`, { headers });
const refused = (id: string) => merchant.call(`/merchants/me/programs/${id}/poster`);

const codes = async (png: Buffer) => (await codesIn(png)).map(({ rawValue }) => rawValue);

describe('a poster', () => {
  it('leads to the join page of its program, as a PDF and as a PNG, and has a name of its own', async () => {
    const { _id, slug } = await merchant.program({ style: 'stamps', goal: 8, rewardName: 'Coffee' });
    const pdf = await posterOf(_id);
    expect([pdf.status, pdf.headers.get('content-type'), pdf.headers.get('content-disposition')]).toEqual([
      200,
      'application/pdf',
      `attachment; filename="${slug}-a4.pdf"`,
    ]);
    const { svg, pages } = readPdf(Buffer.from(await pdf.arrayBuffer()));
    const [url = '', ...others] = await codes(
      new Resvg(svg, { fitTo: { mode: 'width', value: 900 } }).render().asPng(),
    );
    expect([url, others, pages]).toEqual([`${service.deps.config.PUBLIC_URL}/enroll/${slug}`, [], 1]);
    const page = await fetch(`${service.publicUrl}/enroll/${slug}`);
    expect([page.status, url.endsWith(new URL(page.url).pathname)]).toEqual([200, true]);
    const png = await posterOf(_id, '?format=a5&type=png');
    expect([png.headers.get('content-type'), png.headers.get('content-disposition')]).toEqual([
      'image/png',
      `attachment; filename="${slug}-a5.png"`,
    ]);
    const picture = Buffer.from(await png.arrayBuffer());
    expect(readPng(picture)).toMatchObject({ ok: true, width: 1748 });
    expect(await codes(picture)).toEqual([url]);
  });

  it('holds up no other request while it is drawn, as drawing it in the same thread does', async () => {
    const program = await merchant.program({ style: 'stamps', goal: 8, rewardName: 'Coffee' });
    const own = { program, language: 'en', url: 'https://cards.example.com/enroll/cafe', format: 'tent' } as const;
    const draw = () => posterFile({ ...own, type: 'pdf' });
    const ask = async () => (await posterOf(program._id, '?format=tent')).arrayBuffer();
    const busyMs = async (work: () => Promise<unknown>) => {
      const before = performance.eventLoopUtilization();
      await work();
      return performance.eventLoopUtilization(before).active;
    };
    // Both have read the fonts before they are measured.
    await Promise.all([draw(), ask()]);
    const [asked, drawn]: [number[], number[]] = [[], []];
    for (let turn = 0; turn < 5; turn += 1) {
      asked.push(await busyMs(ask));
      drawn.push(await busyMs(draw));
    }
    // The medians: a pause of the machine lengthens one turn.
    const median = (all: number[]) => all.toSorted((one, other) => one - other)[2] ?? 0;
    expect(median(asked)).toBeLessThan(median(drawn) / 2);
  });

  it('is of the live version, also after later edits', async () => {
    const { body } = await designer.create({ slug: 'live-one', language: 'en' });
    const id = body.data._id;
    await designer.publish(id);
    await designer.edit(id, { slug: 'edited-one' });
    const picture = Buffer.from(await (await posterOf(id, '?format=a5&type=png')).arrayBuffer());
    expect(await codes(picture)).toEqual([`${service.deps.config.PUBLIC_URL}/enroll/live-one`]);
  });

  it('is refused with the reason for a program whose page takes no one', async () => {
    const { body } = await designer.create();
    const id = body.data._id;
    expect(outcome(await refused(id))).toEqual([404, 'PROGRAM_NOT_FOUND']);
    expect(outcome(await designer.call(`/${id}/poster`))).toEqual([404, 'PROGRAM_NOT_FOUND']);
    await designer.edit(id, { enrollment: { open: false } });
    await designer.publish(id);
    expect(outcome(await refused(id))).toEqual([400, 'PAGE_CLOSED']);
    await designer.call(`/${id}/archive`, { method: 'POST' });
    expect(outcome(await refused(id))).toEqual([400, 'PROGRAM_ARCHIVED']);
  });

  it('is refused with the letters that no font has, so that no name becomes empty boxes', async () => {
    const { _id } = await merchant.program({ name: '北京 Café' });
    const answer = await refused(_id);
    expect(outcome(answer)).toEqual([400, 'POSTER_LETTERS_MISSING']);
    expect(answer.body.error.details).toEqual({ letters: ['北', '京'] });
  });

  it('needs the permission to see programs, and a format and type that there are', async () => {
    const { _id } = await merchant.program();
    const token = await merchant.token({ roleIds: ['till'] });
    expect((await posterOf(_id, '', { Authorization: `Bearer ${token}` })).status).toBe(403);
    const wrong = await merchant.call(`/merchants/me/programs/${_id}/poster?format=a3&type=gif`);
    expect(outcome(wrong)).toEqual([400, 'VALIDATION_FAILED']);
  });
});
