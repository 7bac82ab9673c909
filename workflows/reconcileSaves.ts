// Google's callbacks about saved and deleted passes are best effort, and have stopped for days (facts-wallets 5.9). So what Google
// has is compared now and then with what is known here; what still differs when a callback would have come is put right.
// Started by a schedule.
import { continueAsNew, setCurrentDetails, sleep } from '@temporalio/workflow';
import type { ReconcileSaves } from '../schemas/workflows.js';
import { pushUntilSent } from './activityOptions.js';

const pagesARun = 20;
const doubtedAtMost = 1_000;
const settledAtOnce = 20;

export async function reconcileSaves(input: ReconcileSaves): Promise<{ corrected: number }> {
  const doubted: string[] = [];
  let { cursor, corrected = 0 } = input;
  let over = false;
  for (let page = 0; !over && page < pagesARun && doubted.length < doubtedAtMost; page += 1) {
    setCurrentDetails(`Comparing with Google: ${doubted.length} passes in doubt, ${corrected} put right.`);
    const compared = await pushUntilSent.compareSaves({ ...(cursor && { cursor }) });
    doubted.push(...compared.doubted);
    cursor = compared.next;
    over = cursor === undefined;
  }
  if (doubted.length > 0) await sleep(input.patienceMs);
  for (let from = 0; from < doubted.length; from += settledAtOnce) {
    const settled = await pushUntilSent.settleSaves({ memberIds: doubted.slice(from, from + settledAtOnce) });
    corrected += settled.corrected;
  }
  if (cursor) await continueAsNew<typeof reconcileSaves>({ ...input, cursor, corrected });
  setCurrentDetails(`Done: ${corrected} put right.`);
  return { corrected };
}
