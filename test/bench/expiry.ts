// Expires the points of many members at one midnight, with the workflow of the schedule and its effects: an event and a
// new pass version for each. The only goal is that the worker's memory does not grow with the number of members.
import { Client, Connection } from '@temporalio/client';
import { withExpiry } from '../../activities/programs/expirySince.writes.js';
import { newId } from '../../schemas/shared/ids.js';
import { taskQueues } from '../../schemas/tables/workflows.js';
import type { Bench } from './bench.js';
import { aMerchant, aNewMember } from './merchant.js';
import { cpuMeter, memoryOf, peakWhile, perThousand } from './processes.js';
import { type Row, round } from './row.js';

const dayMs = 86_400_000;
const insertedTogether = 500;
const memoryGoalMb = 150;

export interface ExpirySize {
  members: number;
}

export async function benchExpiry(bench: Bench, { members: count }: ExpirySize): Promise<Row[]> {
  const { deps } = bench;
  const merchant = await aMerchant(bench);
  const { _id: programId } = merchant.program;
  const expiry = { afterDays: 1 };
  await deps.collections.programs.updateOne({ _id: programId, merchantId: merchant.id }, { $set: { expiry } });
  const program = await withExpiry(deps, { ...merchant.program, expiry });
  for (let at = 0; at < count; at += insertedTogether)
    await deps.collections.members.insertMany(
      Array.from(
        { length: Math.min(insertedTogether, count - at) },
        (_, index) => aNewMember(deps, program, at + index, { initialPoints: 10 }).member,
      ),
      { ordered: false },
    );
  const connection = await Connection.connect({ address: bench.temporalAddress });
  const client = new Client({ connection });
  const before = memoryOf(bench.pids).worker ?? 0;
  const used = cpuMeter(bench.pids);
  const beganAt = performance.now();
  const { made, peak } = await peakWhile(bench.pids, () =>
    client.workflow.execute('expirePoints', {
      taskQueue: taskQueues.workflows,
      workflowId: newId(),
      args: [{ programId, at: Date.now() + 3 * dayMs }],
    }),
  );
  const seconds = (performance.now() - beganAt) / 1_000;
  const { expired } = made as { expired: number };
  if (expired !== count) throw new Error(`The points of ${expired} members expired instead of ${count}.`);
  await Promise.all([connection.close(), merchant.close()]);
  const all = `expiry of ${count.toLocaleString('en')} lots`;
  const grown = (peak.worker ?? 0) - before;
  return [
    {
      scenario: `${all}, an event and a pass for each; none`,
      ours: round(count / seconds),
      yardstick: null,
      ratio: null,
      unit: 'members/s',
      goal: 'none',
      cpu: perThousand(used(), count),
      memory: peak,
      note: `${round(seconds)} s in all.`,
    },
    {
      scenario: `${all}: peak of the worker's memory beyond what it had before`,
      ours: round(grown),
      yardstick: null,
      ratio: null,
      unit: 'MB',
      goal: `< ${memoryGoalMb}`,
      reached: grown < memoryGoalMb,
    },
  ];
}
