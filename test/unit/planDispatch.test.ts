import { expect, test, vi } from 'vitest';
import type { ApiDeps } from '../../api/apiDeps.js';
import { planDispatch } from '../../api/changes/dispatch.js';

function depsWith({ available = true, admitWorkflow = vi.fn(() => true) } = {}) {
  const deps = { workflowClient: { available: () => available }, admission: { admitWorkflow } };
  return { deps: deps as unknown as ApiDeps, admitWorkflow };
}

test('a transaction that is repeated takes one token and gets the same answer', () => {
  const answers = [true, false, false];
  const { deps, admitWorkflow } = depsWith({ admitWorkflow: vi.fn(() => answers.shift() ?? false) });
  const { admits } = planDispatch(deps);
  expect([admits(false), admits(false), admits(false)]).toEqual([true, true, true]);
  expect(admitWorkflow).toHaveBeenCalledTimes(1);
});

test('a change that has to be awaited after all is asked about once more', () => {
  const admitWorkflow = vi.fn((awaited?: boolean) => awaited === true);
  const { admits } = planDispatch(depsWith({ admitWorkflow }).deps);
  expect([admits(false), admits(true), admits(true)]).toEqual([false, true, true]);
  expect(admitWorkflow).toHaveBeenCalledTimes(2);
});

test('no change is admitted while Temporal is unavailable', () => {
  const { deps, admitWorkflow } = depsWith({ available: false });
  expect(planDispatch(deps).admits(true)).toBe(false);
  expect(admitWorkflow).not.toHaveBeenCalled();
});
