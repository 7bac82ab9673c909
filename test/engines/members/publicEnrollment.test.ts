// The public page's form. Anybody can send it, so the tests mainly check what its answer does not reveal.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../rig/checks/until.js';
import { type GoogleServer, startGoogleServer } from '../../rig/standins/googleServer.js';
import { type Answer, aMerchant, type TestMerchant } from '../../rig/start/merchant.js';
import { startService, type TestService } from '../../rig/start/service.js';

const submitTo = (merchant: TestMerchant, slug: string, body: unknown, headers = {}): Promise<Answer> =>
  merchant.call(`/enroll/${slug}/submit`, { body, headers, credential: null });

const membersOf = (service: TestService, programId: string) =>
  service.deps.collections.members.find({ programId }).toArray();

describe('public enrollment', () => {
  let service: TestService;
  let merchant: TestMerchant;

  beforeAll(async () => {
    service = await startService({ env: { PASS_UPDATE_WAIT_MS: '5000' } });
    merchant = await aMerchant(service);
  });
  afterAll(() => service.stop());

  it("answers a new customer with the member code and the links, and the event names the visit's source", async () => {
    const { _id: programId, slug } = await merchant.program();
    const { status, body, headers } = await submitTo(merchant, slug, {
      firstName: 'Ada',
      lastName: '',
      email: ' Ada@Example.com ',
      utm_source: 'newsletter',
      ref: 'friend',
      utm_medium: '',
      isAdmin: true,
    });
    expect(status).toBe(201);
    const [member] = await membersOf(service, programId);
    expect(body).toEqual({
      success: true,
      data: {
        member: { memberCode: member?.memberCode },
        apple: { passUrl: `${service.publicUrl}/passes/${member?.pass.token}` },
        google: { saveUrl: null },
      },
    });
    expect(member).toMatchObject({ email: 'ada@example.com', firstName: 'Ada', source: 'public', balance: 0 });
    expect(member).not.toHaveProperty('lastName');
    expect(member?.pass.appleIssuedAt).toBeDefined();
    expect(headers.get('ratelimit-limit')).toBe('1000000');
    const event = await service.deps.collections.events.findOne({
      memberId: member?._id ?? '',
      type: 'member.created',
    });
    expect(event?.data).toMatchObject({
      source: 'public',
      attribution: { utm_source: 'newsletter', ref: 'friend' },
    });
  });

  it.each([
    ['letters', 'é', 4_000],
    ['signs that are written with many bytes', '\u{1f600}', 254],
    ['quotation marks', '"', 4_000],
  ])('of a form that is too long for the cookie keeps the consents and what was typed: %s', async (_, sign, count) => {
    const enrollment = {
      fields: ['firstName', 'lastName', 'phone'],
      consentText: 'I agree.',
      marketingText: 'News too.',
    };
    const { slug } = await merchant.program({ enrollment });
    const long = sign.repeat(count);
    const typed = { firstName: `Ada ${long}`, lastName: `Lovelace ${long}`, phone: `123 ${long}`, more: long };
    const url = `${service.publicUrl}/enroll/${slug}`;
    const body = new URLSearchParams({ email: 'not an address', consent: 'on', marketing: 'on', ...typed });
    const sent = await fetch(url, { method: 'POST', body, redirect: 'manual' });
    const cookie = sent.headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ');
    expect(Buffer.byteLength(cookie)).toBeLessThan(4_096);
    const page = await fetch(`${url}?check`, { headers: { cookie } });
    const text = await page.text();
    for (const name of ['consent', 'marketing']) expect(text).toMatch(new RegExp(`id="${name}"[^>]* checked`));
    for (const value of ['not an address', 'Ada ', 'Lovelace ', '123 ']) expect(text).toContain(`value="${value}`);
  });

  it('also accepts an HTML form', async () => {
    const { _id: programId, slug } = await merchant.program();
    const form = new URLSearchParams({
      email: 'grace@example.com',
      firstName: 'Grace',
      phone: '',
      utm_campaign: 'may',
    });
    const { status } = await submitTo(merchant, slug, form.toString(), {
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    expect(status).toBe(201);
    const [member] = await membersOf(service, programId);
    expect(member).toMatchObject({ firstName: 'Grace', attribution: { utm_campaign: 'may' } });
  });

  it("reveals nothing of a member whose email is known, in any case of the email's letters", async () => {
    const { _id: programId, slug } = await merchant.program();
    const known = await merchant.enroll({ programId, email: 'known@example.com', firstName: 'Known' });
    const { status, text } = await submitTo(merchant, slug, { email: 'KNOWN@example.com', firstName: 'Mallory' });
    expect(status).toBe(200);
    expect(text).toBe('{"success":true,"data":{"deduped":true}}');
    const after = await merchant.call(`/merchants/me/members/${known.id}`);
    expect(after.body.data.firstName).toBe('Known');
  });

  it('through the page creates no member when the hidden field for bots is filled in', async () => {
    const { _id, slug } = await merchant.program();
    const page = `${service.publicUrl}/enroll/${slug}`;
    const [, name = ''] = /class="unseen".*?name="(\w+)"/s.exec(await (await fetch(page)).text()) ?? [];
    const post = (fields: Record<string, string>) =>
      fetch(page, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
    const machine = await post({ email: 'machine@example.com', [name]: 'https://spam.example' });
    expect([machine.status, machine.headers.get('location')]).toEqual([303, `/enroll/${slug}?check`]);
    expect(await (await fetch(`${page}?check`)).text()).toContain('send the form once more');
    expect(await membersOf(service, _id)).toEqual([]);
    const person = await post({ email: 'person@example.com', [name]: '' });
    expect(person.headers.get('location')).toContain('/passes/');
    expect(await membersOf(service, _id)).toHaveLength(1);
  });

  it('without the consent that the program requires is refused, and creates no member', async () => {
    const consentText = 'Corner Coffee may keep my details.';
    const { _id: programId, slug } = await merchant.program({ enrollment: { consentText } });
    const person = { email: 'consent@example.com' };
    for (const consent of [undefined, false, 'no', '', 'off', [], {}]) {
      const { status, body } = await submitTo(merchant, slug, { ...person, consent });
      expect([consent, status, body.error?.details?.[0]?.path]).toEqual([consent, 400, 'consent']);
    }
    expect(await membersOf(service, programId)).toEqual([]);
    const before = new Date();
    expect((await submitTo(merchant, slug, { ...person, consent: true })).status).toBe(201);
    const [member] = await membersOf(service, programId);
    expect(member?.consent).toEqual({ at: expect.any(Date), programVersion: 1, text: consentText });
    expect(member?.consent?.at.getTime()).toBeGreaterThanOrEqual(before.getTime());
    expect(member?.consent?.at.getTime()).toBeLessThanOrEqual(member?.createdAt.getTime() ?? 0);
    const without = await merchant.program();
    await submitTo(merchant, without.slug, { ...person, consent: true });
    expect((await membersOf(service, without._id))[0]).not.toHaveProperty('consent');
  });

  it('creates one member from ten concurrent requests', async () => {
    const { _id: programId, slug } = await merchant.program();
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => submitTo(merchant, slug, { email: 'once@example.com' })),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(await membersOf(service, programId)).toHaveLength(1);
  });

  it('drops or cuts what came with the link and cannot be stored, and enrolls all the same', async () => {
    const { _id: programId, slug } = await merchant.program();
    const odd = {
      utm_source: ['poster', 'mail'],
      utm_medium: 'x\ny',
      utm_campaign: 'a'.repeat(5_000),
      utm_term: { a: 1 },
      utm_content: '\ud800',
      ref: ['', ' till '],
      ...Object.fromEntries(Array.from({ length: 40 }, (_, at) => [`utm_z${at}`, at])),
    };
    const answer = await submitTo(merchant, slug, { email: 'odd-link@example.com', ...odd });
    expect(answer.status).toBe(201);
    const [member] = await membersOf(service, programId);
    expect(member?.attribution).toEqual({ utm_source: 'poster', utm_campaign: 'a'.repeat(200), ref: 'till' });
  });

  it('takes no offence at what an address or a form carries that is not UTF-8 or that nobody knows', async () => {
    const { _id: programId, slug } = await merchant.program();
    const post = (path: string, form: string, base = service.publicUrl) =>
      fetch(`${base}${path}`, {
        method: 'POST',
        redirect: 'manual',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: form,
      });
    const statuses = [
      await post(`/enroll/${slug}?utm_source=caf%E9&utm_term=tea&%ff=1&fbclid=2`, 'email=latin-page@example.com'),
      await post(`/enroll/${slug}/submit?utm_source=%ff&gclid=3`, 'email=latin-link@example.com', service.baseUrl),
      await post(`/enroll/${slug}/submit`, 'email=latin-form@example.com&utm_source=%fc&ref=till', service.baseUrl),
    ].map(({ status }) => status);
    expect(statuses).toEqual([303, 201, 201]);
    const members = (await membersOf(service, programId)).sort((a, b) =>
      String(a.email).localeCompare(String(b.email)),
    );
    expect(members.map(({ attribution }) => attribution)).toEqual([{ ref: 'till' }, {}, { utm_term: 'tea' }]);
    expect(
      (await post(`/enroll/${slug}/submit`, 'email=typed@example.com&firstName=Zo%eb', service.baseUrl)).status,
    ).toBe(400);
  });

  it('refuses invalid people and creates nothing', async () => {
    const { _id: programId, slug } = await merchant.program();
    const good = { email: 'a@example.com' };
    const wrong: [unknown, string][] = [
      [{ firstName: 'Ada' }, 'email'],
      [{ email: 'nobody' }, 'email'],
      [{ email: ['a@example.com', 'b@example.com'] }, 'email'],
      [{ email: { $ne: '' } }, 'email'],
      [{ ...good, firstName: 'A\u0000' }, 'firstName'],
      [{ ...good, phone: 'call me' }, 'phone'],
      [[], 'body'],
    ];
    for (const [body, path] of wrong) {
      const answer = await submitTo(merchant, slug, body);
      expect([answer.status, answer.body.error?.code, answer.body.error?.details?.[0]?.path]).toEqual([
        400,
        'VALIDATION_FAILED',
        path,
      ]);
    }
    const repeated = await submitTo(merchant, slug, 'email=a@example.com&email=b@example.com', {
      'Content-Type': 'application/x-www-form-urlencoded',
    });
    expect(repeated.status).toBe(400);
    expect(await membersOf(service, programId)).toHaveLength(0);
  });

  it('answers 404 for a slug that is unknown or closed to the public, and refuses an archived program', async () => {
    const closed = await merchant.program({ enrollment: { open: false } });
    const archived = await merchant.program({ archived: true });
    const body = { email: 'late@example.com' };
    const answers = await Promise.all(
      ['no-such-slug', closed.slug, archived.slug].map((slug) => submitTo(merchant, slug, body)),
    );
    expect(answers.map(({ status, body }) => [status, body.error.code])).toEqual([
      [404, 'PROGRAM_NOT_FOUND'],
      [404, 'PROGRAM_NOT_FOUND'],
      [400, 'PROGRAM_ARCHIVED'],
    ]);
  });

  it.each(['', '?check', '?sent', '?mailed'])('shows no form of an archived program at %s', async (query) => {
    const { slug } = await merchant.program({ archived: true });
    const answer = await fetch(`${service.publicUrl}/enroll/${slug}${query}`);
    const text = await answer.text();
    expect([answer.status, text.includes('takes no new members'), text.includes('name="email"')]).toEqual([
      404,
      true,
      false,
    ]);
  });

  it('leads a form that comes after the end to the page that says why', async () => {
    const { _id, slug } = await merchant.program();
    const { programs } = service.deps.collections;
    await programs.updateOne({ _id }, { $set: { archived: true } });
    const page = `${service.publicUrl}/enroll/${slug}`;
    const body = new URLSearchParams({ email: 'late@example.com' });
    const answer = await fetch(page, { method: 'POST', body, redirect: 'manual' });
    expect([answer.status, answer.headers.get('location')]).toEqual([303, new URL(page).pathname]);
  });

  it('answers within its time limit while no worker issues passes, and the pass follows', async () => {
    const { _id: programId, slug } = await merchant.program();
    await service.stopWorker();
    const startedAt = performance.now();
    const { status, body } = await submitTo(merchant, slug, { email: 'patient@example.com' });
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect([status, body.success]).toEqual([201, true]);
    expect(body.data.apple.passUrl).toMatch(/\/passes\/[\w-]{22,}$/);
    await service.startWorker();
    await until(async () => (await membersOf(service, programId))[0]?.pass.googleIssuedAt);
  });
});

describe('public enrollment with real Google passes', () => {
  let service: TestService;
  let merchant: TestMerchant;
  let google: GoogleServer;

  beforeAll(async () => {
    google = await startGoogleServer();
    service = await startService({ env: { ...google.settings, RATE_LIMIT_PUBLIC: '3' } });
    merchant = await aMerchant(service);
  });
  afterAll(async () => {
    await service.stop();
    await google.close();
  });

  it('answers with the save link, reports a refusal by Google, and issues the pass later', async () => {
    const { _id: programId, slug } = await merchant.program();
    const saved = await submitTo(merchant, slug, { email: 'saved@example.com' });
    expect([saved.status, saved.body.success]).toEqual([201, true]);
    expect(saved.body.data.google.saveUrl).toMatch(/^https:\/\/pay\.google\.com\/gp\/v\/save\//);

    for (const on of ['objectGet', 'objectInsert', 'batch'] as const)
      google.fail({ on, how: { status: 503 }, times: 3 });
    const refused = await submitTo(merchant, slug, { email: 'refused@example.com' });
    expect(refused.status).toBe(201);
    const member = (await membersOf(service, programId)).find(({ email }) => email === 'refused@example.com');
    expect(refused.body).toEqual({
      success: false,
      partial: true,
      data: {
        member: { memberCode: member?.memberCode },
        apple: { passUrl: `${service.publicUrl}/passes/${member?.pass.token}` },
        google: { saveUrl: null },
      },
      error: { code: 'PASS_ISSUANCE_FAILED', message: expect.stringContaining('retried') },
    });
    const late = await until(async () => {
      const now = await service.deps.collections.members.findOne({ _id: member?._id ?? '' });
      return now?.pass.googleIssuedAt && now;
    });
    expect(late.pass.googleSaveUrl).toMatch(/^https:/);
  });

  it('counts requests without a key by address, and does not limit keys by it', async () => {
    const { slug } = await merchant.program();
    const third = await submitTo(merchant, slug, { email: 'third@example.com' });
    expect([third.status, third.headers.get('ratelimit-remaining')]).toEqual([201, '0']);
    const fourth = await submitTo(merchant, slug, { email: 'fourth@example.com' });
    expect([fourth.status, fourth.body.error.code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(fourth.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await merchant.call('/merchants/me/programs')).status).toBe(200);
  });
});
