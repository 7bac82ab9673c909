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
  const { leaseOwnerOf } = planDispatch(deps, (key) => `id:${key}`);
  expect([leaseOwnerOf('1'), leaseOwnerOf('2'), leaseOwnerOf('3')]).toEqual(['id:1', 'id:2', 'id:3']);
  expect(admitWorkflow).toHaveBeenCalledTimes(1);
});

test('admission is checked again for a change whose answer has to wait after all', () => {
  const admitWorkflow = vi.fn((awaited?: boolean) => awaited === true);
  const { leaseOwnerOf } = planDispatch(depsWith({ admitWorkflow }).deps, (key) => key);
  expect([leaseOwnerOf('1', false), leaseOwnerOf('1', true), leaseOwnerOf('2', true)]).toEqual([null, '1', '2']);
  expect(admitWorkflow).toHaveBeenCalledTimes(2);
});

test('no change is admitted while Temporal is unavailable', () => {
  const { deps, admitWorkflow } = depsWith({ available: false });
  expect(planDispatch(deps, (key) => key).leaseOwnerOf('1', true)).toBeNull();
  expect(admitWorkflow).not.toHaveBeenCalled();
});
