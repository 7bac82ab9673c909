// The pages for customers: the public enrollment of a program, and the member's web card with its pass.
import Router from '@koa/router';
import type { Context } from 'koa';
import { withoutDue } from '../../activities/members/expireDue.writes.js';
import { cachedProgram } from '../../activities/programs/program.reads.js';
import { html } from '../../platform/html.js';
import { isAttribution, publicEnrollRequest } from '../../schemas/members/enrollment.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { isMailOn } from '../../schemas/shared/config.schema.js';
import { errorTable, ServiceError } from '../../schemas/shared/errors.js';
import { newToken, sha256 } from '../../schemas/shared/ids.js';
import { ipKey } from '../../schemas/shared/ipAddress.rules.js';
import { barcodeOf, passUrlOf } from '../../schemas/wallets/passes.view.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { countAlso, countCall, publicCaller, withinRateLimit, withinStrangersLimit } from '../http/guard.js';
import { keptAnswer, sendKept } from '../http/keptAnswer.js';
import { readBody } from '../http/readBody.js';
import { setCookie } from '../http/sessionCookie.rules.js';
import { joinPublicly } from '../members/joinPublicly.writes.js';
import { cachedPublicProgram, readPublicProgram } from '../programs/programs.reads.js';
import { isReal, sendPass } from '../wallets/apple/apple.routes.js';
import { drawBarcode } from './barcode.view.js';
import { cardBody, cardState } from './card.view.js';
import { cardScript } from './cardScript.view.js';
import { enrollFields, enrollForm, enrollPage, honeypot, type Joining, joinedPage } from './enrollForm.view.js';
import { deskUrl, pictureUrl, sendPage } from './layout.view.js';
import { type Words, wordsFor } from './words.view.js';

interface Found {
  member: MemberRow;
  program: Program;
}

/** The member of the card. When there is none, or there were too many calls, sends the page for it and returns null. */
async function memberByToken(deps: ApiDeps, ctx: Context, token: string): Promise<Found | null> {
  const isToken = /^[A-Za-z0-9_-]{20,64}$/.test(token);
  const member = isToken ? await deps.collections.members.findOne({ 'pass.token': token }) : null;
  if (!member) {
    if (await withinStrangersLimit(deps, ctx)) sendNotFound(deps, ctx);
    return null;
  }
  const isWithin = await withinRateLimit(deps, ctx, { kind: 'walletCalls', key: `card:${member._id}` });
  if (!isWithin) return null;
  const [shown = member] = await withoutDue(deps, [member]);
  return { member: shown, program: await cachedProgram(deps, shown) };
}

const logoOf = (deps: ApiDeps, program: Program): string | undefined => {
  const { logo, icon } = program.passTemplate.images;
  return logo || icon ? pictureUrl(deps, program, 'logo') : undefined;
};

function sendNotFound(deps: ApiDeps, ctx: Context): void {
  const { card, language } = wordsFor(ctx);
  const body = html`<div class="lone"><h1>${card.missing}</h1><p>${card.missingText}</p></div>`;
  sendPage(deps, ctx, { title: card.notFound, language, status: 404, body });
}

/** Android phones and tablets have Google Wallet. */
const hasGoogleWallet = (ctx: Context): boolean => /\bAndroid\b/.test(ctx.get('User-Agent'));

