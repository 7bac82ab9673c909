// Exports every workflow type that a worker hosts. The file, the function and the type of a workflow have the same
// name.

export { importMembers } from './batches/importMembers.js';
export { mailCards } from './batches/mailCards.js';
export { rebuildPasses } from './batches/rebuildPasses.js';
export { removeBatchRows } from './batches/removeBatchRows.js';
export { replayDeliveries } from './batches/replayDeliveries.js';
export { sendAutomaticMessages } from './batches/sendAutomaticMessages.js';
export { sendCampaign } from './batches/sendCampaign.js';
export { sendPlannedCampaign } from './batches/sendPlannedCampaign.js';
export { announceChange } from './events/announceChange.js';
export { publishChange } from './events/publishChange.js';
export { sendMail } from './mail/sendMail.js';
export { recount } from './members/recount.js';
export { eraseMember } from './persons/eraseMember.js';
export { expirePoints } from './points/expirePoints.js';
export { reviveWork } from './shared/reviveWork.js';
export { followGoogle } from './wallets/followGoogle.js';
export { issuePasses } from './wallets/issuePasses.js';
export { reconcileSaves } from './wallets/reconcileSaves.js';
export { repushPasses } from './wallets/repushPasses.js';
export { retryPasses } from './wallets/retryPasses.js';
export { updateClasses } from './wallets/updateClasses.js';
export { deliverWebhook } from './webhooks/deliverWebhook.js';
export { relay } from './webhooks/relay.js';
