// Apple's web service, as phones speak it: https://developer.apple.com/documentation/walletpasses/adding-a-web-service-to-update-passes
import Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import { recentProgram } from '../../activities/programs.js';
import { createDeviceLogs } from '../../activities/wallets/deviceLogs.js';
import { endRegistration } from '../../activities/wallets/endRegistration.js';
import {
  holdsToken,
  listUpdates,
  memberBySerial,
  noteFetch,
  type PassOnDevice,
  register,
  registrationId,
} from '../../activities/wallets/registrations.js';
import type { MemberRow } from '../../schemas/collections.js';
import { ServiceError } from '../../schemas/errors.js';
import type { ApiDeps } from '../apiDeps.js';
import { readBody } from '../readBody.js';
import { publishing } from './publishBeside.js';

const passMime = 'application/vnd.apple.pkpass';
const registration = z.object({ pushToken: z.string().min(1).max(1_000) });
const deviceLogs = z.object({ logs: z.array(z.string()) });

const byDevice = '/v1/devices/:deviceLibraryIdentifier/registrations/:passTypeIdentifier';

function passOnDevice(ctx: Context): PassOnDevice {
  const { deviceLibraryIdentifier = '', passTypeIdentifier = '', serialNumber = '' } = ctx.params;
  return { deviceLibraryIdentifier, passTypeIdentifier, serialNumber };
}

/** The member whose pass is meant, if the caller's token is that pass's own; else the answer is set. */
async function authorized(deps: ApiDeps, ctx: Context): Promise<MemberRow | null> {
  const { passTypeIdentifier, serialNumber } = passOnDevice(ctx);
  const known = passTypeIdentifier === deps.config.APPLE_PASS_TYPE_ID;
  const member = known ? await memberBySerial(deps, serialNumber) : null;
  if (!member) ctx.status = 404;
  else if (!holdsToken(member, ctx.get('Authorization'))) ctx.status = 401;
  else return member;
  return null;
}

async function readShape<T>(ctx: Context, shape: z.ZodType<T>): Promise<T | null> {
  const parsed = shape.safeParse(await readBody(ctx, {}).catch(() => undefined));
  if (parsed.success) return parsed.data;
  ctx.status = 400;
  return null;
}

/** Bodies are Apple's, not our envelope: a phone reads the status alone. */
export function appleRoutes(deps: ApiDeps): Router {
  const router = new Router({ prefix: '/wallet/apple' });
  const keepDeviceLogs = createDeviceLogs(deps);

  router.post(`${byDevice}/:serialNumber`, async (ctx) => {
    const member = await authorized(deps, ctx);
    if (!member) return;
    const body = await readShape(ctx, registration);
    if (!body) return;
    const effect = publishing(deps, { memberId: member._id, eventType: 'pass.installed' });
    const { created, eventId } = await register(deps, {
      member,
      pass: passOnDevice(ctx),
      pushToken: body.pushToken,
      holderOf: effect.holderOf,
    });
    if (eventId) effect.begin({ eventId, member, push: false });
    ctx.status = created ? 201 : 200;
    ctx.body = '';
  });

  router.delete(`${byDevice}/:serialNumber`, async (ctx) => {
    const member = await authorized(deps, ctx);
    if (!member) return;
    const _id = registrationId(passOnDevice(ctx));
    const effect = publishing(deps, { memberId: member._id, eventType: 'pass.removed' });
    const device = { _id, merchantId: member.merchantId, memberId: member._id };
    const ended = await endRegistration(deps, { device, holderOf: effect.holderOf });
    if (ended) effect.begin({ eventId: ended.eventId, member: ended.member, push: false });
    ctx.status = 200;
    ctx.body = '';
  });

  router.get(byDevice, async (ctx) => {
    const { deviceLibraryIdentifier, passTypeIdentifier } = passOnDevice(ctx);
    const { passesUpdatedSince } = ctx.query;
    const since = Array.isArray(passesUpdatedSince) ? passesUpdatedSince[0] : passesUpdatedSince;
    const updates = await listUpdates(deps, { deviceLibraryIdentifier, passTypeIdentifier, since });
    if (!updates) {
      ctx.status = 204;
      return;
    }
    ctx.body = updates;
  });

  router.get('/v1/passes/:passTypeIdentifier/:serialNumber', async (ctx) => {
    const member = await authorized(deps, ctx);
    if (!member) return;
    if (!isReal(deps)) {
      // The phone keeps the pass that it has, and asks again.
      ctx.status = 503;
      return;
    }
    await sendPass(deps, ctx, member);
    if (ctx.method === 'GET') await noteFetch(deps, member);
  });

  router.post('/v1/log', async (ctx) => {
    const body = await readShape(ctx, deviceLogs);
    if (!body) return;
    await keepDeviceLogs(body.logs);
    ctx.status = 200;
    ctx.body = '';
  });

  return router;
}

export const isReal = ({ wallets, walletModes }: ApiDeps): boolean =>
  wallets.apple !== null && walletModes.apple === 'real';

/** Signs the pass of this moment, but for a phone that has it already, by the second of its Last-Modified. */
export async function sendPass(deps: ApiDeps, ctx: Context, member: MemberRow): Promise<void> {
  const { modifiedAt } = member.pass;
  ctx.lastModified = modifiedAt;
  ctx.set('Cache-Control', 'no-store');
  if (Date.parse(ctx.get('If-Modified-Since')) >= modifiedAt.getTime()) {
    ctx.status = 304;
    return;
  }
  const bytes = deps.wallets.apple?.build(member, await recentProgram(deps, member));
  if (!bytes) throw new ServiceError('UNAVAILABLE');
  ctx.status = 200;
  ctx.type = passMime;
  ctx.body = bytes;
}
