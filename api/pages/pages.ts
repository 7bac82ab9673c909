// The pages that people see: the public enrollment of a program, and the member's web card with its pass.
import Router from '@koa/router';
import type { Context } from 'koa';
import { readPublicProgram, recentProgram } from '../../activities/programs.js';
import type { MemberRow } from '../../schemas/collections.js';
import { publicEnrollRequest } from '../../schemas/enrollment.js';
import { errorTable, ServiceError } from '../../schemas/errors.js';
import type { Program } from '../../schemas/programs.js';
import type { ApiDeps } from '../apiDeps.js';
import { countCall, nobody } from '../guard.js';
import { ipKey } from '../limits.js';
import { passUrlOf } from '../presenters/member.js';
import { readBody } from '../readBody.js';
import { publicRoutes } from '../routes/public.js';
import { isReal, sendPass } from '../wallets/apple.js';
import { cardBody, cardScript, cardState } from './card.js';
import { alreadyJoined, enrollForm } from './enrollForm.js';
import { html } from './html.js';
import { sendPage } from './layout.js';

async function memberByToken(deps: ApiDeps, token: string): Promise<{ member: MemberRow; program: Program } | null> {
  if (!/^[A-Za-z0-9_-]{20,64}$/.test(token)) return null;
  const member = await deps.rows.members.findOne({ 'pass.token': token });
  return member && { member, program: await recentProgram(deps, member) };
}

function sendNotFound(ctx: Context): void {
  sendPage(ctx, {
    title: 'Not found',
    status: 404,
    body: html`<h1>There is no such card</h1><p>Check the link that you were given.</p>`,
  });
}

async function showCard(deps: ApiDeps, ctx: Context, token: string): Promise<void> {
  const found = await memberByToken(deps, token);
  if (!found) return sendNotFound(ctx);
  const { member, program } = found;
  const cardUrl = passUrlOf(deps, member);
  const card = {
    member,
    program,
    cardUrl,
    appleUrl: isReal(deps) ? `${cardUrl}.pkpass` : undefined,
    googleUrl: member.pass.googleSaveUrl,
  };
  sendPage(ctx, { title: `${program.name} card`, program, body: cardBody(card), script: true });
}

async function showEnrollment(deps: ApiDeps, ctx: Context): Promise<void> {
  const program = await publicProgram(deps, ctx);
  if (!program) return;
  const body = enrollForm({ program, action: `${ctx.path}${ctx.search}`, values: {}, errors: {} });
  sendPage(ctx, { title: `Join ${program.name}`, program, body });
}

/** The open program of the path, or the page that says why there is none. */
async function publicProgram(deps: ApiDeps, ctx: Context): Promise<Program | null> {
  try {
    return await readPublicProgram(deps, { slug: ctx.params.slug ?? '' });
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const body = html`<h1>Nobody can join here</h1><p>${error.message}</p>`;
    sendPage(ctx, { title: 'Not found', status: errorTable[error.code].status, body });
    return null;
  }
}

async function enroll(deps: ApiDeps, ctx: Context): Promise<void> {
  const program = await publicProgram(deps, ctx);
  if (!program) return;
  const action = `${ctx.path}${ctx.search}`;
  const sent = Object.entries((await readBody(ctx, { form: true })) ?? {});
  const values = Object.fromEntries(sent.map(([key, value]) => [key, String(value)]));
  const retry = (errors: Record<string, string>, status: number, notice?: string) =>
    sendPage(ctx, {
      title: `Join ${program.name}`,
      program,
      status,
      body: enrollForm({ program, action, values, errors, ...(notice !== undefined && { notice }) }),
    });
  const parsed = publicEnrollRequest.safeParse({ ...ctx.query, ...values });
  if (!parsed.success) {
    return retry(Object.fromEntries(parsed.error.issues.map((issue) => [issue.path.join('.'), issue.message])), 400);
  }
  try {
    await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
    const reply = await publicRoutes.enrollPublicly({
      deps,
      caller: nobody,
      params: { slug: program.slug },
      query: {},
      body: parsed.data,
      ctx,
    });
    if (!('data' in reply)) throw new ServiceError('INTERNAL');
    if ('deduped' in reply.data) return sendPage(ctx, { title: program.name, program, body: alreadyJoined(program) });
    ctx.redirect(reply.data.apple.passUrl);
    ctx.status = 303;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    retry({}, errorTable[error.code].status, error.message);
  }
}

export function pageRoutes(deps: ApiDeps): Router {
  const router = new Router();

  router.get('/passes/card.js', (ctx) => {
    ctx.type = 'text/javascript; charset=utf-8';
    ctx.set('Cache-Control', 'public, max-age=300');
    ctx.body = cardScript;
  });

  router.get('/passes/:file', async (ctx) => {
    const { file = '' } = ctx.params;
    const [, token = '', kind = ''] = /^([^.]*)(?:\.(pkpass|json))?$/.exec(file) ?? [];
    if (kind === '') return showCard(deps, ctx, token);
    const found = await memberByToken(deps, token);
    if (!found) return sendNotFound(ctx);
    if (kind === 'json') {
      ctx.set('Cache-Control', 'no-store');
      ctx.body = cardState(found);
      return;
    }
    if (!isReal(deps)) return sendNotFound(ctx);
    await sendPass(deps, ctx, found.member);
    if (ctx.status === 200) ctx.attachment(`${found.member.memberCode}.pkpass`);
  });

  router.get('/enroll/:slug', (ctx) => showEnrollment(deps, ctx));
  router.post('/enroll/:slug', (ctx) => enroll(deps, ctx));
  return router;
}
