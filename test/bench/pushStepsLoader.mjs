// Gives the compiled service the marks of pushStepsHook.mjs.
import { after, before, changing } from './changedCode.mjs';

const ended = (name) => `globalThis.stepEnded('${name}');`;

export const load = changing({
  '/api/members/dispatch.effect.js': [before('await deps.workflowClient.start(', ended('committed'))],
  '/activities/wallets/pushPasses.activity.js': [
    after('export async function pushPasses(deps, lease) {', ended('begun')),
    before('return { ...result, newEventIds:', ended('recorded')),
  ],
  '/activities/wallets/apple/pushPhones.effect.js': [
    before('const answers = ', ended('read')),
    before("deps.crashPoint('after-push-before-record');", ended('pushed')),
  ],
  '/api/members/pushWaits.reads.js': [after('end(passUpdate) {', ended('seen'))],
});
