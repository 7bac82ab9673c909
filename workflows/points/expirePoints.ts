// Expires points, in steps of about 10 s. While members of programs with a new expiry rule still lack lots, a step that
// gives lots and a step that expires points take turns. When all have lots, the points of all slices are expired once
// more, for those who got theirs in between. A worker looks each minute whether something is due, and starts it then
// (worker/duties.ts).
import { continueAsNew, setCurrentDetails } from '@temporalio/workflow';
import type { ExpirePoints } from '../../schemas/tables/workflows.js';
import { batches } from '../shared/activityOptions.js';

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
