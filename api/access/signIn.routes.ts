// The pages for signing in to the console: plain HTML without a script. Only the button uses a sign-in link up, because
// mail scanners open links too.
import Router from '@koa/router';
import type { Context } from 'koa';
import { identify, type ProviderPerson } from '../../activities/access/identities.reads.js';
import {
  createSignInLink,
  readSignInLink,
  type SignedIn,
  signInByLink,
} from '../../activities/access/sessions.writes.js';
import { mailSignInLink, mailsLinks } from '../../activities/mail/signInMails.writes.js';
import { type Html, html } from '../../platform/html.js';
import type { UserRow } from '../../schemas/access/access.rows.js';
import { signInLinkRequest } from '../../schemas/access/users.schema.js';
import { invitationHours } from '../../schemas/mail/mails.schema.js';
import { signInMinutes } from '../../schemas/shared/config.schema.js';
import { errorTable, ServiceError } from '../../schemas/shared/errors.js';
import { newToken, sha256 } from '../../schemas/shared/ids.js';
import { ipKey, networkOf } from '../../schemas/shared/ipAddress.rules.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { permissionsOf, requireOwnPage } from '../http/caller.reads.js';
import { countCall, withinStrangersLimit } from '../http/guard.js';
import type { Oidc } from '../http/oidc.client.js';
import { readBody } from '../http/readBody.js';
import { setCookie, setSessionCookie } from '../http/sessionCookie.rules.js';
import { basePath, sendPage } from '../pages/layout.view.js';
import { wordsFor } from '../pages/words.view.js';

const home = '/console/sign-in';
/** Holds the secret of a sign-in while the person is at the OpenID provider. */
const awayCookie = 'sign-in';
const awayMs = 600_000;

interface SignInPage {
  title: string;
  status?: number;
  content: Html;
}

function send(deps: ApiDeps, ctx: Context, { title, status = 200, content }: SignInPage): void {
  const body = html`<div class="join"><div class="hero"><h1>${title}</h1></div>${content}</div>`;
  sendPage(deps, ctx, { title, language: wordsFor(ctx).language, status, body });
  // With `no-referrer`, browsers send the origin `null` with a form, and the origin of the button's request is checked.
  ctx.set('Referrer-Policy', 'strict-origin');
}

const said = (text: string, more?: Html): Html => html`<div class="said" role="status"><p>${text}</p>${more}</div>`;

/** The ways to sign in. */
function ways(deps: ApiDeps, ctx: Context): Html {
  const { signIn, join } = wordsFor(ctx);
  const path = `${basePath(deps)}${home}`;
  if (!mailsLinks(deps) && !deps.oidc) return said(signIn.noWay);
  return html`${
    mailsLinks(deps) &&
    html`<form method="post" action="${path}">
<div><label for="email">${join.fields.email.label}</label>
<input id="email" name="email" type="email" autocomplete="email" required maxlength="254"></div>
<button type="submit">${signIn.send}</button></form>`
  }${deps.oidc && html`<div class="said"><a class="button" href="${path}/oidc">${signIn.company}</a></div>`}`;
}

function sendDeadLink(deps: ApiDeps, ctx: Context): void {
  const { signIn } = wordsFor(ctx);
  const open = html`<p><a href="${basePath(deps)}/console">${signIn.open}</a></p>`;
  const why = said(signIn.usedText(signInMinutes(deps.config), invitationHours), open);
  send(deps, ctx, { title: signIn.used, status: 410, content: html`${why}${ways(deps, ctx)}` });
}

async function enter(deps: ApiDeps, ctx: Context, signedIn: SignedIn): Promise<void> {
  deps.log.info({ merchantId: signedIn.user.merchantId, userId: signedIn.user._id }, 'a user signed in');
  setSessionCookie(deps, ctx, await deps.userTokens.sign(signedIn));
  const isForTill = [...(await permissionsOf(deps, signedIn.user))].join() === 'till:use';
  ctx.redirect(`${basePath(deps)}${isForTill ? '/till' : '/console'}`);
  ctx.status = 303;
}

async function showLink(deps: ApiDeps, ctx: Context, token: string): Promise<void> {
  const found = await readSignInLink(deps, token);
  if (!found) {
    if (await withinStrangersLimit(deps, ctx)) sendDeadLink(deps, ctx);
    return;
  }
  const { link, users } = found;
  const { signIn } = wordsFor(ctx);
  const names = await merchantNames(deps, users);
  const buttons = users.map(
    ({ _id, merchantId }) =>
      html`<button type="submit" name="userId" value="${_id}">${signIn.to(names.get(merchantId) ?? merchantId)}</button>`,
  );
  const content = html`<form method="post"><p>${signIn.as(link.email)}</p>${buttons}</form>`;
  send(deps, ctx, { title: signIn.title, content });
}

async function merchantNames(deps: ApiDeps, users: UserRow[]): Promise<Map<string, string>> {
  const ids = users.map(({ merchantId }) => merchantId);
  const rows = await deps.collections.merchants.find({ _id: { $in: ids } }, { projection: { name: 1 } }).toArray();
  return new Map(rows.map(({ _id, name }) => [_id, name]));
}

const fieldOf = (body: Record<string, unknown> | undefined, name: string): string | undefined => {
  const value = body?.[name];
  return typeof value === 'string' ? value : undefined;
};

