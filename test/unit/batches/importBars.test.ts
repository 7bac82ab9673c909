// The bars of a running import in the console.
import { expect, it } from 'vitest';
import { type BatchWork, percentOf } from '../../../schemas/batches/batches.schema.js';

// The console is compiled by itself, so its modules have no types here.
const module = '../../../console/pages/importBars.js';
const { importBars }: { importBars: (batch: unknown) => { label: string; percent: number }[] } = await import(module);

const bars = (work: Pick<BatchWork, 'done' | 'completedMembers'> & { passes?: number; quiet?: boolean }) => {
  const counts = { total: 200, created: Math.min(work.done, 100), deduped: Math.max(0, work.done - 100), failed: 0 };
  const percent = percentOf({ ...work, counts, phase: 'creating', startedAt: new Date() });
  const passIssuance = { apple: work.passes ?? 0, google: 0 };
  return importBars({ counts, passIssuance, percent, quiet: work.quiet }).map(({ percent: shown }) => shown);
};

it.each([
  [{ done: 0 }, [0, 0, 0]],
  [{ done: 50 }, [25, 0, 0]],
  [{ done: 200 }, [100, 0, 0]],
  [{ done: 200, passes: 50, completedMembers: 25 }, [100, 50, 25]],
  [{ done: 200, passes: 100, completedMembers: 100 }, [100, 100, 100]],
  [{ done: 200, passes: 100, completedMembers: 100, quiet: true }, [100, 100]],
])('show members, passes and events of %j', (work, expected) => {
  expect(bars(work)).toEqual(expected);
});
