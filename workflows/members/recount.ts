// Corrects the stored totals and tags of all merchants, some merchants at a time. A schedule starts this workflow.
import { continueAsNew, setCurrentDetails } from '@temporalio/workflow';
import type { Recount, Recounted } from '../../schemas/tables/workflows.js';
import { batches } from '../shared/activityOptions.js';

const stepsPerRun = 20;

export async function recount({ after, merchants = 0, repaired = 0 }: Recount): Promise<Omit<Recounted, 'next'>> {
  const so = { merchants, repaired };
  let next = after;
  for (let step = 0; step < stepsPerRun; step += 1) {
    setCurrentDetails(`${so.merchants} merchants looked at, ${so.repaired} totals and tags put right.`);
    const done = await batches.recountMerchants({ ...(next !== undefined && { after: next }) });
    so.merchants += done.merchants;
    so.repaired += done.repaired;
    next = done.next;
    if (next === undefined) return so;
  }
  return continueAsNew<typeof recount>({ after: next ?? '', ...so });
}
