// Gives the compiled log of requests the switch of requestLogHook.mjs.
import { after, changing } from './changedCode.mjs';

export const load = changing({
  '/api/http/requestLog.js': [
    after('async function logRequest(ctx, next) {', 'if (globalThis.isRequestLogOff) return next();'),
  ],
});
