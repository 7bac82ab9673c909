// Sign-in through a company's OpenID provider, against a real one on loopback: a person is identified by `sub`, and the
// first time by the verified address of an invited user (docs/interface.md#55-users-and-signing-in).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSignInLink } from '../../../activities/access/sessions.writes.js';
import type { UserRow } from '../../../schemas/access/access.rows.js';
import { newId, newToken } from '../../../schemas/shared/ids.js';
import { findPort } from '../../../stack/ports.js';
import { aBrowser, type OpenIdProvider, oidcClient, startOpenIdProvider } from '../../rig/standins/openIdProvider.js';
import { startService, type TestService } from '../../rig/start/service.js';
import { aLink, aUser, cookieOf, press } from '../../rig/start/signIn.js';

let service: TestService;
let provider: OpenIdProvider;
let startProvider: () => Promise<OpenIdProvider>;
const begin = () => `${service.publicUrl}/console/sign-in/oidc`;
const isCallback = (url: string) => url.startsWith(`${service.publicUrl}/console/sign-in/oidc/callback`);

beforeAll(async () => {
  const port = await findPort('127.0.0.1');
  service = await startService({
    worker: false,
    env: {
      CONSOLE_OIDC_ISSUER: `http://127.0.0.1:${port}`,
      CONSOLE_OIDC_CLIENT_ID: oidcClient.id,
      CONSOLE_OIDC_CLIENT_SECRET: oidcClient.secret,
    },
  });
  const redirectUri = `${service.publicUrl}/console/sign-in/oidc/callback`;
  startProvider = () => startOpenIdProvider({ port, redirectUri });
});
afterAll(async () => {
  await provider?.stop();
  await service.stop();
});

const invited = (email = `${newToken(6)}@example.com`.toLowerCase(), merchantId = newId()) =>
  aUser(service.deps, { merchantId, email });
const stored = ({ _id }: UserRow) => service.deps.collections.users.findOne({ _id });

/** Signs in at the provider with this account; returns the final URL. */
async function signInAs(account: Partial<OpenIdProvider['account']>, browser = aBrowser()) {
  provider.account = { sub: newId(), email: 'nobody@example.com', email_verified: true, ...account };
  return browser.follow(begin(), (url) => url.endsWith('/console'));
}

const userOf = async (answer: Response): Promise<string | undefined> => {
  const session = await fetch(`${service.baseUrl}/auth/session`, {
    headers: { Cookie: `session=${cookieOf(answer)}` },
  });
  return ((await session.json()) as { data?: { user: { id: string } } }).data?.user.id;
};
const refusal = async ({ answer }: { answer: Response }) => [
  answer.status,
  /<h1>([^<]*)/.exec(await answer.text())?.[1],
  cookieOf(answer) ?? 'no session',
];
const notInvited = [403, 'You are not invited', 'no session'];
const notWorked = [403, 'That did not work', 'no session'];
const away = [503, 'Your company does not answer', 'no session'];

describe('while the provider is unavailable', () => {
  it('the sign-in page says so, and everything else works', async () => {
    const ended = await aBrowser().follow(begin());
    expect(ended.answer.headers.get('Retry-After')).toBe('30');
    expect(await refusal(ended)).toEqual(away);
    const user = await invited();
    expect((await press(service, await aLink(service.deps, user))).status).toBe(303);
  });
});