async function showCard(deps: ApiDeps, ctx: Context, token: string): Promise<void> {
  const found = await memberByToken(deps, ctx, token);
  if (!found) return;
  const { member, program } = found;
  const words = wordsFor(ctx, program);
  const cardUrl = passUrlOf(deps, member);
  const card = {
    member,
    program,
    words,
    cardUrl,
    barcode: await drawBarcode(program.passTemplate.barcodeFormat ?? 'QR', barcodeOf({ member, program })),
    appleUrl: isReal(deps) ? `${cardUrl}.pkpass` : undefined,
    googleUrl: deps.walletModes.google === 'real' ? member.pass.googleSaveUrl : undefined,
    googleFirst: hasGoogleWallet(ctx),
    logoUrl: logoOf(deps, program),
    stripUrl: program.passTemplate.images.strip && pictureUrl(deps, program, 'strip'),
    isNew: ctx.query.welcome !== undefined,
    deskUrl: deskUrl(deps, { of: member.memberCode, program }),
  };
  ctx.vary('User-Agent');
  sendPage(deps, ctx, {
    title: words.card.title(program.name),
    language: words.language,
    program,
    body: cardBody(card),
    shape: 'wide',
    script: true,
    cacheControl: ownCard,
  });
}

const joiningOf = (deps: ApiDeps, ctx: Context, program: Program): Joining => ({
  program,
  words: wordsFor(ctx, program),
  logoUrl: logoOf(deps, program),
  mails: isMailOn(deps.config),
});

/** Names the browser in which the form was opened, so that nobody else's submission counts as its repetition. */
const formCookie = 'join';

export function nameBrowser(deps: ApiDeps, ctx: Context): void {
  const name = formCookie;
  if (!ctx.cookies.get(name)) setCookie(deps, ctx, { name, value: newToken(), maxAgeMs: 3_600_000, path: '/enroll/' });
}

async function showEnrollment(deps: ApiDeps, ctx: Context): Promise<void> {
  const program = await publicProgram(deps, ctx, cachedPublicProgram);
  if (!program) return;
  nameBrowser(deps, ctx);
  sendPage(deps, ctx, { ...enrollPage(joiningOf(deps, ctx, program)), cacheControl: 'private, max-age=10' });
}

function refusalOf({ refusals }: Words['join'], { code }: ServiceError): string {
  if (code === 'PROGRAM_NOT_FOUND') return refusals.gone;
  if (code === 'PROGRAM_ARCHIVED') return refusals.archived;
  return code === 'RATE_LIMITED' ? refusals.tooMany : refusals.other;
}

/** The open program of the path. When there is none, sends a page with the reason and returns null. */
async function publicProgram(deps: ApiDeps, ctx: Context, read = readPublicProgram): Promise<Program | null> {
  try {
    return await read(deps, { slug: ctx.params.slug ?? '' });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (!(await withinStrangersLimit(deps, ctx))) return null;
    sendRefusal(deps, ctx, error);
    return null;
  }
}

export function sendRefusal(deps: ApiDeps, ctx: Context, error: ServiceError): void {
  const { join, card, language } = wordsFor(ctx);
  const isClosed = error.code.startsWith('PROGRAM_');
  const [title, heading] = isClosed ? [card.notFound, join.nobody] : [join.later, join.later];
  const body = html`<div class="lone"><h1>${heading}</h1><p>${refusalOf(join, error)}</p></div>`;
  sendPage(deps, ctx, { title, language, status: errorTable[error.code].status, body });
}

/** A second submission within this time, such as the one of a double click, leads to the card that the first made. */
const repeatMs = 60_000;

/** A digest of what names the browser that sends a form. */
export function formDigestOf(ctx: Context): { formDigest?: string } {
  const form = ctx.cookies.get(formCookie);
  return form === undefined ? {} : { formDigest: sha256(form) };
}

/** Whether the browser made this member a moment ago. */
export function isRepetition(deps: ApiDeps, ctx: Context, { formDigest, createdAt }: MemberRow): boolean {
  const isFresh = deps.now().getTime() - createdAt.getTime() < repeatMs;
  return isFresh && formDigest !== undefined && formDigest === formDigestOf(ctx).formDigest;
}

export function leadToCard(deps: ApiDeps, ctx: Context, member: MemberRow): void {
  ctx.redirect(`${passUrlOf(deps, member)}?welcome`);
  ctx.status = 303;
}

