// The member's web card with its pass.
import Router from '@koa/router';
import type { Context } from 'koa';
import { withoutDue } from '../../activities/members/expireDue.writes.js';
import { cachedProgram } from '../../activities/programs/program.reads.js';
import { html } from '../../platform/html.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { Program } from '../../schemas/programs/programs.schema.js';
import { barcodeOf, passUrlOf } from '../../schemas/wallets/passes.view.js';
import type { ApiDeps } from '../http/apiDeps.js';
import { withinRateLimit, withinStrangersLimit } from '../http/guard.js';
import { keptAnswer, sendKept } from '../http/keptAnswer.js';
import { isReal, sendPass } from '../wallets/apple/apple.routes.js';
import { drawBarcode } from './barcode.view.js';
import { cardBody, cardState } from './card.view.js';
import { cardScript } from './cardScript.view.js';
import { deskUrl, logoOf, pictureUrl, sendPage } from './layout.view.js';
import { wordsFor } from './words.view.js';

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

function sendNotFound(deps: ApiDeps, ctx: Context): void {
  const { card, language } = wordsFor(ctx);
  const body = html`<div class="lone"><h1>${card.missing}</h1><p>${card.missingText}</p></div>`;
  sendPage(deps, ctx, { title: card.missing, language, status: 404, body });
}

/** Android phones and tablets have Google Wallet. */
const hasGoogleWallet = (ctx: Context): boolean => /\bAndroid\b/.test(ctx.get('User-Agent'));

/** Undefined in stub mode, and until Google has the card. */
const googleUrlOf = ({ walletModes }: ApiDeps, { pass }: MemberRow) =>
  walletModes.google === 'real' ? pass.googleSaveUrl : undefined;

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
    googleUrl: googleUrlOf(deps, member),
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

/** Only the browser itself may cache a card, and it revalidates the card each time. */
const ownCard = 'private, no-cache';

const script = keptAnswer({
  bytes: Buffer.from(cardScript),
  type: 'text/javascript; charset=utf-8',
  cacheControl: 'public, max-age=300',
});

export function cardRoutes(deps: ApiDeps): Router {
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
      const state = { ...cardState({ ...found, words }), google: googleUrlOf(deps, found.member) !== undefined };
      const bytes = Buffer.from(JSON.stringify(state));
      ctx.vary('Accept-Language');
      return sendKept(ctx, keptAnswer({ bytes, type: 'application/json', cacheControl: ownCard }));
    }
    if (!isReal(deps)) return sendNotFound(deps, ctx);
    await sendPass(deps, ctx, found.member);
    if (ctx.status === 200) ctx.attachment(`${found.member.memberCode}.pkpass`);
  });
  return router;
}
