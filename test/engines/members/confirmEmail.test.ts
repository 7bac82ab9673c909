// Joining a program that has addresses confirmed (`enrollment.confirmEmail`): the answer is the same for everybody, and
// only a person who can read the mail gets a card.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { eraseMails } from '../../../activities/mail/eraseMails.writes.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { confirmationId, newId } from '../../../schemas/shared/ids.js';
import { until } from '../../rig/checks/until.js';
import { aDesigner } from '../../rig/start/designer.js';
import { aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { startTestWorker, type TestWorker } from '../../rig/start/testWorker.js';

const folder = mkdtempSync(join(tmpdir(), 'loyalty-pass-confirm-'));
const consentText = 'The shop may keep my details.';
let service: TestService;
let worker: TestWorker;
let merchant: TestMerchant;
let program: Program;
/** By how much the clock of the service is ahead, in ms. */
let ahead = 0;

beforeAll(async () => {
  const env = { MAIL_FOLDER: folder, TRUST_PROXY: '1', RATE_LIMIT_PUBLIC: '30' };
  service = await startService({ env, now: () => new Date(Date.now() + ahead) });
  worker = await startTestWorker(service);
  await until(() => worker.deps.workflowClient.available());
  merchant = await aMerchant(service);
  program = await merchant.program({ enrollment: { confirmEmail: true, fields: ['firstName', 'lastName', 'phone'] } });
});
afterAll(async () => {
  await worker.close();
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

let addresses = 0;
/** An IP address that no other test uses. */
const from = () => {
  addresses += 1;
  return { 'X-Forwarded-For': `192.0.2.${addresses}` };
};
const newAddress = () => `${newId()}@example.org`;
const submit = (body: Record<string, unknown>, { slug } = program, headers = from()) =>
  merchant.call(`/enroll/${slug}/submit`, { body, credential: null, headers });
const membersOf = (email: string) => service.deps.collections.members.find({ email }).toArray();
const rowOf = (link: string) =>
  service.deps.collections.mails.findOne({ _id: confirmationId(link.split('/').at(-1) ?? '') });

const files = () => readdirSync(folder).filter((name) => name.endsWith('.eml'));
async function mailsTo(email: string) {
  const mails = files().map((name) => PostalMime.parse(readFileSync(join(folder, name))));
  return (await Promise.all(mails)).filter(({ to }) => to?.some(({ address }) => address === email));
}
/** The link of the newest mail, as soon as there are so many. */
async function linkTo(email: string, count = 1): Promise<string> {
  const mails = await until(async () => {
    const found = await mailsTo(email);
    return found.length >= count && found;
  });
  const texts = mails.toSorted((a, b) => String(a.date).localeCompare(String(b.date))).map(({ text }) => text ?? '');
  return texts.flatMap((text) => text.match(/http\S+/g) ?? []).at(-1) ?? '';
}
async function asked(body: Record<string, unknown> = {}, of = program): Promise<{ email: string; link: string }> {
  const email = newAddress();
  expect((await submit({ email, ...body }, of)).status).toBe(202);
  return { email, link: await linkTo(email) };
}

const press = (link: string, headers: Record<string, string> = from()) =>
  fetch(link, { method: 'POST', redirect: 'manual', headers: { ...from(), ...headers } });
/** Whether the button of the link led to a card. */
const led = async (link: string) => ((await press(link)).headers.get('Location') ?? '').includes('/passes/');
const cardOf = async (email: string) => `${service.publicUrl}/passes/${(await membersOf(email))[0]?.pass.token}`;

describe('a person who joins', () => {
  it('gets the same answer whether the address is known or not, and nothing is read of it', async () => {
    const quiet = await startService({ worker: false, env: { MAIL_FOLDER: folder } });
    try {
      const shop = await aMerchant(quiet);
      const { _id: programId, slug } = await shop.program({ enrollment: { confirmEmail: true } });
      const known = await shop.enroll({ programId, email: newAddress(), firstName: 'Known' });
      const { members, emails } = quiet.deps.collections;
      const { read } = quiet.deps;
      const spies = [
        vi.spyOn(members, 'find'),
        vi.spyOn(emails, 'find'),
        vi.spyOn(read, 'member'),
        vi.spyOn(read, 'email'),
      ];
      const answers = [];
      const pages = [];
      for (const email of [known.email, newAddress()]) {
        const body = { email, firstName: 'Mallory' };
        const { status, text } = await shop.call(`/enroll/${slug}/submit`, { body, credential: null });
        answers.push([status, text]);
        const url = `${quiet.publicUrl}/enroll/${slug}`;
        const sent = await fetch(url, { method: 'POST', body: new URLSearchParams({ email }), redirect: 'manual' });
        const [cookie = ''] = (sent.headers.getSetCookie()[0] ?? '').split(';', 1);
        const page = await fetch(new URL(sent.headers.get('location') ?? '', url), { headers: { cookie } });
        pages.push([sent.status, cookie.length, page.status, (await page.text()).replaceAll(email, 'somebody')]);
      }
      for (const spy of spies) expect(spy).not.toHaveBeenCalled();
      expect(answers).toEqual(Array(2).fill([202, '{"success":true,"data":{"confirm":true}}']));
      expect(pages[0]).toEqual([303, expect.any(Number), 200, expect.stringContaining('somebody')]);
      expect(pages[1]).toEqual(pages[0]);
      const rows = await quiet.deps.collections.mails.find({ programId }).toArray();
      expect(rows.map((row) => Object.keys(row).toSorted())).toEqual(
        Array(4).fill(Object.keys(rows[0] ?? {}).toSorted()),
      );
    } finally {
      await quiet.stop();
    }
  });

  it('is a member, with all that was entered, once the button behind the link is pressed, and not by opening it', async () => {
    const own = { confirmEmail: true, consentText, fields: ['firstName', 'phone'] };
    const asking = await merchant.program({ enrollment: own, language: 'de' });
    const typed = { firstName: 'Ada', phone: '+49 30 123456', utm_source: 'poster', ref: 'friend', consent: true };
    const before = new Date();
    const { email, link } = await asked(typed, asking);
    const after = new Date();
    expect(link).toMatch(/\/enroll\/confirm\/[\w-]{31}[A-Za-z0-9]$/);
    for (const method of ['GET', 'HEAD', 'GET']) expect((await fetch(link, { method })).status).toBe(200);
    const page = await fetch(link);
    const text = await page.text();
    for (const part of [email, 'Meine Karte holen', '<form method="post"']) expect(text).toContain(part);
    expect(text).not.toContain('<script');
    expect(page.headers.get('Cache-Control')).toBe('no-store');
    expect(await membersOf(email)).toEqual([]);

    await service.deps.collections.programs.updateOne({ _id: asking._id }, { $set: { version: 2 } });
    const pressed = await press(link);
    expect([pressed.status, pressed.headers.get('Location')]).toEqual([303, `${await cardOf(email)}?welcome`]);
    const [member, ...more] = await membersOf(email);
    expect(more).toEqual([]);
    const attribution = { utm_source: 'poster', ref: 'friend' };
    expect(member).toMatchObject({ firstName: 'Ada', phone: typed.phone, attribution, source: 'public' });
    expect(member?.consent).toMatchObject({ text: consentText, programVersion: 1 });
    expect(member?.consent?.at.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(member?.consent?.at.getTime()).toBeLessThanOrEqual(after.getTime());
    expect(await linkTo(email, 2)).toBe(await cardOf(email));
  });

  it('with an address that is known gets the link to the card that exists', async () => {
    const { email } = await merchant.enroll({ programId: program._id, email: newAddress(), firstName: 'Grace' });
    await submit({ email: email.toUpperCase(), firstName: 'Mallory' });
    expect(await linkTo(email)).toBe(await cardOf(email));
    const [member] = await membersOf(email);
    expect(member?.firstName).toBe('Grace');
    const row = await until(() =>
      service.deps.collections.mails.findOne({ memberId: member?._id ?? '', state: 'sent' }),
    );
    for (const gone of ['sealed', 'mark', 'expiresAt']) expect(row).not.toHaveProperty(gone);
  });

  it('is mailed three times an hour at most, known or not, with the same answers', async () => {
    const known = await merchant.enroll({ programId: program._id, email: newAddress() });
    for (const email of [known.email, newAddress()]) {
      const answers = [];
      for (let turn = 0; turn < 5; turn += 1) answers.push(await submit({ email, firstName: `Ada ${turn}` }));
      expect(answers.map(({ status, text }) => [status, text])).toEqual(
        Array(5).fill([202, '{"success":true,"data":{"confirm":true}}']),
      );
      await until(async () => (await mailsTo(email)).length === 3);
    }
  });

  it('is refused when the program has been archived, without a mail', async () => {
    const archived = await merchant.program({ archived: true, enrollment: { confirmEmail: true } });
    const email = newAddress();
    expect(outcome(await submit({ email }, archived))).toEqual([400, 'PROGRAM_ARCHIVED']);
    expect(await service.deps.collections.mails.findOne({ programId: archived._id })).toBeNull();
  });
});

describe('a link', () => {
  it('works once: afterwards it only leads the browser that pressed it to the card, for a minute', async () => {
    const { email, link } = await asked();
    const opened = await fetch(link);
    const cookie = opened.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    expect(cookie).toMatch(/^join=/);
    const headers = { Cookie: cookie };
    const location = `${service.publicUrl}/passes/`;
    expect((await press(link, headers)).headers.get('Location')).toContain(location);
    expect((await press(link, headers)).headers.get('Location')).toContain(location);
    const dead = await press(link);
    expect([dead.status, dead.headers.get('Location')]).toEqual([303, new URL(link).pathname]);
    const answer = await fetch(link);
    const text = await answer.text();
    expect([answer.status, text]).toEqual([410, expect.stringContaining('does not work any more')]);
    expect(text).toContain(`<a href="/enroll/${program.slug}?lost">Lost your card?</a>`);
    ahead = 61_000;
    try {
      expect((await press(link, headers)).headers.get('Location')).toBe(new URL(link).pathname);
    } finally {
      ahead = 0;
    }
    expect(await membersOf(email)).toHaveLength(1);
  });

  it('that is pressed several times at once makes one member, and a second link of the address leads to its card', async () => {
    const { email, link } = await asked();
    await submit({ email, firstName: 'Ada' });
    const other = await linkTo(email, 2);
    expect(other).not.toBe(link);
    await Promise.all(Array.from({ length: 5 }, () => press(link)));
    expect((await press(other)).headers.get('Location')).toBe(`${await cardOf(email)}?welcome`);
    expect(await membersOf(email)).toHaveLength(1);
  });

  it('works for 24 hours', async () => {
    const { email, link } = await asked();
    const day = 24 * 3_600_000;
    try {
      ahead = day + 1;
      expect([(await fetch(link)).status, await led(link)]).toEqual([410, false]);
      ahead = day - 60_000;
      expect(await led(link)).toBe(true);
    } finally {
      ahead = 0;
    }
    expect(await membersOf(email)).toHaveLength(1);
  });

  it('survives a program that is closed for a while, and says so in the words of its page', async () => {
    const closing = await merchant.program({
      ...{ name: 'Café Blau', language: 'de', enrollment: { confirmEmail: true } },
    });
    const { email, link } = await asked({}, closing);
    const { programs } = service.deps.collections;
    const lost = `href="/enroll/${closing.slug}?lost"`;
    const shown = async () => {
      const page = await fetch(link);
      const text = await page.text();
      expect(text).toContain('<h1>Café Blau nimmt gerade niemanden auf</h1>');
      expect(text).toContain('Fragen Sie dort, wann sie wieder öffnet.');
      return [page.status, text.includes('<form'), text.includes(lost)];
    };
    await programs.updateOne({ _id: closing._id }, { $set: { archived: true } });
    expect((await press(link)).headers.get('Location')).toContain('?refused=PROGRAM_ARCHIVED');
    expect(await shown()).toEqual([404, false, true]);
    await programs.updateOne({ _id: closing._id }, { $set: { archived: false, 'enrollment.open': false } });
    expect([await led(link), await shown()]).toEqual([false, [404, false, false]]);
    await programs.updateOne({ _id: closing._id }, { $set: { 'enrollment.open': true } });
    expect(await led(link)).toBe(true);
    expect(await membersOf(email)).toHaveLength(1);
    expect(await (await fetch(link)).text()).toContain(lost);
    await programs.updateOne({ _id: closing._id }, { $set: { 'enrollment.open': false } });
    const used = await until(async () => {
      const text = await (await fetch(link)).text();
      return !text.includes(lost) && text;
    });
    expect(used).toContain('Fragen Sie an der Kasse');
  });

  it('cannot be guessed without end', async () => {
    const headers = from();
    const guess = () => press(`${service.publicUrl}/enroll/confirm/${newId()}`, headers);
    for (let turn = 0; turn < 30; turn += 1) expect((await guess()).headers.get('Location')).not.toContain('refused');
    const refused = await guess();
    expect([refused.status, Number(refused.headers.get('Retry-After')) > 0]).toEqual([303, true]);
    expect(refused.headers.get('Location')).toContain('?refused=RATE_LIMITED');
    const { link } = await asked();
    expect(await (await fetch(`${link}?refused=RATE_LIMITED`)).text()).toContain('too many tries');
  });
});

describe('what somebody entered', () => {
  const typed = { firstName: 'Zerelda', lastName: 'Quimby', phone: '+4930987654', utm_source: 'a-letter' };

  it('is stored encrypted until it is used, or until the link ends', async () => {
    const { email, link } = await asked(typed);
    const waiting = await until(async () => {
      const row = await rowOf(link);
      return row?.state === 'sent' && row;
    });
    for (const secret of [email, link.split('/').at(-1) ?? '', ...Object.values(typed)])
      expect(JSON.stringify(waiting)).not.toContain(secret);
    expect(waiting.expiresAt?.getTime()).toBe(waiting.createdAt.getTime() + 24 * 3_600_000);
    const indexes = await service.deps.collections.mails.indexes();
    expect(indexes).toContainEqual(expect.objectContaining({ key: { expiresAt: 1 }, expireAfterSeconds: 0 }));
    await press(link);
    const used = await rowOf(link);
    expect(used).toMatchObject({ state: 'sent', memberId: (await membersOf(email))[0]?._id });
    for (const gone of ['sealed', 'mark', 'expiresAt', 'dueAt']) expect(used).not.toHaveProperty(gone);
  });

  it('goes with the erasure of a member of the same address, rows and files', async () => {
    const { email, link } = await asked(typed);
    const elsewhere = await asked(typed);
    const member = await merchant.enroll({ programId: program._id, email });
    const credential = { Authorization: `Bearer ${await merchant.token()}` };
    const { status } = await merchant.call(`/merchants/me/members/${member.id}`, { method: 'DELETE', credential });
    expect(status).toBe(200);
    await until(async () => (await rowOf(link)) === null && (await mailsTo(email)).length === 0);
    expect(await led(link)).toBe(false);
    expect(await mailsTo(elsewhere.email)).toHaveLength(1);
    expect(await led(elsewhere.link)).toBe(true);
  });

  it('is not taken by the erasure of a member with the address in another program', async () => {
    const { email, link } = await asked(typed);
    const { _id: programId } = await merchant.program();
    const ids = { merchantId: merchant.id, memberId: newId(), emails: [email] };
    await eraseMails(worker.deps, { ...ids, programId });
    expect(await rowOf(link)).not.toBeNull();
    await eraseMails(worker.deps, { ...ids, merchantId: newId(), programId: program._id });
    expect(await rowOf(link)).not.toBeNull();
    await eraseMails(worker.deps, { ...ids, programId: program._id });
    expect(await rowOf(link)).toBeNull();
  });
});

describe('without mail', () => {
  let silent: TestService;
  let shop: TestMerchant;

  beforeAll(async () => {
    silent = await startService({ worker: false });
    shop = await aMerchant(silent);
  });
  afterAll(() => silent.stop());

  it('such a program is not published, and a finding says why', async () => {
    const designer = await aDesigner(shop);
    const { _id } = (await designer.create({ enrollment: { confirmEmail: true } })).body.data;
    const path = 'enrollment.confirmEmail';
    const preview = await designer.call(`/${_id}/publish-preview`);
    expect(preview.body.data.findings).toEqual([{ path, severity: 'error', message: expect.stringContaining('mail') }]);
    const refused = await designer.publish(_id);
    expect([...outcome(refused), refused.body.error.details[0].path]).toEqual([400, 'VALIDATION_FAILED', path]);
    await designer.edit(_id, { enrollment: { confirmEmail: null } });
    expect((await designer.publish(_id)).status).toBe(200);
  });

  it('nobody joins a program that needs it', async () => {
    const { slug } = await shop.program({ enrollment: { confirmEmail: true } });
    const email = newAddress();
    const answer = await shop.call(`/enroll/${slug}/submit`, { body: { email }, credential: null });
    expect(outcome(answer)).toEqual([503, 'UNAVAILABLE']);
    const page = await fetch(`${silent.publicUrl}/enroll/${slug}`, {
      method: 'POST',
      body: new URLSearchParams({ email }),
      redirect: 'manual',
    });
    const [cookie = ''] = (page.headers.getSetCookie()[0] ?? '').split(';', 1);
    const shown = await fetch(new URL(page.headers.get('location') ?? '', page.url), { headers: { cookie } });
    expect([page.status, await shown.text()]).toEqual([303, expect.stringContaining('did not work just now')]);
    expect(await silent.deps.collections.members.findOne({ email })).toBeNull();
  });
});
