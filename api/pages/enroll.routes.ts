// The page on which people join a program. Every POST is answered with a redirect: the page behind it shows the form
// again with its mistakes, the card, or where the mail went (sentForm.rules.ts).
import Router from '@koa/router';
import type { Context } from 'koa';
import { type Html, html } from '../../platform/html.js';
import { isAttribution, publicEnrollRequest } from '../../schemas/members/enrollment.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { isMailOn } from '../../schemas/shared/config.schema.js';
import { email as emailField } from '../../schemas/shared/email.rules.js';
import { errorTable, ServiceError } from '../../schemas/shared/errors.js';
import { newId, newToken, sha256 } from '../../schemas/shared/ids.js';
import { ipKey } from '../../schemas/shared/ipAddress.rules.js';
import { passUrlOf } from '../../schemas/wallets/passes.view.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { countAlso, countCall, publicCaller, withinStrangersLimit } from '../http/guard.js';
import { readBody } from '../http/readBody.js';
import { setCookie } from '../http/sessionCookie.rules.js';
import { dropConfirmation } from '../members/confirmation.writes.js';
import { correctAddress, mailLostCard } from '../members/correctAddress.writes.js';
import { joinPublicly, mailCardLink } from '../members/joinPublicly.writes.js';
import { cachedPublicProgram, hasPage, readPublicProgram } from '../programs/programs.reads.js';
import { enrollFields, enrollPage, honeypot, type Joining } from './enrollForm.view.js';
import { basePath, deskUrl, logoOf, sendPage } from './layout.view.js';
import { lostPage, mailedPage, sentPage } from './mailed.view.js';
import { addresseeOf, forgetForm, formKeptMs, formPages, keepForm, readForm, type SentForm } from './sentForm.rules.js';
import { type Words, wordsFor } from './words.view.js';

const joiningOf = (deps: ApiDeps, ctx: Context, program: Program): Joining => ({
  program,
  words: wordsFor(ctx, program),
  logoUrl: logoOf(deps, program),
  mails: isMailOn(deps.config),
});

/** Names the browser in which the form was opened, so that nobody else's submission counts as its repetition. */
const browserCookie = 'join';

export function nameBrowser(deps: ApiDeps, ctx: Context): void {
  const name = browserCookie;
  if (!ctx.cookies.get(name)) setCookie(deps, ctx, { name, value: newToken(), maxAgeMs: 3_600_000, path: '/enroll/' });
}

/** A digest of what names the browser that sends a form. */
export function formDigestOf(ctx: Context): { formDigest?: string } {
  const form = ctx.cookies.get(browserCookie);
  return form === undefined ? {} : { formDigest: sha256(form) };
}

/** A second submission within this time, such as the one of a double click, leads to the card that the first made. */
const repeatMs = 60_000;

/** Whether the browser made this member so recently. */
export function isOwn(
  deps: ApiDeps,
  ctx: Context,
  { formDigest, createdAt }: Pick<MemberRow, 'formDigest' | 'createdAt'>,
  withinMs = repeatMs,
): boolean {
  const isFresh = deps.now().getTime() - createdAt.getTime() < withinMs;
  return isFresh && formDigest !== undefined && formDigest === formDigestOf(ctx).formDigest;
}

export function seeOther(ctx: Context, url: string): void {
  ctx.redirect(url);
  ctx.status = 303;
  ctx.set('Cache-Control', 'no-store');
}

export const leadToCard = (deps: ApiDeps, ctx: Context, member: MemberRow): void =>
  seeOther(ctx, `${passUrlOf(deps, member)}?welcome`);

const pageOf = (ctx: Context) => formPages.find((name) => ctx.query[name] !== undefined);

/** The page of a program, with the query of the request but for `page`. */
function addressOf(deps: ApiDeps, ctx: Context, slug: string, page?: SentForm['page']): string {
  const query = new URLSearchParams(ctx.querystring);
  for (const name of formPages) query.delete(name);
  if (page) query.append(page, '');
  const text = query.toString().replace(/=(?=&|$)/g, '');
  return `${basePath(deps)}/enroll/${slug}${text && `?${text}`}`;
}

export const refusalOf = ({ refusals }: Words['join'], code: string): string =>
  code === 'RATE_LIMITED' ? refusals.tooMany : refusals.other;

