// Exports every workflow type that a worker hosts. The file, the function and the type of a workflow have the same
// name.
export { deliverWebhook } from './deliverWebhook.js';
export { eraseMember } from './eraseMember.js';
export { expirePoints } from './expirePoints.js';
export { followGoogle } from './followGoogle.js';
export { importMembers } from './importMembers.js';
export { issuePasses } from './issuePasses.js';
export { publishChange } from './publishChange.js';
export { rebuildPasses } from './rebuildPasses.js';
export { reconcileSaves } from './reconcileSaves.js';
export { recount } from './recount.js';
export { relay } from './relay.js';
export { removeBatchRows } from './removeBatchRows.js';
export { replayDeliveries } from './replayDeliveries.js';
export { repushPasses } from './repushPasses.js';
export { retryPasses } from './retryPasses.js';
export { reviveWork } from './reviveWork.js';
export { sendCampaign } from './sendCampaign.js';
export { sendMail } from './sendMail.js';
export { updateClasses } from './updateClasses.js';
