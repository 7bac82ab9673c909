// The page behind the mailed link that confirms an address. Only the button uses the link up, because mail scanners
// open links too.
import Router from '@koa/router';
import type { Context } from 'koa';
import { cachedProgram } from '../../activities/programs/program.reads.js';
import { html } from '../../platform/html.js';
import { confirmationHours } from '../../schemas/mail/mails.schema.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../schemas/shared/errors.js';
import { ipKey } from '../../schemas/shared/ipAddress.rules.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { countCall, publicCaller, withinStrangersLimit } from '../http/guard.js';
import { memberOfConfirmation, readConfirmation, spendConfirmation } from '../members/confirmation.writes.js';
import { enrollAndMail } from '../members/joinPublicly.writes.js';
import { hasPage } from '../programs/programs.reads.js';
import {
  formDigestOf,
  isOwn,
  leadToCard,
  lostLink,
  nameBrowser,
  refusalOf,
  seeOther,
  sendClosed,
  sendRefusal,
} from './enroll.routes.js';
import { basePath, sendPage } from './layout.view.js';
import { wordsFor } from './words.view.js';

/** `program`: the one that was joined by the link. */
async function sendDead(deps: ApiDeps, ctx: Context, program: Program | undefined): Promise<void> {
  const { join, language } = wordsFor(ctx, program);
  const isReachable = program !== undefined && (await hasPage(deps, program));
  const lost = isReachable ? lostLink(deps, program, join) : program && html`<p>${join.lostAtTill}</p>`;
  const body = html`<div class="lone"><h1>${join.dead}</h1><p>${join.deadText(confirmationHours)}</p>${lost}</div>`;
  sendPage(deps, ctx, { title: join.dead, language, status: 410, body });
}

async function show(deps: ApiDeps, ctx: Context, token: string): Promise<void> {
  const found = await readConfirmation(deps, token);
  if (!found) {
    if (!(await withinStrangersLimit(deps, ctx))) return;
    const member = await memberOfConfirmation(deps, token);
    return sendDead(deps, ctx, member ? await cachedProgram(deps, member) : undefined);
  }
  const { program, joining } = found;
  if (await refusalTo(deps, program)) return sendClosed(deps, ctx, program);
  const words = wordsFor(ctx, program);
  const { join, language } = words;
  const title = join.title(program.passTemplate.logoText || program.name);
  nameBrowser(deps, ctx);
  const { [refusedQuery]: refused } = ctx.query;
  const body = html`<div class="join"><div class="hero"><h1>${title}</h1></div>
<form method="post" action="${linkUrl(deps, ctx)}">${
    typeof refused === 'string' && html`<p class="summary" role="alert">${refusalOf(join, refused)}</p>`
  }<h2>${join.confirm}</h2><p>${join.confirmText(joining.person.email)}</p>
<button type="submit">${join.button}</button></form></div>`;
  sendPage(deps, ctx, { title, language, program, body, shape: 'split' });
}

/** Why the program of a link takes nobody now; the link works again when it does. */
async function refusalTo(deps: ApiDeps, program: Program): Promise<ServiceError | undefined> {
  if (!(await hasPage(deps, program))) return new ServiceError('PROGRAM_NOT_FOUND');
  return program.archived ? new ServiceError('PROGRAM_ARCHIVED') : undefined;
}

/** Null when the link does not work. A second press of the same browser, as in a double click, finds the same member. */
async function confirm(deps: ApiDeps, ctx: Context, token: string): Promise<MemberRow | null> {
  await countCall(deps, ctx, { kind: 'public', key: ipKey(ctx.ip) });
  const found = await readConfirmation(deps, token);
  if (!found) {
    const member = await memberOfConfirmation(deps, token);
    return member && isOwn(deps, ctx, member) ? member : null;
  }
  const { mail, program, joining } = found;
  const refusal = await refusalTo(deps, program);
  if (refusal) throw refusal;
  const { language } = mail;
  const { member } = await enrollAndMail(deps, {
    ...{ program, joining, language, actor: publicCaller.actor, awaited: true },
    ...formDigestOf(ctx),
  });
  await spendConfirmation(deps, mail, member);
  return member;
}

/** The code of the error that the press of the button met. */
const refusedQuery = 'refused';

/** A refusal for which the person is not to blame leaves the link as it was. */
const orElse =
  (
    work: (deps: ApiDeps, ctx: Context, token: string) => Promise<void>,
    refuse: (deps: ApiDeps, ctx: Context, error: ServiceError) => void,
  ) =>
  async (deps: ApiDeps, ctx: Context): Promise<void> => {
    try {
      await work(deps, ctx, ctx.params.token ?? '');
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      refuse(deps, ctx, error);
    }
  };

const linkUrl = (deps: ApiDeps, ctx: Context): string =>
  `${basePath(deps)}/enroll/confirm/${encodeURIComponent(ctx.params.token ?? '')}`;

const showLink = orElse(show, sendRefusal);
const pressButton = orElse(
  async (deps, ctx, token) => {
    const member = await confirm(deps, ctx, token);
    if (member) leadToCard(deps, ctx, member);
    // The page of the link says that it does not work.
    else seeOther(ctx, linkUrl(deps, ctx));
  },
  (deps, ctx, { code }) => seeOther(ctx, `${linkUrl(deps, ctx)}?${refusedQuery}=${code}`),
);

export function confirmRoutes(deps: ApiDeps): Router {
  const router = new Router({ prefix: '/enroll/confirm' });
  router.get('/:token', (ctx) => showLink(deps, ctx));
  router.post('/:token', (ctx) => pressButton(deps, ctx));
  return router;
}
