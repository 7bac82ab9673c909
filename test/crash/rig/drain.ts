// Waits until all work is done, without intervention. Work that is left after the time limit shows in the checkers.
import { runningWork } from '../evidence.js';
import type { Site, World } from './world.js';

/** Returns the duration; null when work was left after `withinMs`. */
export async function drain(
  { cluster, receivers }: World<Site>,
  { withinMs, say = (line) => console.log(`  ${line}`) }: { withinMs: number; say?: (line: string) => void },
): Promise<number | null> {
  const begunAt = performance.now();
  let saidAt = begunAt;
  for (const receiver of receivers) if (receiver.steady) receiver.acceptAll();
  while (performance.now() - begunAt < withinMs) {
    const left = await underWay(cluster).catch(String);
    if (left === null) return Math.round(performance.now() - begunAt);
    if (performance.now() - saidAt > 5_000) {
      saidAt = performance.now();
      say(`still under way: ${left}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  return null;
}

/** Names one unfinished piece of work; null when there is none. */
async function underWay(cluster: Site): Promise<string | null> {
  const { collections } = cluster.deps;
  const unpublished = () => collections.events.findOne({ state: 'new' }, { projection: { type: 1, leaseOwner: 1 } });
  const event = await unpublished();
  if (event) return `${event.type} ${event._id}, held by ${event.leaseOwner || 'nobody'}`;
  for await (const workflow of cluster.temporal.workflow.list({ query: runningWork }))
    if (!workflow.type.startsWith('temporal-sys')) return `${workflow.type} ${workflow.workflowId}`;
  const delivery = await collections.deliveries.findOne(
    { state: { $in: ['pending', 'retrying'] } },
    { projection: { state: 1 } },
  );
  if (delivery) return `a delivery is ${delivery.state}`;
  const batch = await collections.batches.findOne({
    $or: [{ phase: { $nin: ['completed', 'failed', 'cancelled'] } }, { unissued: true }],
  });
  if (batch) return `${batch.kind} ${batch._id} is ${batch.phase}`;
  if (await collections.members.findOne({ 'pass.issueDueAt': { $exists: true } })) return 'a late pass';
  if (await collections.members.findOne({ 'expiry.at': { $lte: new Date() } })) return 'points whose time is over';
  if (await collections.events.findOne({ pushDueAt: { $exists: true } })) return 'a late push';
  // A workflow that was just started may not be listed yet, and may have written new events since the first check.
  return (await unpublished()) ? 'a new event' : null;
}
