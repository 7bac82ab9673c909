// Whether a change gets a workflow of its own: decided once, however often its transaction is repeated.
import { expect, test, vi } from 'vitest';
import { planDispatch } from '../../../api/members/dispatch.effect.js';

function depsWith({ available = true, admit = vi.fn(() => true) } = {}) {
  return { deps: { workflowClient: { available: () => available }, admission: { admit } }, admit };
}

test('a transaction that is repeated takes one token and gets the same answer', () => {
  const answers = [true, false, false];
  const { deps, admit } = depsWith({ admit: vi.fn(() => answers.shift() ?? false) });
  const { chooseLeaseOwner } = planDispatch(deps, (key) => `id:${key}`);
  expect([chooseLeaseOwner('1'), chooseLeaseOwner('2'), chooseLeaseOwner('3')]).toEqual(['id:1', 'id:2', 'id:3']);
  expect(admit).toHaveBeenCalledTimes(1);
});

test('admission is checked again for a change whose answer has to wait after all', () => {
  const admit = vi.fn((awaited?: boolean) => awaited === true);
  const { chooseLeaseOwner } = planDispatch(depsWith({ admit }).deps, (key) => key);
  expect([chooseLeaseOwner('1', false), chooseLeaseOwner('1', true), chooseLeaseOwner('2', true)]).toEqual([
    null,
    '1',
    '2',
  ]);
  expect(admit).toHaveBeenCalledTimes(2);
});

test('no change is admitted while Temporal is unavailable', () => {
  const { deps, admit } = depsWith({ available: false });
  expect(planDispatch(deps, (key) => key).chooseLeaseOwner('1', true)).toBeNull();
  expect(admit).not.toHaveBeenCalled();
});
