// Starts workflows again that were terminated or are gone with Temporal's data. They are found by their rows in
// MongoDB, which are overdue. A failure with one kind of work does not delay the others. A worker that
// finds some starts it (worker/duties.ts, docs/decisions/state-in-mongodb-work-in-temporal.md).
import { log, setCurrentDetails } from '@temporalio/workflow';
import { revival } from './activityOptions.js';

export async function reviveWork(): Promise<{ revived: number }> {
  const kinds = await Promise.allSettled([
    revival.reviveDeliveries(),
    revival.revivePushes(),
    revival.reviveIssues(),
    revival.reviveMails(),
    revival.reviveErasures(),
    reviveAllBatches(),
  ]);
  let revived = 0;
  for (const kind of kinds) {
    if (kind.status === 'fulfilled') revived += kind.value.revived;
    else log.error('Lost work could not be looked after; the next run tries it.', { error: String(kind.reason) });
  }
  setCurrentDetails(`Looked after ${revived}.`);
  return { revived };
}

async function reviveAllBatches(): Promise<{ revived: number }> {
  let revived = 0;
  let after: string | undefined;
  do {
    const done = await revival.reviveBatches({ ...(after !== undefined && { after }) });
    revived += done.revived;
    after = done.next;
  } while (after !== undefined);
  return { revived };
}
