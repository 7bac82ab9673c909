// Sign-in to the console by one-time links, and the sessions of these sign-ins, which end at once
// (docs/interface.md#55-users-and-signing-in).
import { decodeJwt, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { changeRoles, removeUser } from '../../../activities/access/users.writes.js';
import type { UserRow } from '../../../schemas/access/access.rows.js';
import { builtInRoles } from '../../../schemas/access/permissions.schema.js';
import { sha256 } from '../../../schemas/shared/ids.js';
import { catalogues, languages } from '../../../schemas/shared/languages/index.js';
import { until } from '../../rig/checks/until.js';
import { findBarriers, hasBrowser, keepScreenshot, screens, startBrowser } from '../../rig/standins/browser.js';
import { startJwksServer } from '../../rig/standins/jwksServer.js';
import { type SmtpServer, startSmtpServer } from '../../rig/standins/smtpServer.js';
import { aMerchant, outcome, type TestMerchant } from '../../rig/start/merchant.js';
import { jwtSecret, startService, type TestService } from '../../rig/start/service.js';
import { aLink, aUser, cookieOf, press, signedIn } from '../../rig/start/signIn.js';

let service: TestService;
let merchant: TestMerchant;
let user: UserRow;

beforeAll(async () => {
  service = await startService({ worker: false });
  merchant = await aMerchant(service);
  await service.deps.collections.merchants.insertOne({ _id: merchant.id, name: 'Corner Café', createdAt: new Date() });
  user = await aUser(service.deps, { merchantId: merchant.id });
});
afterAll(() => service.stop());

const open = (token: string, init: RequestInit = {}) => fetch(`${service.publicUrl}/console/sign-in/${token}`, init);
const whoAmI = (credential: Record<string, string>) => merchant.call('/auth/session', { credential });
const write = (path: string, credential: Record<string, string>) => merchant.call(path, { method: 'POST', credential });
const isUsed = async (token: string) =>
  (await service.deps.collections.signInLinks.findOne({ _id: sha256(token) }))?.usedAt !== undefined;

describe('a sign-in link', () => {
  it('is not used up by opening it any number of times', async () => {
    const token = await aLink(service.deps, user);
    for (const method of ['GET', 'HEAD', 'GET']) expect((await open(token, { method })).status).toBe(200);
    const page = await open(token);
    const text = await page.text();
    expect(text).toContain(user.email);
    expect(text).toContain('Sign in to Corner Café');
    expect(text).not.toContain('<script');
    expect(page.headers.get('Content-Security-Policy')).toMatch(/^default-src 'none';.*frame-ancestors 'none'/);
    expect(page.headers.get('Cache-Control')).toBe('no-store');
    expect(page.headers.getSetCookie()).toEqual([]);
    expect(await isUsed(token)).toBe(false);
    expect((await press(service, token)).status).toBe(303);
  });

  it('signs in by its button, with a cookie that no script reads', async () => {
    const answer = await press(service, await aLink(service.deps, user));
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/console']);
    const [cookie = '', ...more] = answer.headers.getSetCookie();
    expect(more).toEqual([]);
    expect(cookie.replace(/^session=[^;]+/, '')).toBe('; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax');
    const claims = decodeJwt(cookieOf(answer) ?? '');
    expect(claims).toMatchObject({
      sub: user._id,
      merchantId: merchant.id,
      roleIds: ['owner'],
      sid: expect.any(String),
    });
    const { body } = await whoAmI({ Cookie: `session=${cookieOf(answer)}` });
    expect(body.data).toEqual({
      user: { id: user._id, email: user.email },
      merchant: { id: merchant.id, name: 'Corner Café' },
      roleIds: ['owner'],
      permissions: [...(builtInRoles.owner ?? [])],
      endsAt: expect.any(String),
      canSignOut: true,
    });
    expect(Math.abs(Date.parse(body.data.endsAt) - Date.now() - 12 * 3_600_000)).toBeLessThan(60_000);
  });

  it('writes one audit entry when it is used', async () => {
    const one = await aUser(service.deps, { merchantId: merchant.id });
    const token = await aLink(service.deps, one);
    await open(token);
    await Promise.all([press(service, token), press(service, token)]);
    const answer = await merchant.call(`/merchants/me/audit?targetId=${one._id}`, {
      credential: { Authorization: `Bearer ${await merchant.token()}` },
    });
    expect(answer.body.data.items).toEqual([
      expect.objectContaining({
        actor: { type: 'user', id: one._id },
        action: 'user.sign-in',
        targetId: one._id,
        address: '127.0.0.0/24',
        requestId: expect.any(String),
      }),
    ]);
    expect(answer.text).not.toContain(token);
  });

  it('works once, also for concurrent requests', async () => {
    const token = await aLink(service.deps, user);
    const answers = await Promise.all(Array.from({ length: 8 }, () => press(service, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(7).fill(410)]);
    expect(await (await press(service, token)).text()).toContain('does not work any more');
  });

  it('expires after 15 minutes, with the same page as for a used or unknown link', async () => {
    const token = await aLink(service.deps, user);
    const { signInLinks } = service.deps.collections;
    const row = await signInLinks.findOne({ _id: sha256(token) });
    expect(Math.abs((row?.expiresAt.getTime() ?? 0) - Date.now() - 900_000)).toBeLessThan(60_000);
    await signInLinks.updateOne({ _id: sha256(token) }, { $set: { expiresAt: new Date() } });
    const used = await aLink(service.deps, user);
    await press(service, used);
    const pages: [number, string][] = [];
    for (const one of [token, used, 'never-was-never-was-never-was', 'x'])
      for (const page of [await open(one), await press(service, one)]) pages.push([page.status, await page.text()]);
    expect(new Set(pages.map(([, text]) => text)).size).toBe(1);
    expect(new Set(pages.map(([status]) => status))).toEqual(new Set([410]));
  });

  it('is stored only as a hash', async () => {
    const token = await aLink(service.deps, user);
    const rows = await service.deps.collections.signInLinks.find({ userIds: user._id }).toArray();
    expect(rows.map(({ _id }) => _id)).toContain(sha256(token));
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  it('can be used by a caller that is not a browser and sends no origin', async () => {
    const token = await aLink(service.deps, user);
    expect((await press(service, token, { headers: {} })).status).toBe(303);
    expect(await isUsed(token)).toBe(true);
  });

  it.each([
    ['another site', { 'Sec-Fetch-Site': 'cross-site' }],
    ['a sister site', { 'Sec-Fetch-Site': 'same-site' }],
    ['another origin', { Origin: 'https://evil.example' }],
    ['a hidden origin', { Origin: 'null' }],
  ])('cannot be used by a button of %s', async (_where, headers) => {
    const token = await aLink(service.deps, user);
    const answer = await press(service, token, { headers: headers as Record<string, string> });
    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain('CSRF_REJECTED');
    expect(answer.headers.getSetCookie()).toEqual([]);
    expect(await isUsed(token)).toBe(false);
  });

  it('of a person with several merchants signs in to the chosen one', async () => {
    const other = await aMerchant(service);
    const there = await aUser(service.deps, { merchantId: other.id, email: user.email, roleIds: ['viewer'] });
    const stranger = await aUser(service.deps, { merchantId: other.id });
    const token = await aLink(service.deps, user, there);
    const text = await (await open(token)).text();
    expect(text).toContain('Sign in to Corner Café');
    expect(text).toContain(`Sign in to ${other.id}`);
    for (const userId of [undefined, stranger._id, 'x'])
      expect((await press(service, token, { ...(userId !== undefined && { userId }) })).status).toBe(410);
    const answer = await press(service, token, { userId: there._id });
    const { body } = await whoAmI({ Cookie: `session=${cookieOf(answer)}` });
    expect(body.data).toMatchObject({ merchant: { id: other.id, name: null }, roleIds: ['viewer'] });
    expect((await press(service, token, { userId: user._id })).status).toBe(410);

    const both = await aLink(service.deps, user, there);
    const pressed = await Promise.all([user, there].map(({ _id }) => press(service, both, { userId: _id })));
    expect(pressed.map(({ status }) => status).sort()).toEqual([303, 410]);
  });

  it('of a removed user does not work, even if the person was invited again', async () => {
    const gone = await aUser(service.deps, { merchantId: merchant.id });
    const token = await aLink(service.deps, gone);
    await removeUser(service.deps, { merchantId: merchant.id, id: gone._id, checkGrant: () => {} });
    expect((await press(service, token)).status).toBe(410);
    await aUser(service.deps, { merchantId: merchant.id, email: gone.email });
    expect((await press(service, token)).status).toBe(410);
  });

  it('gets the same answer when it is requested for any address', async () => {
    const ask = (email: string) => merchant.call('/auth/sign-in-links', { body: { email }, credential: null });
    const [known, unknown] = [await ask(user.email), await ask('nobody@example.com')];
    expect([known.status, known.text]).toEqual([202, unknown.text]);
    expect(outcome(await ask('no address'))).toEqual([400, 'VALIDATION_FAILED']);
  });
});

/** The entries of the action by the user, and about nobody else. */
async function auditedOf(of: TestMerchant, { _id }: { _id: string }, action: string) {
  const credential = { Authorization: `Bearer ${await of.token()}` };
  const { body } = await of.call(`/merchants/me/audit?actor=${_id}&action=${action}`, { credential });
  return body.data.items.map(({ targetId, address }: Record<string, string>) => ({ targetId, network: address }));
}

describe('a session', () => {
  const newUser = (roleIds = ['owner']) => aUser(service.deps, { merchantId: merchant.id, roleIds });

  it('ends at once when its user signs out; other sessions continue', async () => {
    const [mine, other] = [await signedIn(service, user), await signedIn(service, user)];
    expect(outcome(await whoAmI(mine))).toEqual([200, 'ok']);
    const answer = await write('/auth/sign-out', mine);
    expect(answer.body.data).toEqual({ signedOut: true });
    expect(answer.headers.getSetCookie()).toEqual(['session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax']);
    expect(outcome(await whoAmI(mine))).toEqual([401, 'INVALID_TOKEN']);
    expect(outcome(await whoAmI(other))).toEqual([200, 'ok']);
    expect(outcome(await write('/auth/sign-out', mine))).toEqual([401, 'INVALID_TOKEN']);
    expect(await auditedOf(merchant, user, 'user.sign-out')).toEqual([{ targetId: user._id, network: '127.0.0.0/24' }]);
  });

  it('ends at once with all others of the person, in every merchant, and with the unused links', async () => {
    const elsewhere = await aMerchant(service);
    const one = await newUser();
    const same = await aUser(service.deps, { merchantId: elsewhere.id, email: one.email });
    const sessions = [await signedIn(service, one), await signedIn(service, one), await signedIn(service, same)];
    const waiting = await aLink(service.deps, one);
    const bystander = await signedIn(service, user);
    const answer = await write('/auth/sign-out-everywhere', sessions[0] ?? {});
    expect(answer.body.data).toEqual({ signedOut: true });
    for (const session of sessions) expect(outcome(await whoAmI(session))).toEqual([401, 'INVALID_TOKEN']);
    for (const [of, { _id: targetId }] of [
      [merchant, one],
      [elsewhere, same],
    ] as const) {
      const audited = await auditedOf(of, { _id: targetId }, 'user.sign-out-everywhere');
      expect(audited).toEqual([{ targetId, network: '127.0.0.0/24' }]);
    }
    expect((await press(service, waiting)).status).toBe(410);
    expect(outcome(await whoAmI(bystander))).toEqual([200, 'ok']);
  });

  it('ends at once when its user is removed, and stays ended when the person is invited again', async () => {
    const one = await newUser();
    const session = await signedIn(service, one);
    await removeUser(service.deps, { merchantId: merchant.id, id: one._id, checkGrant: () => {} });
    expect(outcome(await whoAmI(session))).toEqual([401, 'INVALID_TOKEN']);
    await aUser(service.deps, { merchantId: merchant.id, email: one.email });
    expect(outcome(await whoAmI(session))).toEqual([401, 'INVALID_TOKEN']);
  });

  it('that is made while its user is removed does not outlive the user', async () => {
    for (let round = 0; round < 5; round += 1) {
      const one = await newUser();
      const token = await aLink(service.deps, one);
      await Promise.all([
        press(service, token),
        removeUser(service.deps, { merchantId: merchant.id, id: one._id, checkGrant: () => {} }),
      ]);
      expect(await service.deps.collections.sessions.countDocuments({ userId: one._id })).toBe(0);
    }
  });

  it('has new roles at once', async () => {
    const one = await newUser(['viewer']);
    const session = await signedIn(service, one);
    const programs = () => merchant.call('/merchants/me/programs', { credential: session });
    const at = { merchantId: merchant.id, id: one._id, checkGrant: () => {} };
    expect((await programs()).status).toBe(200);
    await changeRoles(service.deps, { ...at, roleIds: ['till'] });
    expect(outcome(await programs())).toEqual([403, 'PERMISSION_DENIED']);
    expect((await whoAmI(session)).body.data).toMatchObject({ roleIds: ['till'], permissions: ['till:use'] });
    await changeRoles(service.deps, { ...at, roleIds: ['manager'] });
    expect((await programs()).status).toBe(200);
  });

  it('ends after 12 hours without use, and after 7 days at the latest', async () => {
    const one = await newUser();
    const session = await signedIn(service, one);
    const { sessions } = service.deps.collections;
    const row = () => sessions.findOne({ userId: one._id });
    const hour = 3_600_000;
    await sessions.updateOne({ userId: one._id }, { $set: { endsAt: new Date(Date.now() + hour) } });
    expect((await whoAmI(session)).status).toBe(200);
    await until(async () => ((await row())?.endsAt.getTime() ?? 0) > Date.now() + 11.9 * hour);

    const createdAt = new Date(Date.now() - 7 * 24 * hour + hour);
    await sessions.updateOne({ userId: one._id }, { $set: { createdAt, endsAt: new Date(Date.now() + 60_000) } });
    expect((await whoAmI(session)).status).toBe(200);
    await until(async () => (await row())?.endsAt.getTime() === createdAt.getTime() + 7 * 24 * hour);

    await sessions.updateOne({ userId: one._id }, { $set: { endsAt: new Date() } });
    expect(outcome(await whoAmI(session))).toEqual([401, 'INVALID_TOKEN']);
  });

  it('writes with its cookie only from a page of the service, and with a Bearer token from anywhere', async () => {
    const { Cookie = '' } = await signedIn(service, user);
    expect(outcome(await write('/auth/sign-out', { Cookie }))).toEqual([403, 'CSRF_REJECTED']);
    const abroad = { Cookie, 'Sec-Fetch-Site': 'cross-site' };
    expect(outcome(await write('/auth/sign-out-everywhere', abroad))).toEqual([403, 'CSRF_REJECTED']);
    expect(outcome(await whoAmI({ Cookie }))).toEqual([200, 'ok']);
    const bearer = { Authorization: `Bearer ${Cookie.replace('session=', '')}` };
    expect(outcome(await write('/auth/sign-out', bearer))).toEqual([200, 'ok']);
    expect(outcome(await whoAmI(bearer))).toEqual([401, 'INVALID_TOKEN']);
  });

  it('of another console works as before, and cannot be ended here', async () => {
    const foreign = { Authorization: `Bearer ${await merchant.token({ roleIds: ['viewer'] })}` };
    const { body } = await whoAmI(foreign);
    expect(body.data).toMatchObject({ user: { id: 'user-1', email: null }, roleIds: ['viewer'], canSignOut: false });
    expect((await write('/auth/sign-out', foreign)).body.data).toEqual({ signedOut: false });
    expect((await write('/auth/sign-out-everywhere', foreign)).body.data).toEqual({ signedOut: false });
    expect(outcome(await whoAmI(foreign))).toEqual([200, 'ok']);
  });

  it('that does not exist, or belongs to another user, is refused whatever the token says', async () => {
    const { Cookie = '' } = await signedIn(service, user);
    const { sid } = decodeJwt(Cookie.replace('session=', ''));
    for (const claims of [
      { sub: user._id, sid: 'never-was' },
      { sub: 'user-1', sid },
      { sub: user._id, sid: '' },
    ])
      expect(outcome(await whoAmI({ Authorization: `Bearer ${await merchant.token(claims)}` }))).toEqual([
        401,
        'INVALID_TOKEN',
      ]);
  });

  it('is not needed with an API key, and an API key has none', async () => {
    expect(outcome(await merchant.call('/auth/session'))).toEqual([403, 'CONSOLE_SESSION_REQUIRED']);
    expect(outcome(await merchant.call('/auth/session', { credential: null }))).toEqual([
      401,
      'AUTHENTICATION_REQUIRED',
    ]);
  });
});

describe('with a console that has its own keys', () => {
  it('sessions of the service are signed with a key that only the service has', async () => {
    const jwks = await startJwksServer();
    const key = await jwks.add('rsa-1');
    const beside = await startService({ worker: false, env: { CONSOLE_JWKS_URL: jwks.url } });
    try {
      const own = await aMerchant(beside);
      const one = await aUser(beside.deps, { merchantId: own.id });
      const session = await signedIn(beside, one);
      const ask = (credential: Record<string, string>) => own.call('/auth/session', { credential });
      expect((await ask(session)).body.data).toMatchObject({ user: { id: one._id }, canSignOut: true });
      expect(jwks.asked()).toBe(0);

      const claims = decodeJwt(session.Cookie?.replace('session=', '') ?? '');
      const forged = await new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(new TextEncoder().encode(jwtSecret));
      expect(outcome(await ask({ Authorization: `Bearer ${forged}` }))).toEqual([401, 'INVALID_TOKEN']);

      // The `sid` of a token from the other console has no meaning here and opens no session.
      const theirs = await new SignJWT({ ...claims, sub: 'user-1', sid: 'of-theirs' })
        .setProtectedHeader({ alg: 'RS256', kid: key.kid })
        .sign(key.privateKey);
      const foreign = await ask({ Authorization: `Bearer ${theirs}` });
      expect(foreign.body.data).toMatchObject({ user: { id: 'user-1', email: null }, canSignOut: false });
    } finally {
      await beside.stop();
      await jwks.stop();
    }
  });
});

describe('a sign-in link by mail', () => {
  let smtp: SmtpServer;
  let mailing: TestService;
  let own: TestMerchant;

  beforeAll(async () => {
    smtp = await startSmtpServer();
    mailing = await startService({
      env: { SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_FROM: 'no-reply@example.com' },
    });
    own = await aMerchant(mailing);
  });
  afterAll(async () => {
    await mailing.stop();
    await smtp.close();
  });

  const ask = (email: string) => own.call('/auth/sign-in-links', { body: { email }, credential: null });
  const mailsTo = (email: string) => smtp.mails.filter(({ to }) => to.includes(email));
  const tokenOf = (mail: SmtpServer['mails'][number]) =>
    /\/console\/sign-in\/([\w-]{32})/.exec(mail.parsed.text ?? '')?.[1] ?? '';

  it('reaches only users who request it, and few are sent to one address', async () => {
    const one = await aUser(mailing.deps, { merchantId: own.id });
    const answers = [await ask('nobody@example.com')];
    for (let times = 0; times < 5; times += 1) answers.push(await ask(one.email.toUpperCase()));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    await until(() => mailsTo(one.email).length === 3);
    const [mail] = mailsTo(one.email);
    if (mail) expect((await press(mailing, tokenOf(mail))).status).toBe(303);
    expect(mailsTo('nobody@example.com')).toEqual([]);
  });

  it('invites a user and signs this user in', async () => {
    const body = { email: 'grace@example.com', roleIds: ['viewer'] };
    const credential = { Authorization: `Bearer ${await own.token()}`, 'Accept-Language': 'de' };
    const { id } = (await own.call('/merchants/me/users', { body, credential })).body.data;
    const mail = await until(() => mailsTo('grace@example.com')[0]);
    expect(mail.parsed.subject).toContain('Einladung');
    const answer = await press(mailing, tokenOf(mail));
    const { body: session } = await own.call('/auth/session', {
      credential: { Cookie: `session=${cookieOf(answer)}` },
    });
    expect(session.data).toMatchObject({ user: { id, email: 'grace@example.com' }, roleIds: ['viewer'] });
  });

  it('is requested on a page that is the same for every address', async () => {
    const page = `${mailing.publicUrl}/console/sign-in`;
    expect(await (await fetch(page)).text()).toContain('<form method="post" action="/console/sign-in">');
    const one = await aUser(mailing.deps, { merchantId: own.id });
    const send = async (email: string) => {
      const answer = await fetch(page, { method: 'POST', body: new URLSearchParams({ email }) });
      return [answer.status, await answer.text()];
    };
    expect(await send(one.email)).toEqual(await send('nobody@example.com'));
    expect((await send('no address'))[0]).toBe(400);
    await until(() => mailsTo(one.email).length === 1);
  });

  it.runIf(hasBrowser)('is asked for and opened in the language of the browser, without barriers', async () => {
    const one = await aUser(mailing.deps, { merchantId: own.id });
    const token = await aLink(mailing.deps, one);
    const browser = await startBrowser();
    const wrong: string[] = [];
    for (const locale of languages)
      for (const [screen, colorScheme] of [
        ['phone', 'dark'],
        ['desktop', 'light'],
      ] as const) {
        const { title, send, as, to, used, open: again } = catalogues[locale].signIn;
        const page = await browser.open('about:blank', { ...screens[screen], colorScheme, locale });
        for (const [name, path, ...texts] of [
          ['ask', '', title, catalogues[locale].join.fields.email.label, send],
          ['open', `/${token}`, title, as(one.email), to(own.id)],
          ['used', '/never-was-never-was-never-was', used, again, send],
        ]) {
          await page.goto(`${mailing.publicUrl}/console/sign-in${path}`);
          const shown = (await page.locator('main').textContent()) ?? '';
          wrong.push(...texts.filter((text) => !shown.includes(text)).map((text) => `${locale} lacks: ${text}`));
          expect(await page.locator('html').getAttribute('lang')).toBe(locale);
          wrong.push(...(await findBarriers(page)).map((found) => `${locale} ${screen} ${name}: ${found}`));
          const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
          if (overflow !== 0) wrong.push(`${locale} ${name}: ${overflow} pixels too wide`);
          await keepScreenshot(page, `sign-in-${locale}-${name}-${screen}`);
        }
        await page.context().close();
      }
    await browser.close();
    expect(wrong).toEqual([]);
  });
});

describe('the page to sign in', () => {
  it('does not promise mail where none is sent', async () => {
    const page = await fetch(`${service.publicUrl}/console/sign-in`);
    expect([page.status, (await page.text()).includes('<form')]).toEqual([200, false]);
  });

  it.runIf(hasBrowser)('signs in by the button in a real browser', async () => {
    const browser = await startBrowser();
    try {
      const page = await browser.open(`${service.publicUrl}/console/sign-in/${await aLink(service.deps, user)}`);
      await keepScreenshot(page, 'sign-in');
      await page.getByRole('button', { name: 'Sign in to Corner Café' }).click();
      await page.waitForURL(/\/console$/);
      const [cookie] = await page.context().cookies();
      expect(cookie).toMatchObject({ name: 'session', httpOnly: true, sameSite: 'Lax', secure: false });
      const shown = await page.context().request.get(`${service.baseUrl}/auth/session`);
      expect((await shown.json()).data.user.email).toBe(user.email);
    } finally {
      await browser.close();
    }
  });
});
