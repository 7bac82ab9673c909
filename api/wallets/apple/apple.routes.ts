// Apple's web service for the wallets of phones:
// https://developer.apple.com/documentation/walletpasses/adding-a-web-service-to-update-passes
import Router from '@koa/router';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { withoutDue } from '../../../activities/members/expireDue.writes.js';
import { cachedProgram } from '../../../activities/programs/program.reads.js';
import { endRegistration } from '../../../activities/wallets/apple/endRegistration.writes.js';
import type { MemberRow } from '../../../schemas/members/members.rows.js';
import type { Program } from '../../../schemas/programs/programs.schema.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { lowerUuid } from '../../../schemas/shared/ids.js';
import { ipKey } from '../../../schemas/shared/ipAddress.rules.js';
import { text, wellFormed } from '../../../schemas/shared/text.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import { withinRateLimit, withinStrangersLimit } from '../../http/guard.js';
import { readBody } from '../../http/readBody.js';
import { performWalletEvent } from '../performWalletEvent.writes.js';
import { storeDeviceLogs } from './deviceLogs.writes.js';
import {
  holdsToken,
  isKnownDevice,
  listUpdates,
  memberBySerial,
  type PassOnDevice,
  type Registered,
  recordFetch,
  register,
  registrationId,
} from './registrations.writes.js';

const passMime = 'application/vnd.apple.pkpass';
const registration = z.object({ pushToken: text(1, 1_000) });
const deviceLogs = z.object({ logs: z.array(wellFormed()) });

const byDevice = '/v1/devices/:deviceLibraryIdentifier/registrations/:passTypeIdentifier';

function passOnDevice(ctx: Context): PassOnDevice {
  const { deviceLibraryIdentifier = '', passTypeIdentifier = '', serialNumber = '' } = ctx.params;
  return { deviceLibraryIdentifier, passTypeIdentifier, serialNumber: lowerUuid(serialNumber) };
}

/**
 * The member of the pass in the path. When the pass is unknown or the request does not have the pass's own token,
 * counts the call, sets the status to 404, 401 or 429, and returns null.
 */
async function authorized(deps: ApiDeps, ctx: Context): Promise<MemberRow | null> {
  const { passTypeIdentifier, serialNumber } = passOnDevice(ctx);
  const known = passTypeIdentifier === deps.config.APPLE_PASS_TYPE_ID;
  const member = known ? await memberBySerial(deps, serialNumber) : null;
  if (member && holdsToken(member, ctx.get('Authorization'))) return member;
  if (await withinStrangersLimit(deps, ctx)) ctx.status = member ? 401 : 404;
  return null;
}

/** Like `authorized`, for calls that change the registrations: their number is bounded by pass. */
async function authorizedChange(deps: ApiDeps, ctx: Context): Promise<MemberRow | null> {
  const member = await authorized(deps, ctx);
  const isWithin = member && (await withinRateLimit(deps, ctx, { kind: 'registrations', key: member._id }));
  return isWithin ? member : null;
}

async function readShape<T>(ctx: Context, shape: z.ZodType<T>): Promise<T | null> {
  const parsed = shape.safeParse(await readBody(ctx).catch(() => undefined));
  if (parsed.success) return parsed.data;
  ctx.status = 400;
  return null;
}