const fromOf = (ctx: Context) => ({ address: networkOf(ctx.ip), requestId: String(ctx.state.requestId) });

async function takeLink(deps: ApiDeps, ctx: Context, token: string): Promise<void> {
  await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
  // Login CSRF: another site could otherwise sign a person in as somebody else. Browsers send the origin of the page
  // with the button; a request without one does not come from a browser.
  if (ctx.get('Sec-Fetch-Site') || ctx.get('Origin')) requireOwnPage(ctx, deps.config.PUBLIC_URL);
  const userId = fieldOf(await readBody(ctx, { form: true }), 'userId');
  const signedIn = await signInByLink(deps, { token, userId, from: fromOf(ctx) });
  if (!signedIn) return sendDeadLink(deps, ctx);
  await enter(deps, ctx, signedIn);
}

async function askForLink(deps: ApiDeps, ctx: Context): Promise<void> {
  const { signIn, join, language } = wordsFor(ctx);
  await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
  const parsed = signInLinkRequest.safeParse({ email: fieldOf(await readBody(ctx, { form: true }), 'email') });
  if (!parsed.success) return send(deps, ctx, { title: signIn.check, status: 400, content: ways(deps, ctx) });
  mailSignInLink(deps, { ...parsed.data, language });
  send(deps, ctx, { title: join.sent, content: said(signIn.sentText(signInMinutes(deps.config))) });
}

function requireOidc({ oidc }: ApiDeps): Oidc {
  if (!oidc) throw new ServiceError('ROUTE_NOT_FOUND');
  return oidc;
}

async function goToProvider(deps: ApiDeps, ctx: Context): Promise<void> {
  const oidc = requireOidc(deps);
  await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
  const secret = newToken(32);
  const url = await oidc.begin(secret);
  setCookie(deps, ctx, { name: awayCookie, value: secret, maxAgeMs: awayMs, path: home });
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(url.href);
}

async function comeFromProvider(deps: ApiDeps, ctx: Context): Promise<void> {
  const oidc = requireOidc(deps);
  const { signIn } = wordsFor(ctx);
  await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
  const secret = ctx.cookies.get(awayCookie) ?? '';
  setCookie(deps, ctx, { name: awayCookie, value: '', maxAgeMs: 0, path: home });
  const person = await personOf(deps, oidc, { secret, search: ctx.search });
  if (!person)
    return send(deps, ctx, {
      title: signIn.failed,
      status: 403,
      content: html`${said(signIn.failedText)}${ways(deps, ctx)}`,
    });
  const users = await identify(deps, person);
  const [first] = users;
  if (!first)
    return send(deps, ctx, {
      title: signIn.notInvited,
      status: 403,
      content: said(signIn.notInvitedText),
    });
  const { issuer, sub } = person;
  const userIds = users.map(({ _id }) => _id);
  const token = await createSignInLink(deps, { email: first.email, userIds, identity: { issuer, sub } });
  if (users.length > 1) {
    ctx.redirect(`${basePath(deps)}${home}/${token}`);
    return;
  }
  const signedIn = await signInByLink(deps, { token, from: fromOf(ctx) });
  if (!signedIn) return sendDeadLink(deps, ctx);
  await enter(deps, ctx, signedIn);
}

/** Null when the answer does not belong to a sign-in that this browser began, or was used before. */
async function personOf(
  deps: ApiDeps,
  oidc: Oidc,
  { secret, search }: { secret: string; search: string },
): Promise<ProviderPerson | null> {
  if (!secret) return null;
  const { nonces } = deps.collections;
  const _id = `sign-in:${sha256(secret)}`;
  const { upsertedCount } = await nonces.updateOne(
    { _id },
    { $setOnInsert: { receivedAt: deps.now() } },
    { upsert: true },
  );
  return upsertedCount === 1 ? oidc.finish(secret, search) : null;
}

/** When the provider does not answer, the person sees a page that says so. */
const orAway =
  (work: (deps: ApiDeps, ctx: Context) => Promise<void>) =>
  async (deps: ApiDeps, ctx: Context): Promise<void> => {
    try {
      await work(deps, ctx);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'UNAVAILABLE') throw error;
      ctx.set('Retry-After', '30');
      const { signIn } = wordsFor(ctx);
      send(deps, ctx, {
        title: signIn.away,
        status: errorTable.UNAVAILABLE.status,
        content: html`${said(signIn.awayText)}${ways(deps, ctx)}`,
      });
    }
  };

const toProvider = orAway(goToProvider);
const fromProvider = orAway(comeFromProvider);

export function signInRoutes(deps: ApiDeps): Router {
  const router = new Router({ prefix: home });
  router.get('/', (ctx) => send(deps, ctx, { title: wordsFor(ctx).signIn.title, content: ways(deps, ctx) }));
  router.post('/', (ctx) => askForLink(deps, ctx));
  router.get('/oidc', (ctx) => toProvider(deps, ctx));
  router.get('/oidc/callback', (ctx) => fromProvider(deps, ctx));
  router.get('/:token', (ctx) => showLink(deps, ctx, ctx.params.token ?? ''));
  router.post('/:token', (ctx) => takeLink(deps, ctx, ctx.params.token ?? ''));
  return router;
}
