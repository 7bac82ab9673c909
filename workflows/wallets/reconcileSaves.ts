// Compares which passes are saved at Google with the members here. Google's callbacks about saved and deleted passes
// are best effort and have stopped for days (docs/protocols/google-wallet.md#7-callbacks). A difference that remains
// after `callbackGraceMs` is corrected. A schedule starts this workflow.
import { continueAsNew, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { ReconcileSaves } from '../../schemas/tables/workflows.js';
import { pushUntilSent } from '../shared/activityOptions.js';

const pagesPerRun = 20;
const maxMismatched = 1_000;
const correctionBatchSize = 20;

export async function reconcileSaves(input: ReconcileSaves): Promise<{ corrected: number }> {
  const mismatched: string[] = [];
  let { cursor, corrected = 0 } = input;
  let over = false;
  for (let page = 0; !over && page < pagesPerRun && mismatched.length < maxMismatched; page += 1) {
    setCurrentDetails(`Comparing with Google: ${mismatched.length} passes in doubt, ${corrected} put right.`);
    const compared = await pushUntilSent.compareSaves({ ...(cursor && { cursor }) });
    mismatched.push(...compared.mismatched);
    cursor = compared.next;
    over = cursor === undefined;
  }
  if (mismatched.length > 0) await sleep(input.callbackGraceMs);
  for (let from = 0; from < mismatched.length; from += correctionBatchSize) {
    const settled = await pushUntilSent.correctSaves({ memberIds: mismatched.slice(from, from + correctionBatchSize) });
    corrected += settled.corrected;
  }
  if (cursor) await continueAsNew<typeof reconcileSaves>({ ...input, cursor, corrected });
  setCurrentDetails(`Done: ${corrected} put right.`);
  return { corrected };
}