/** Says why there is no page: without a program, there are no words of one. */
export function sendRefusal(deps: ApiDeps, ctx: Context, { code }: Pick<ServiceError, 'code'>): void {
  const { join, language } = wordsFor(ctx);
  const [title, text] =
    code === 'PROGRAM_NOT_FOUND' ? [join.nobody, join.refusals.gone] : [join.later, refusalOf(join, code)];
  const body = html`<div class="lone"><h1>${title}</h1><p>${text}</p></div>`;
  sendPage(deps, ctx, { title, language, status: errorTable[code].status, body });
}

export const lostLink = (deps: ApiDeps, { slug }: Program, { lost }: Words['join']): Html =>
  html`<p><a href="${basePath(deps)}/enroll/${slug}?lost">${lost}</a></p>`;

/** The page of a program that takes no members. */
export async function sendClosed(deps: ApiDeps, ctx: Context, program: Program): Promise<void> {
  const { join, language } = wordsFor(ctx, program);
  const title = join.closed(program.passTemplate.logoText || program.name);
  const lost = (await hasPage(deps, program)) && lostLink(deps, program, join);
  const body = html`<div class="lone"><h1>${title}</h1><p>${join.closedText}</p>${lost}</div>`;
  sendPage(deps, ctx, { title, language, program, status: 404, body });
}

/** The program of the path. When there is none, sends a page with the reason and returns null. */
async function shownProgram(deps: ApiDeps, ctx: Context): Promise<Program | null> {
  try {
    return await cachedPublicProgram(deps, { slug: ctx.params.slug ?? '' });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (await withinStrangersLimit(deps, ctx)) sendRefusal(deps, ctx, error);
    return null;
  }
}

async function show(deps: ApiDeps, ctx: Context): Promise<void> {
  const program = await shownProgram(deps, ctx);
  if (!program) return;
  if (program.slug !== ctx.params.slug) {
    // Not a permanent redirect, which browsers keep: another program may take the address that this one gave up.
    ctx.redirect(addressOf(deps, ctx, program.slug));
    return;
  }
  nameBrowser(deps, ctx);
  const joining = joiningOf(deps, ctx, program);
  const page = pageOf(ctx);
  const form = page && readForm(deps, ctx, program, page);
  const isForm = page === 'check' || (page !== 'lost' && !form);
  if (program.archived && isForm) return sendClosed(deps, ctx, program);
  const notice = form?.refusal === undefined ? undefined : refusalOf(joining.words.join, form.refusal);
  const shown = { ...joining, form, notice, deskUrl: deskUrl(deps, { of: form ? addresseeOf(form) : '', program }) };
  if (page === 'lost') return sendPage(deps, ctx, lostPage(shown));
  if (form && page === 'sent') return sendPage(deps, ctx, sentPage(shown));
  if (form && page === 'mailed') return sendPage(deps, ctx, mailedPage(shown));
  if (page === 'check') return sendPage(deps, ctx, enrollPage({ ...joining, ...mistakesOf(joining, form) }));
  sendPage(deps, ctx, { ...enrollPage(joining), cacheControl: 'private, max-age=10' });
}

/** Without the cookie, all that is known is that the form did not get through. */
function mistakesOf({ program, words: { join } }: Joining, form: ReturnType<typeof readForm>) {
  const { values = {}, wrong = [], refusal } = form ?? {};
  const isShown = enrollFields(program).some((name) => wrong.includes(name));
  const plain = isShown ? join.checkFields : join.again;
  return { values, wrong, notice: refusal === undefined ? plain : refusalOf(join, refusal) };
}

interface Sending {
  program: Program;
  values: Record<string, string>;
  /** What the page of before kept, where an address is corrected. */
  former: ReturnType<typeof readForm>;
  keep: (form: Omit<SentForm, 'values'>) => void;
}

/** Only texts: a name that is repeated is a list. */
const textsOf = (sent: object): Record<string, string> =>
  Object.fromEntries(Object.entries(sent).filter((field): field is [string, string] => typeof field[1] === 'string'));

