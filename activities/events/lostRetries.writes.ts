// Marks for passes and pushes that a workflow retries: `pass.issueDueAt` of the member and `pushDueAt` of the event say
// when that workflow counts as lost.
import type { Deps } from '../../platform/deps.js';
import { updateByIds } from '../../platform/mongodb/updateMany.js';
import { workflowLostAt } from './workflowLostAt.rules.js';

/** Records that these members lack a pass. */
export async function markIssueDue(deps: Deps, memberIds: readonly string[]): Promise<void> {
  await updateByIds(deps, 'members', { ids: memberIds, change: { $set: { 'pass.issueDueAt': workflowLostAt(deps) } } });
}

export async function clearIssueDue(deps: Deps, memberIds: readonly string[]): Promise<void> {
  await updateByIds(deps, 'members', { ids: memberIds, change: { $unset: { 'pass.issueDueAt': '' } } });
}

export async function markPushDue(deps: Deps, eventIds: readonly string[]): Promise<void> {
  await updateByIds(deps, 'events', { ids: eventIds, change: { $set: { pushDueAt: workflowLostAt(deps) } } });
}

export async function clearPushDue(deps: Deps, eventIds: readonly string[]): Promise<void> {
  await updateByIds(deps, 'events', { ids: eventIds, change: { $unset: { pushDueAt: '' } } });
}
