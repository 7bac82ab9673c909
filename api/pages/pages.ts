// The pages for customers: the public enrollment of a program, and the member's web card with its pass.
import Router from '@koa/router';
import type { Context } from 'koa';
import { cachedProgram } from '../../activities/programs/readProgram.js';
import { passUrlOf } from '../../activities/wallets/passViews.js';
import { html } from '../../platform/html.js';
import type { MemberRow } from '../../schemas/collections.js';
import { publicEnrollRequest } from '../../schemas/enrollment.js';
import { errorTable, ServiceError } from '../../schemas/errors.js';
import type { Program } from '../../schemas/programs.js';
import type { ApiDeps } from '../apiDeps.js';
import { countCall, publicCaller, queryOf } from '../guard.js';
import { keptAnswer, sendKept } from '../keptAnswer.js';
import { ipKey } from '../limits.js';
import { readBody } from '../readBody.js';
import { cachedPublicProgram, readPublicProgram } from '../reads/programs.js';
import { publicRoutes } from '../routes/public.js';
import { isReal, sendPass } from '../wallets/apple.js';
import { cardBody, cardState } from './card.js';
import { cardScript } from './cardScript.js';
import { alreadyJoined, enrollFields, enrollForm, enrollPage, honeypot } from './enrollForm.js';
import { pictureUrl, sendPage } from './layout.js';

async function memberByToken(deps: ApiDeps, token: string): Promise<{ member: MemberRow; program: Program } | null> {
  if (!/^[A-Za-z0-9_-]{20,64}$/.test(token)) return null;
  const member = await deps.collections.members.findOne({ 'pass.token': token });
  return member && { member, program: await cachedProgram(deps, member) };
}

const logoOf = (deps: ApiDeps, program: Program): string | undefined => {
  const { logo, icon } = program.passTemplate.images;
  return logo || icon ? pictureUrl(deps, program, 'logo') : undefined;
};

function sendNotFound(deps: ApiDeps, ctx: Context): void {
  const body = html`<div class="lone"><h1>There is no such card</h1><p>Check the link that you were given.</p></div>`;
  sendPage(deps, ctx, { title: 'Not found', status: 404, body });
}

async function showCard(deps: ApiDeps, ctx: Context, token: string): Promise<void> {
  const found = await memberByToken(deps, token);
  if (!found) return sendNotFound(deps, ctx);
  const { member, program } = found;
  const cardUrl = passUrlOf(deps, member);
  const card = {
    member,
    program,
    cardUrl,
    appleUrl: isReal(deps) ? `${cardUrl}.pkpass` : undefined,
    googleUrl: deps.walletModes.google === 'real' ? member.pass.googleSaveUrl : undefined,
    logoUrl: logoOf(deps, program),
    stripUrl: program.passTemplate.images.strip && pictureUrl(deps, program, 'strip'),
    isNew: ctx.query.welcome !== undefined,
  };
  sendPage(deps, ctx, {
    title: `${program.name} card`,
    program,
    body: cardBody(card),
    shape: 'wide',
    script: true,
    cacheControl: ownCard,
  });
}

async function showEnrollment(deps: ApiDeps, ctx: Context): Promise<void> {
  const program = await publicProgram(deps, ctx, cachedPublicProgram);
  if (!program) return;
  sendPage(deps, ctx, { ...enrollPage(program, logoOf(deps, program)), cacheControl: 'public, max-age=10' });
}

/** The open program of the path. When there is none, sends a page with the reason and returns null. */
async function publicProgram(deps: ApiDeps, ctx: Context, read = readPublicProgram): Promise<Program | null> {
  try {
    return await read(deps, { slug: ctx.params.slug ?? '' });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const body = html`<div class="lone"><h1>Nobody can join here</h1><p>${error.message}</p></div>`;
    sendPage(deps, ctx, { title: 'Not found', status: errorTable[error.code].status, body });
    return null;
  }
}

async function enroll(deps: ApiDeps, ctx: Context): Promise<void> {
  const program = await publicProgram(deps, ctx);
  if (!program) return;
  const logoUrl = logoOf(deps, program);
  const sent = Object.entries((await readBody(ctx, { form: true })) ?? {});
  const values = Object.fromEntries(sent.filter((field): field is [string, string] => typeof field[1] === 'string'));
  const already = () =>
    sendPage(deps, ctx, {
      title: `You are in already: ${program.name}`,
      program,
      body: alreadyJoined(program, logoUrl),
      shape: 'split',
    });
  // A bot gets the page for a known email, so that it does not notice the honeypot.
  if (values[honeypot]) return already();
  const retry = (errors: Record<string, string>, status: number, notice: string) =>
    sendPage(deps, ctx, {
      title: `Please check: Join ${program.name}`,
      program,
      status,
      shape: 'split',
      body: enrollForm({ program, logoUrl, values, errors, notice }),
    });
  const parsed = publicEnrollRequest.safeParse({ ...queryOf(ctx), ...values });
  if (!parsed.success) {
    const errors = Object.fromEntries(parsed.error.issues.map((issue) => [issue.path.join('.'), issue.message]));
    const isShown = enrollFields(program).some((name) => errors[name] !== undefined);
    const [other] = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
    return retry(errors, 400, isShown ? 'Please check the marked fields.' : `This link is not right: ${other}.`);
  }
  try {
    await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
    const reply = await publicRoutes.enrollPublicly({
      deps,
      caller: publicCaller,
      params: { slug: program.slug },
      query: {},
      body: parsed.data,
      ctx,
    });
    if (!('data' in reply)) throw new ServiceError('INTERNAL');
    if ('deduped' in reply.data) return already();
    ctx.redirect(`${reply.data.apple.passUrl}?welcome`);
    ctx.status = 303;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    retry({}, errorTable[error.code].status, error.message);
  }
}

/** A card is kept by its own browser alone, which asks each time whether it changed. */
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
    const found = await memberByToken(deps, token);
    if (!found) return sendNotFound(deps, ctx);
    if (kind === 'json') {
      const bytes = Buffer.from(JSON.stringify(cardState(found)));
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
