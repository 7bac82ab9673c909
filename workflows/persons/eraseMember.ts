// Removes the remaining data of an erased member (activities/persons/removeTraces.activity.ts). It runs several times,
// because work in progress at the erasure may still write something.
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import type { EraseMember } from '../../schemas/tables/workflows.js';
import { erasing } from '../shared/activityOptions.js';

export async function eraseMember({ memberId, lastRunMs }: EraseMember): Promise<{ runs: number }> {
  const secondRunMs = lastRunMs / 5;
  for (const waitMs of [0, secondRunMs, lastRunMs - secondRunMs]) {
    if (waitMs > 0) await sleep(waitMs);
    setCurrentDetails('Removing what is left of the member.');
    await erasing.removeTraces({ memberId });
  }
  const { runs } = await erasing.endErasure({ memberId });
  setCurrentDetails('Done: nothing is left of the member but its ledger, without a name.');
  return { runs };
}
