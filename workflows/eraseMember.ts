// Removes what is left of an erased member (activities/personal/removeTraces.ts), several times, because work that was
// under way when the member was erased may still have written something. In parallel Google's object is emptied, and once
// more at the end, for an object that was being made meanwhile.
import { setCurrentDetails, sleep } from '@temporalio/workflow';
import type { EraseMember } from '../schemas/workflows.js';
import { erasing, pushUntilSent } from './activityOptions.js';

/** Before each look. With the wait for a lost workflow they end within a minute. */
const waitsMs = [0, 3_000, 12_000];

export async function eraseMember({ memberId }: EraseMember): Promise<{ looks: number }> {
  const look = async (): Promise<void> => {
    for (const waitMs of waitsMs) {
      if (waitMs > 0) await sleep(waitMs);
      setCurrentDetails('Removing what is left of the member.');
      await erasing.removeTraces({ memberId });
    }
  };
  await Promise.all([look(), pushUntilSent.clearGoogleObject({ memberId })]);
  await pushUntilSent.clearGoogleObject({ memberId });
  const { looks } = await erasing.endErasure({ memberId });
  setCurrentDetails('Done: nothing is left of the member but its ledger, without a name.');
  return { looks };
}
