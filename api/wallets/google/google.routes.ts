// Google's callbacks about saved and deleted passes. A callback is accepted only when Google signed it for this issuer.
import Router from '@koa/router';
import { recordGoogleSave } from '../../../activities/wallets/google/saves.writes.js';
import type { GoogleWallet } from '../../../activities/wallets/wallets.client.js';
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
  // One for each wallet: that of the demo opens while the process runs.
  const known = new WeakMap<GoogleWallet, CallbackKeys>();
  const keysOf = (google: GoogleWallet): CallbackKeys => {
    const keys = known.get(google) ?? createCallbackKeys({ url: google.credentials.callbackKeysUrl });
    known.set(google, keys);
    return keys;
  };

  router.post('/google/callback', async (ctx) => {
    const { google } = deps.wallets;
    if (!google) throw new ServiceError('ROUTE_NOT_FOUND');
    const { issuerId } = google.credentials;
    const rootKeys = await keysOf(google)
      .rootKeys()
      .catch(() => {
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
