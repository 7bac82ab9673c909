// Google's callbacks about saved and deleted passes. A callback is accepted only when Google signed it for this issuer.
import Router from '@koa/router';
import { recordGoogleSave } from '../../../activities/wallets/google/saves.writes.js';
import { ServiceError } from '../../../schemas/shared/errors.js';
import { parseGoogleObjectId } from '../../../schemas/wallets/google/googleIds.rules.js';
import type { ApiDeps } from '../../http/apiDeps.js';
import { countStranger } from '../../http/guard.js';
import { readBody } from '../../http/readBody.js';
import { performWalletEvent } from '../performWalletEvent.writes.js';
import { verifyCallback } from './callback.rules.js';
import { type CallbackKeys, createCallbackKeys } from './callbackKeys.client.js';

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
