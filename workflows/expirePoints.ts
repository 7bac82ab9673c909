// Gives lots to members of programs that got an expiry rule, and in turns with it expires the points that are due; then
// goes through all slices once more, for those who got lots. Both work in steps of about 10 s until nothing is left. A
// schedule starts this workflow every minute.
import { continueAsNew, setCurrentDetails } from '@temporalio/workflow';
import type { ExpirePoints } from '../schemas/workflows.js';
import { batches } from './activityOptions.js';

const stepsPerRun = 20;

export async function expirePoints(input: ExpirePoints): Promise<{ expired: number }> {
  const { programId, at, slice } = input;
  const of = { ...(programId !== undefined && { programId }), ...(at !== undefined && { at }) };
  let { expired = 0 } = input;
  let next = slice;
  let meanwhile = 0;
  for (let step = 0; step < stepsPerRun; step += 1) {
    if (next === undefined) {
      const { over } = await batches.giveLots(of);
      if (over) {
        next = 0;
        continue;
      }
    }
    setCurrentDetails(`Points of ${expired} members expired.`);
    const done = await batches.expireLots({ ...of, from: next ?? meanwhile });
    expired += done.expired;
    if (next === undefined) meanwhile = done.next ?? 0;
    else if (done.next === undefined) return { expired };
    else next = done.next;
  }
  return continueAsNew<typeof expirePoints>({ ...of, ...(next !== undefined && { slice: next }), expired });
}