describe('a person of the company', () => {
  beforeAll(async () => {
    provider = await startProvider();
  });

  it('is identified by the verified address the first time, and by `sub` from then on', async () => {
    const user = await invited();
    const sub = newId();
    const first = await signInAs({ sub, email: user.email.toUpperCase() });
    expect(first.url).toBe(`${service.publicUrl}/console`);
    expect(await userOf(first.answer)).toBe(user._id);
    expect((await stored(user))?.identity).toEqual({ issuer: provider.issuer, sub });

    const renamed = await signInAs({ sub, email: 'married@example.com', email_verified: false });
    expect(await userOf(renamed.answer)).toBe(user._id);
  });

  it('with another `sub` is a different person, even with the same address', async () => {
    const user = await invited();
    await signInAs({ sub: newId(), email: user.email });
    expect(await refusal(await signInAs({ sub: newId(), email: user.email }))).toEqual(notInvited);
  });

  it('is refused while the provider has not verified the address', async () => {
    const user = await invited();
    expect(await refusal(await signInAs({ email: user.email, email_verified: false }))).toEqual(notInvited);
    expect((await stored(user))?.identity).toBeUndefined();
  });

  it('who is not invited is refused', async () => {
    expect(await refusal(await signInAs({ email: 'stranger@example.com' }))).toEqual(notInvited);
  });

  it('is refused when the provider sends another `sub` with the address', async () => {
    const user = await invited();
    provider.liesAboutSub = true;
    try {
      expect(await refusal(await signInAs({ email: user.email }))).toEqual(notWorked);
    } finally {
      provider.liesAboutSub = false;
    }
    expect((await stored(user))?.identity).toBeUndefined();
  });

  it('of several merchants chooses one, and is identified there by `sub` from then on', async () => {
    const here = await invited();
    const there = await invited(here.email);
    const sub = newId();
    const browser = aBrowser();
    const { url, answer } = await signInAs({ sub, email: here.email }, browser);
    expect(url).toMatch(/\/console\/sign-in\/[\w-]{32}$/);
    const text = await answer.text();
    for (const { merchantId } of [here, there]) expect(text).toContain(`Sign in to ${merchantId}`);
    const chosen = await press(service, url.split('/').at(-1) ?? '', { userId: there._id });
    expect(await userOf(chosen)).toBe(there._id);
    expect([(await stored(there))?.identity?.sub, (await stored(here))?.identity]).toEqual([sub, undefined]);
  });

  it('gets only one `sub` when two people with the same address first sign in at the same time', async () => {
    const user = await invited();
    const linkOf = (sub: string) =>
      createSignInLink(service.deps, {
        email: user.email,
        userIds: [user._id],
        identity: { issuer: provider.issuer, sub },
      });
    const links = await Promise.all(['first', 'second'].map(linkOf));
    const answers = await Promise.all(links.map((token) => press(service, token)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 410]);
    const winner = answers.findIndex(({ status }) => status === 303);
    expect((await stored(user))?.identity?.sub).toBe(['first', 'second'][winner]);
  });
});

describe('an answer of the provider', () => {
  async function broughtBack() {
    const user = await invited();
    provider.account = { sub: newId(), email: user.email, email_verified: true };
    const browser = aBrowser();
    const { url } = await browser.follow(begin(), isCallback);
    return { user, browser, url };
  }

  it('counts once, even with the cookie of the first time', async () => {
    const { user, browser, url } = await broughtBack();
    const secret = browser.cookie(url, 'sign-in') ?? '';
    expect(await userOf(await browser.go(url))).toBe(user._id);
    expect(browser.cookie(url, 'sign-in')).toBeUndefined();
    const { exchanges } = provider;
    expect(await refusal({ answer: await browser.go(url) })).toEqual(notWorked);
    browser.setCookie(url, 'sign-in', secret);
    expect(await refusal({ answer: await browser.go(url) })).toEqual(notWorked);
    // The service itself detects it: the provider, which would refuse the code too, was not called.
    expect(provider.exchanges).toBe(exchanges);
  });

  it('does not sign in another browser than the one that began the sign-in', async () => {
    const { url } = await broughtBack();
    expect(await refusal({ answer: await aBrowser().go(url) })).toEqual(notWorked);
    const other = aBrowser();
    await other.go(begin());
    expect(await refusal({ answer: await other.go(url) })).toEqual(notWorked);
  });

  it('does not sign in with a changed state, with another code, or without one', async () => {
    for (const change of [{ state: 'changed' }, { code: 'changed' }, { code: '' }, { state: '' }]) {
      const { browser, url } = await broughtBack();
      const changed = new URL(url);
      for (const [name, value] of Object.entries(change)) changed.searchParams.set(name, value);
      expect(await refusal({ answer: await browser.go(changed.href) })).toEqual(notWorked);
    }
  });

  it('that refuses is shown to the person', async () => {
    const browser = aBrowser();
    await browser.go(begin());
    const url = `${service.publicUrl}/console/sign-in/oidc/callback?error=access_denied&state=x`;
    expect(await refusal({ answer: await browser.go(url) })).toEqual(notWorked);
  });

  it('that cannot be checked because the provider is unavailable is shown as such', async () => {
    const { browser, url } = await broughtBack();
    await provider.stop();
    expect(await refusal({ answer: await browser.go(url) })).toEqual(away);
    provider = await startProvider();
  });
});

it('the page to sign in offers the company account', async () => {
  const text = await (await fetch(`${service.publicUrl}/console/sign-in`)).text();
  expect(text).toContain('href="/console/sign-in/oidc"');
});
