// Google's callbacks about saved and deleted passes. A callback is accepted only when Google signed it for this issuer.
import Router from '@koa/router';
import { recordGoogleSave } from '../../activities/wallets/google/googleSaves.js';
import { ServiceError } from '../../schemas/errors.js';
import { parseGoogleObjectId } from '../../schemas/googleIds.js';
import type { ApiDeps } from '../apiDeps.js';
import { performWalletEvent } from '../changes/performWalletEvent.js';
import { countStranger } from '../guard.js';
import { readBody } from '../readBody.js';
import { verifyCallback } from './googleCallback.js';
import { type CallbackKeys, createCallbackKeys } from './googleCallbackKeys.js';

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
    const body = await readBody(ctx).catch(async (error: unknown) => {
      await countStranger(deps, ctx);
      throw error;
    });
    const verified = verifyCallback({ issuerId, rootKeys, now: deps.now() }, body);
    if (!verified.ok && verified.reason !== 'unknown_event') {
      await countStranger(deps, ctx);
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
    const save = { issuerId, eventType, objectId, nonce };
    await performWalletEvent(deps, { memberId, eventType: type }, (chooseLeaseOwner) =>
      recordGoogleSave(deps, { save, chooseLeaseOwner }),
    );
  });

  return router;
}
