// How many gestures may have a workflow of their own: never more than the rate carries, however they come.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createWorkflowBudget } from '../../api/workflowBudget.js';

function at(perSecond: number) {
  let now = 0;
  const take = createWorkflowBudget(perSecond, () => now);
  const taken = (times: number, awaited = true) =>
    Array.from({ length: times }, () => take(awaited)).filter(Boolean).length;
  return { taken, pass: (ms: number) => (now += ms) };
}

describe('the budget of workflows', () => {
  it('gives twice its rate at once to gestures that somebody waits for, and then its rate', () => {
    const budget = at(20);
    expect(budget.taken(100)).toBe(40);
    budget.pass(1_000);
    expect(budget.taken(100)).toBe(20);
    budget.pass(50);
    expect(budget.taken(100)).toBe(1);
  });

  it('saves up no more than twice its rate, however long it rests', () => {
    const budget = at(20);
    budget.pass(86_400_000);
    expect(budget.taken(1_000)).toBe(40);
  });

  it('gives nothing at a rate of zero', () => {
    const budget = at(0);
    budget.pass(60_000);
    expect(budget.taken(10)).toBe(0);
  });

  it('gives none to gestures that nobody waits for while more of them come than it has, and some again after', () => {
    const budget = at(20);
    expect(budget.taken(500, false)).toBe(10);
    for (let second = 0; second < 5; second += 1) {
      budget.pass(1_000);
      expect(budget.taken(500, false)).toBe(0);
    }
    expect(budget.taken(10, true)).toBe(10);
    budget.pass(10_000);
    expect(budget.taken(10, false)).toBe(10);
  });

  it('gives all to gestures that nobody waits for while they come more slowly than its rate', () => {
    const budget = at(20);
    for (let half = 0; half < 120; half += 1) {
      expect(budget.taken(9, false)).toBe(9);
      budget.pass(500);
    }
  });

  it('never gives more than its first fill and its rate', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.tuple(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 200 }), fc.boolean()), {
          maxLength: 50,
        }),
        (perSecond, steps) => {
          const budget = at(perSecond);
          let total = 0;
          let passed = 0;
          for (const [ms, asked, awaited] of steps) {
            budget.pass(ms);
            passed += ms;
            total += budget.taken(asked, awaited);
          }
          expect(total).toBeLessThanOrEqual(perSecond * 2 + (passed * perSecond) / 1_000 + 1e-6);
        },
      ),
    );
  });
});
