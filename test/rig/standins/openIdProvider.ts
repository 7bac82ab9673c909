// A real OpenID provider on loopback, and a person with a browser who signs in there at once.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

export interface Account {
  sub: string;
  email: string;
  email_verified: boolean;
}

export interface OpenIdProvider {
  issuer: string;
  /** The person of the next sign-in. */
  account: Account;
  /** Puts another `sub` into the answers of its userinfo endpoint. */
  liesAboutSub: boolean;
  /** How often a code was exchanged. */
  exchanges: number;
  stop: () => Promise<void>;
}

export const oidcClient = { id: 'loyalty', secret: 'a-client-secret-for-tests-only-0123456789' };

export async function startOpenIdProvider({
  port,
  redirectUri,
}: {
  port: number;
  redirectUri: string;
}): Promise<OpenIdProvider> {
  const issuer = `http://127.0.0.1:${port}`;
  const accounts = new Map<string, Account>();
  const rig: OpenIdProvider = {
    issuer,
    account: { sub: 'nobody', email: 'nobody@example.com', email_verified: true },
    liesAboutSub: false,
    exchanges: 0,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const provider: Provider = new Provider(issuer, {
    clients: [{ client_id: oidcClient.id, client_secret: oidcClient.secret, redirect_uris: [redirectUri] }],
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_ctx, sub) => ({ accountId: sub, claims: async () => ({ ...accounts.get(sub), sub }) }),
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
    cookies: { keys: ['a-cookie-key-for-tests-only'] },
    ttl: { AccessToken: 600, AuthorizationCode: 600, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    async loadExistingGrant({ oidc }) {
      const { session, client } = oidc;
      if (!session?.accountId || !client) return undefined;
      const grant = new provider.Grant({ accountId: session.accountId, clientId: client.clientId });
      grant.addOIDCScope('openid email');
      await grant.save();
      return grant;
    },
  });
  provider.use(async (ctx, next) => {
    if (ctx.path === '/token') rig.exchanges += 1;
    await next();
    if (rig.liesAboutSub && ctx.path === '/me') ctx.body = { ...(ctx.body as object), sub: 'somebody-else' };
  });
  const handle = provider.callback();
  const server = createServer((request, answer) => {
    if (!request.url?.startsWith('/interaction/')) return handle(request, answer);
    const { sub } = rig.account;
    accounts.set(sub, { ...rig.account });
    return provider.interactionFinished(request, answer, { login: { accountId: sub, remember: false } });
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return rig;
}

/** A browser: cookies by host and port, and redirects one by one. */
export function aBrowser() {
  const jars = new Map<string, Map<string, string>>();

  async function go(url: string): Promise<Response> {
    const { host } = new URL(url);
    const jar = jars.get(host) ?? new Map<string, string>();
    jars.set(host, jar);
    const Cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const answer = await fetch(url, { redirect: 'manual', headers: { Cookie } });
    for (const text of answer.headers.getSetCookie()) {
      const [pair = '', ...attributes] = text.split(/; */);
      const at = pair.indexOf('=');
      const isOver = attributes.some(
        (part) => part.toLowerCase() === 'max-age=0' || /^expires=thu, 01 jan 1970/i.test(part),
      );
      if (isOver) jar.delete(pair.slice(0, at));
      else jar.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return answer;
  }

  return {
    go,
    cookie: (url: string, name: string) => jars.get(new URL(url).host)?.get(name),
    setCookie: (url: string, name: string, value: string) => jars.get(new URL(url).host)?.set(name, value),
    /**
     * Follows redirects from the address to the end, or to the first URL for which `isLast` is true, which is not
     * requested.
     */
    async follow(
      url: string,
      isLast: (url: string) => boolean = () => false,
    ): Promise<{ url: string; answer: Response }> {
      let at = url;
      let answer = await go(at);
      for (let hop = 0; hop < 12; hop += 1) {
        const location = answer.headers.get('Location');
        if (!location) break;
        at = new URL(location, at).href;
        if (isLast(at)) break;
        answer = await go(at);
      }
      return { url: at, answer };
    },
  };
}
