// The result of a batch's push to one member. A wallet that could not be reached in time counts as failed; when a later
// push succeeds, the counts of the batch are corrected.
import type { Deps } from '../../platform/deps.js';
import { retryOnConflict } from '../../platform/mongodb/retryOnConflict.js';
import { update } from '../../platform/mongodb/statements.js';
import { transact } from '../../platform/mongodb/transact.js';
import type { EventRow } from '../../schemas/events/events.rows.js';
import type { MemberRow } from '../../schemas/members/members.rows.js';
import type { PassUpdate } from '../../schemas/shared/passUpdate.schema.js';

/** Pushed counts as `created`, skipped as `deduped` (campaignCountsOf). */
export type PushOutcome = 'created' | 'deduped' | 'failed';

export function pushOutcomeOf(passUpdate: PassUpdate | null | undefined, savedAtGoogle: boolean): PushOutcome {
  if (!passUpdate) return 'failed';
  const { apple, google } = passUpdate;
  if (apple.devicesNotified > 0 || google.objectPatched) return 'created';
  const tried = (apple.mode === 'real' && apple.devicesAttempted > 0) || (google.mode === 'real' && savedAtGoogle);
  return tried ? 'failed' : 'deduped';
}

type BatchEvent = Pick<EventRow, 'memberId' | 'merchantId' | 'targetsId' | 'passUpdate'>;

/** Moves members whose push was recorded since from failed to notified. Idempotent. */
export async function countLatePushes(deps: Deps, events: readonly BatchEvent[]): Promise<void> {
  for (const { memberId = '', merchantId, targetsId, passUpdate } of events) {
    if (targetsId === undefined || !passUpdate) continue;
    const member = await deps.collections.members.findOne(
      { _id: memberId, merchantId },
      { projection: { 'pass.googleSaved': 1 } },
    );
    const outcome = pushOutcomeOf(passUpdate, savedAtGoogle(member));
    if (outcome !== 'failed') await moveFromFailed(deps, { targetsId, memberId, outcome });
  }
}

const savedAtGoogle = (member: Pick<MemberRow, 'pass'> | null): boolean => member?.pass?.googleSaved === true;

async function moveFromFailed(
  deps: Deps,
  { targetsId: _id, memberId, outcome }: { targetsId: string; memberId: string; outcome: 'created' | 'deduped' },
): Promise<void> {
  await retryOnConflict(deps, async () => {
    const targets = await deps.collections.batchTargets.findOne(
      { _id, failedIds: memberId },
      { projection: { batchId: 1 } },
    );
    if (!targets) return;
    await transact(
      deps,
      [
        update(deps, 'batchTargets', { _id, failedIds: memberId }, { $pull: { failedIds: memberId } }),
        update(deps, 'batches', { _id: targets.batchId }, { $inc: { 'counts.failed': -1, [`counts.${outcome}`]: 1 } }),
      ],
      2,
    );
  });
}
