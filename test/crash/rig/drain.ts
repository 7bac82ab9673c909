// Waits until nothing is under way any more, without a hand: what is still there after that long is left for the checkers.
import { standing } from '../evidence.js';
import type { World } from './world.js';

const running = `ExecutionStatus = "Running" AND WorkflowType NOT IN (${standing.map((type) => `"${type}"`).join(', ')})`;

/** Answers how long it took, or null when it was not over within that time. */
export async function drain(
  { cluster, listeners }: World,
  { withinMs, say = () => undefined }: { withinMs: number; say?: (line: string) => void },
): Promise<number | null> {
  const begunAt = performance.now();
  let saidAt = begunAt;
  for (const listener of listeners) if (listener.steady) listener.calm();
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

/** Something that is not over yet; null when everything is. */
async function underWay(cluster: World['cluster']): Promise<string | null> {
  const { rows } = cluster.store;
  const unpublished = () => rows.events.findOne({ state: 'new' }, { projection: { type: 1, holder: 1 } });
  const event = await unpublished();
  if (event) return `${event.type} ${event._id}, held by ${event.holder || 'nobody'}`;
  for await (const workflow of cluster.temporal.workflow.list({ query: running }))
    if (!workflow.type.startsWith('temporal-sys')) return `${workflow.type} ${workflow.workflowId}`;
  const delivery = await rows.deliveries.findOne(
    { state: { $in: ['pending', 'retrying'] } },
    { projection: { state: 1 } },
  );
  if (delivery) return `a delivery is ${delivery.state}`;
  // A workflow that was just started may not be listed yet, and may have made new events meanwhile.
  return (await unpublished()) ? 'a new event' : null;
}