async function enroll(deps: ApiDeps, ctx: Context): Promise<void> {
  const program = await publicProgram(deps, ctx);
  if (!program) return;
  const joining = joiningOf(deps, ctx, program);
  const { words, mails } = joining;
  const { join, language } = words;
  let values: Record<string, string> = {};
  const retry = (errors: Record<string, string>, status: number, notice: string) =>
    sendPage(deps, ctx, {
      title: join.check(program.name),
      language,
      program,
      status,
      shape: 'split',
      body: enrollForm({ ...joining, values, errors, notice }),
    });
  const joined = (email: string, status = 200) =>
    sendPage(deps, ctx, {
      ...joinedPage({ ...joining, deskUrl: deskUrl(deps, { of: email, program }) }, email),
      status,
    });
  try {
    await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
    const sent = (await readBody(ctx, { form: true })) ?? {};
    values = Object.fromEntries(
      Object.entries(sent).filter((field): field is [string, string] => typeof field[1] === 'string'),
    );
    // A browser may have filled the honeypot for a person, who then sends the form once more, without it.
    if (values[honeypot]) return retry({}, 400, join.again);
    const visit = Object.entries(ctx.query).filter(([key]) => isAttribution(key));
    const parsed = publicEnrollRequest.safeParse({ ...Object.fromEntries(visit), ...sent });
    const errors = Object.fromEntries(parsed.error?.issues.map(({ path, message }) => [path.join('.'), message]) ?? []);
    if (program.enrollment.consentText !== undefined && !values.consent) errors.consent = 'is required';
    if (!parsed.success || errors.consent) {
      const isShown = enrollFields(program).some((name) => errors[name] !== undefined);
      return retry(errors, 400, isShown ? join.checkFields : join.again);
    }
    await countAlso(deps, ctx, { kind: 'program', key: program._id });
    const enrolled = await joinPublicly(deps, {
      program,
      ...parsed.data,
      language,
      actor: publicCaller.actor,
      awaited: !mails,
      ...formDigestOf(ctx),
    });
    const { email } = parsed.data.person;
    if (!enrolled) return joined(email, 202);
    const isOwn = enrolled.kind === 'created' || isRepetition(deps, ctx, enrolled.member);
    if (mails || !isOwn) return joined(email);
    leadToCard(deps, ctx, enrolled.member);
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    retry({}, errorTable[error.code].status, refusalOf(join, error));
  }
}

/** Only the browser itself may cache a card, and it revalidates the card each time. */
const ownCard = 'private, no-cache';

const script = keptAnswer({
  bytes: Buffer.from(cardScript),
  type: 'text/javascript; charset=utf-8',
  cacheControl: 'public, max-age=300',
});

export function pageRoutes(deps: ApiDeps): Router {
  const router = new Router();

  router.get('/passes/card.js', (ctx) => {
    sendKept(ctx, script);
  });

  router.get('/passes/:file', async (ctx) => {
    const { file = '' } = ctx.params;
    const [, token = '', kind = ''] = /^([^.]*)(?:\.(pkpass|json))?$/.exec(file) ?? [];
    if (kind === '') return showCard(deps, ctx, token);
    const found = await memberByToken(deps, ctx, token);
    if (!found) return;
    if (kind === 'json') {
      const words = wordsFor(ctx, found.program);
      const bytes = Buffer.from(JSON.stringify(cardState({ ...found, words })));
      ctx.vary('Accept-Language');
      return sendKept(ctx, keptAnswer({ bytes, type: 'application/json', cacheControl: ownCard }));
    }
    if (!isReal(deps)) return sendNotFound(deps, ctx);
    await sendPass(deps, ctx, found.member);
    if (ctx.status === 200) ctx.attachment(`${found.member.memberCode}.pkpass`);
  });

  router.get('/enroll/:slug', (ctx) => showEnrollment(deps, ctx));
  router.post('/enroll/:slug', (ctx) => enroll(deps, ctx));
  return router;
}
