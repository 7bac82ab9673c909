// Google's callbacks about saved passes, believed only when Google signed them for this issuer.
import Router from '@koa/router';
import { verifyCallback } from '../../activities/google/callback.js';
import { type CallbackKeys, createCallbackKeys } from '../../activities/google/callbackKeys.js';
import { noteGoogleSave } from '../../activities/wallets/googleSaves.js';
import { ServiceError } from '../../schemas/errors.js';
import { parseGoogleObjectId } from '../../schemas/googleIds.js';
import type { ApiDeps } from '../apiDeps.js';
import { readBody } from '../readBody.js';
import { publishing } from './publishBeside.js';

export function googleRoutes(deps: ApiDeps): Router {
  const router = new Router({ prefix: '/wallet' });
  const google = deps.wallets.google;
  const keys: CallbackKeys | null = google && createCallbackKeys({ url: google.credentials.callbackKeysUrl });

  router.post('/google/callback', async (ctx) => {
    if (!google || !keys) throw new ServiceError('ROUTE_NOT_FOUND');
    const { issuerId } = google.credentials;
    const rootKeys = await keys.rootKeys().catch(() => {
      throw new ServiceError('UNAVAILABLE');
    });
    const verified = verifyCallback({ issuerId, rootKeys, now: deps.now() }, await readBody(ctx, {}));
    if (!verified.ok && verified.reason !== 'unknown_event') {
      ctx.status = 401;
      ctx.body = { success: false, error: { code: 'INVALID_TOKEN', message: 'The callback is not signed by Google.' } };
      return;
    }
    ctx.status = 200;
    ctx.body = '';
    if (!verified.ok) return;
    const { eventType, objectId, nonce } = verified.event;
    const memberId = parseGoogleObjectId(issuerId, objectId) ?? '';
    const type = eventType === 'save' ? 'pass.installed' : 'pass.removed';
    const effect = publishing(deps, { memberId, eventType: type });
    const saved = await noteGoogleSave(deps, {
      save: { issuerId, eventType, objectId, nonce },
      holderOf: effect.holderOf,
    });
    if (saved?.kind === 'done')
      effect.begin({ eventId: saved.eventId, member: saved.member, push: eventType === 'save' });
  });

  return router;
}