async function send(deps: ApiDeps, ctx: Context): Promise<void> {
  const slug = ctx.params.slug ?? '';
  let program: Program;
  try {
    program = await readPublicProgram(deps, { slug });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // The page says why.
    if (await withinStrangersLimit(deps, ctx)) seeOther(ctx, addressOf(deps, ctx, slug));
    return;
  }
  // A form that is refused before it is read leads back to the page that it is on.
  const from = pageOf(ctx);
  const kept = from && readForm(deps, ctx, program, from);
  let former = from === 'sent' ? kept : undefined;
  let values = kept?.values ?? {};
  let page: SentForm['page'] = former ? 'sent' : 'check';
  if (from === 'lost' || (from === 'mailed' && kept)) page = 'lost';
  const keep = (form: Omit<SentForm, 'values'>) => {
    keepForm(deps, ctx, program, { ...form, values });
    seeOther(ctx, addressOf(deps, ctx, program.slug, form.page));
  };
  try {
    await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
    const { act, ...sent } = (await readBody(ctx, { form: true })) ?? {};
    values = textsOf(sent);
    if (act === 'lost') {
      page = 'lost';
      return sendLost(deps, ctx, { program, values, former: undefined, keep });
    }
    if (act !== 'again') former = undefined;
    page = former ? 'sent' : 'check';
    values = { ...former?.values, ...values };
    await join(deps, ctx, { program, values, former, keep }, sent);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    // The page says why.
    if (error.code === 'PROGRAM_ARCHIVED') return seeOther(ctx, addressOf(deps, ctx, program.slug));
    keep({ page, refusal: error.code, ...joinedOf(former) });
  }
}

function sendLost(deps: ApiDeps, ctx: Context, { program, values, keep }: Sending): void {
  const { success, data: email } = emailField.safeParse(values.email);
  // Without mails, the page says where to ask; the form may come from a page of before.
  const isMailed = success && isMailOn(deps.config);
  if (isMailed) mailLostCard(deps, { program, email, language: wordsFor(ctx, program).language });
  keep(isMailed ? { page: 'mailed' } : { page: 'lost', ...(!success && { wrong: ['email'] }) });
}

/** What stays known of the joining when a corrected address is refused. */
const joinedOf = (former: Sending['former']) =>
  former && { memberId: former.memberId, mailId: former.mailId, sentTo: addresseeOf(former) };

async function join(
  deps: ApiDeps,
  ctx: Context,
  { program, values, former, keep }: Sending,
  sent: Record<string, unknown>,
): Promise<void> {
  const mails = isMailOn(deps.config);
  const { language } = wordsFor(ctx, program);
  // A browser may have filled the honeypot for a person, who then sends the form once more, without it.
  if (values[honeypot]) return keep({ page: 'check' });
  const visit = Object.entries(ctx.query).filter(([key]) => isAttribution(key));
  const parsed = publicEnrollRequest.safeParse({ ...Object.fromEntries(visit), ...former?.values, ...sent });
  const wrong = parsed.error?.issues.map(({ path }) => path.join('.')) ?? [];
  if (program.enrollment.consentText !== undefined && !values.consent) wrong.push('consent');
  if (!parsed.success || wrong.length > 0) {
    return keep({ page: former ? 'sent' : 'check', wrong, ...joinedOf(former) });
  }
  await countAlso(deps, ctx, { kind: 'program', key: program._id });
  const { email } = parsed.data.person;
  const own = former?.memberId === undefined ? null : await ownMember(deps, ctx, program, former.memberId);
  // A program that wants each address confirmed mails the other one first.
  if (own && own.email !== email && program.enrollment.confirmEmail !== true) {
    const member = await correctAddress(deps, ctx, { member: own, email });
    if (member) await mailCardLink(deps, { member, to: email, language, reason: `corrected:${newId()}` });
    if (member) return keep({ page: 'sent', memberId: member._id });
  }
  const joined = await joinPublicly(deps, {
    program,
    ...parsed.data,
    language,
    actor: publicCaller.actor,
    awaited: !mails,
    ...(former && { reason: `asked-again:${newId()}` }),
    ...formDigestOf(ctx),
  });
  if (joined.kind === 'confirm') {
    const { mailId, sentTo } = joinedOf(former) ?? {};
    if (mailId !== undefined && sentTo !== values.email) await dropConfirmation(deps, mailId, program);
    return keep({ page: 'sent', mailId: joined.mailId });
  }
  const isTheirs = joined.kind === 'created' || isOwn(deps, ctx, joined.member, mails ? formKeptMs : repeatMs);
  if (mails || !isTheirs) return keep({ page: 'sent', memberId: isTheirs ? joined.member._id : newId() });
  forgetForm(deps, ctx);
  leadToCard(deps, ctx, joined.member);
}

async function ownMember(deps: ApiDeps, ctx: Context, { _id, merchantId }: Program, memberId: string) {
  const member = await deps.read.member({ _id: memberId, merchantId });
  return member?.programId === _id && isOwn(deps, ctx, member, formKeptMs) ? member : null;
}

export function enrollRoutes(deps: ApiDeps): Router {
  const router = new Router();
  router.get('/enroll/:slug', (ctx) => show(deps, ctx));
  router.post('/enroll/:slug', (ctx) => send(deps, ctx));
  return router;
}