/** The answers follow Apple's protocol and have no envelope: phones read only the status of a failure. */
export function appleRoutes(deps: ApiDeps): Router {
  const router = new Router({ prefix: '/wallet/apple' });

  router.post(`${byDevice}/:serialNumber`, async (ctx) => {
    const member = await authorizedChange(deps, ctx);
    if (!member) return;
    const body = await readShape(ctx, registration);
    if (!body) return;
    const pass = passOnDevice(ctx);
    const event = { memberId: member._id, eventType: 'pass.installed' } as const;
    let kind: Registered['kind'] = 'known';
    await performWalletEvent(deps, event, async (chooseLeaseOwner) => {
      const registered = await register(deps, { member, pass, pushToken: body.pushToken, chooseLeaseOwner });
      kind = registered.kind;
      return registered.done;
    });
    const { WALLET_PASSES_PER_DEVICE } = deps.config;
    ctx.status = { created: 201, known: 200, full: 400 }[kind];
    ctx.body =
      ctx.status === 400 ? `The device has ${WALLET_PASSES_PER_DEVICE} passes (WALLET_PASSES_PER_DEVICE).` : '';
  });

  router.delete(`${byDevice}/:serialNumber`, async (ctx) => {
    const member = await authorizedChange(deps, ctx);
    if (!member) return;
    const _id = registrationId(passOnDevice(ctx));
    const device = { _id, merchantId: member.merchantId, memberId: member._id };
    const event = { memberId: member._id, eventType: 'pass.removed' } as const;
    await performWalletEvent(deps, event, (chooseLeaseOwner) => endRegistration(deps, { device, chooseLeaseOwner }));
    ctx.status = 200;
    ctx.body = '';
  });

  router.get(byDevice, async (ctx) => {
    const { deviceLibraryIdentifier, passTypeIdentifier } = passOnDevice(ctx);
    const isKnown = await isKnownDevice(deps, { deviceLibraryIdentifier, passTypeIdentifier });
    const isWithin = isKnown
      ? await withinRateLimit(deps, ctx, { kind: 'walletCalls', key: `device:${deviceLibraryIdentifier}` })
      : await withinStrangersLimit(deps, ctx);
    if (!isWithin) return;
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
    if (!(await withinRateLimit(deps, ctx, { kind: 'walletCalls', key: `pass:${member._id}` }))) return;
    if (!isReal(deps)) {
      // On this status the phone keeps its pass and tries again later.
      ctx.status = 503;
      return;
    }
    const [shown = member] = await withoutDue(deps, [member]);
    await sendPass(deps, ctx, shown);
    if (ctx.method !== 'GET') return;
    const isNewFace = await recordFetch(deps, shown);
    if (!isNewFace || ctx.status !== 200) return;
    const changedAt = shown.pass.tag;
    ctx.res.once('finish', () => deps.metrics.face({ wallet: 'apple', changedAt, at: deps.now() }));
  });

  router.post('/v1/log', async (ctx) => {
    if (!(await withinStrangersLimit(deps, ctx))) return;
    const body = await readShape(ctx, deviceLogs);
    if (!body) return;
    const { refused } = await storeDeviceLogs(deps, { lines: body.logs, address: ipKey(ctx.ip) });
    ctx.status = refused ? 429 : 200;
    ctx.body = '';
  });

  return router;
}

export const isReal = ({ wallets, walletModes }: ApiDeps): boolean =>
  wallets.apple !== null && walletModes.apple === 'real';

/** Caches signed passes for as long as their program, so that a burst of downloads of one pass signs it once. */
const signed = new WeakMap<Program, LRUCache<string, Promise<Buffer>>>();
const mostSigned = 100;

function signedPass(deps: ApiDeps, member: MemberRow, program: Program): Promise<Buffer> | undefined {
  const passes = signed.get(program) ?? new LRUCache({ max: mostSigned });
  signed.set(program, passes);
  const key = `${member._id} ${member.version} ${member.pass.modifiedAt.getTime()}`;
  const bytes = passes.get(key) ?? deps.wallets.apple?.build(member, program);
  if (bytes) passes.set(key, bytes);
  return bytes;
}

/**
 * Builds, signs and sends the current pass. Sends 304 when the phone has this version already, compared by
 * Last-Modified in whole seconds. Throws UNAVAILABLE without Apple credentials.
 */
export async function sendPass(deps: ApiDeps, ctx: Context, member: MemberRow): Promise<void> {
  const { modifiedAt } = member.pass;
  ctx.lastModified = modifiedAt;
  ctx.set('Cache-Control', 'no-store');
  if (Date.parse(ctx.get('If-Modified-Since')) >= modifiedAt.getTime()) {
    ctx.status = 304;
    return;
  }
  const bytes = await signedPass(deps, member, await cachedProgram(deps, member));
  if (!bytes) throw new ServiceError('UNAVAILABLE');
  ctx.status = 200;
  ctx.type = passMime;
  ctx.body = bytes;
}
