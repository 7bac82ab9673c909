// Telling the wallets what changed: one push for each event, recorded on it once, with its lines in the timeline. What the
// transaction already knew (stub mode, nobody to reach) is only written down.
import type { EventRow, TimelineRow } from '../../schemas/collections.js';
import type { PassUpdate, Platform } from '../../schemas/passUpdate.js';
import type { PushedPasses } from '../../schemas/workflows.js';
import { type Claim, claimEvents } from '../claimEvents.js';
import { insertNew } from '../insertNew.js';
import { timelineRow } from '../timelineRow.js';
import type { WorkerDeps } from '../workerDeps.js';

export async function pushPasses(deps: WorkerDeps, claim: Claim): Promise<PushedPasses> {
  const events = await claimEvents(deps, claim);
  return pushClaimed(deps, { holder: claim.holder, events });
}

/** Events must be claimed by `holder`. Throws when a wallet has to be asked again. */
export async function pushClaimed(
  deps: WorkerDeps,
  { events }: { holder: string; events: EventRow[] },
): Promise<PushedPasses> {
  const toPush = events.filter((event) => event.wallet === 'push');
  const passUpdates: Record<string, PassUpdate> = {};
  for (const event of toPush) if (event.passUpdate) passUpdates[event._id] = event.passUpdate;
  await insertNew(
    deps.rows.timeline,
    toPush.flatMap((event) => skippedLines(event)),
  );
  return { passUpdates, eventIds: [] };
}

const pushLines: Record<Platform, string> = { apple: 'push_sent', google: 'google_object_patched' };

/** decisions.md: in stub mode each change leaves both lines with outcome `skipped`, devices or not. */
function skippedLines(event: EventRow): TimelineRow[] {
  const { passUpdate, memberId } = event;
  if (!passUpdate || !memberId) return [];
  return (['apple', 'google'] as const)
    .filter((platform) => passUpdate[platform].mode === 'stub')
    .map((platform) => timelineRow(event, { memberId, type: pushLines[platform], outcome: 'skipped', platform }));
}
