// Which steps make the indexes that a collection has those that it should have.
import fc from 'fast-check';
import type { IndexDescription, IndexDescriptionInfo } from 'mongodb';
import { describe, expect, it } from 'vitest';
import type { IndexSpec } from '../../../schemas/shared/indexes.js';
import { type IndexPlan, planIndexes } from '../../../worker/reconcileIndexes.js';

const reason = 'a test';
const byId: IndexDescriptionInfo = { v: 2, key: { _id: 1 }, name: '_id_' };
const nothing: IndexPlan = { change: [], build: [], drop: [] };

describe('indexes that are there', () => {
  it('stay as they are under whatever name they have', () => {
    const wanted: IndexSpec[] = [
      { key: { shop: 1, at: -1 }, unique: true, reason },
      { key: { at: 1 }, expireAfterSeconds: 60, reason },
    ];
    const found = [
      byId,
      { v: 2, unique: true, sparse: false, key: { shop: 1, at: -1 }, name: 'made in 2019' },
      { v: 2, expireAfterSeconds: 60, background: true, key: { at: 1 }, name: 'at_1' },
    ];
    expect(planIndexes(wanted, found)).toEqual(nothing);
  });

  it('are changed in place when only their expiry differs or they are hidden', () => {
    const wanted: IndexSpec[] = [
      { key: { at: 1 }, expireAfterSeconds: 0, reason },
      { key: { until: 1 }, expireAfterSeconds: 5, reason },
      { key: { shop: 1 }, reason },
    ];
    const found = [
      byId,
      { key: { at: 1 }, name: 'old', expireAfterSeconds: 60 },
      { key: { until: 1 }, name: 'until_1' },
      { key: { shop: 1 }, name: 'shop_1', hidden: true },
    ];
    const plan = planIndexes(wanted, found);
    expect(plan).toMatchObject({ build: [], drop: [] });
    expect(plan.change.map(({ index, how }) => [index.name, how])).toEqual([
      ['old', { expireAfterSeconds: 0 }],
      ['until_1', { expireAfterSeconds: 5 }],
      ['shop_1', { hidden: false }],
    ]);
  });

  it('are rebuilt when they lose their expiry', () => {
    const plan = planIndexes([{ key: { at: 1 }, reason }], [{ key: { at: 1 }, name: 'at_1', expireAfterSeconds: 60 }]);
    expect(plan).toEqual({ ...nothing, change: [{ index: { key: { at: 1 }, name: 'at_1' } }] });
  });

  it('are told apart by the order of their fields and by their options', () => {
    const wanted: IndexSpec[] = [{ key: { shop: 1, at: 1 }, unique: true, reason }];
    const found = [
      byId,
      { key: { at: 1, shop: 1 }, name: 'at_1_shop_1', unique: true },
      { key: { shop: 1, at: 1 }, name: 'shop_1_at_1' },
      { key: { shop: 1, at: 1 }, name: 'folded', unique: true, collation: { locale: 'en', strength: 2 } },
    ];
    expect(planIndexes(wanted, found)).toEqual({
      change: [],
      build: [{ key: { shop: 1, at: 1 }, unique: true, name: 'shop_1_at_1_2' }],
      drop: ['at_1_shop_1', 'shop_1_at_1', 'folded'],
    });
  });
});

const fields = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 });
const index = fc
  .record(
    {
      key: fields.chain((names) =>
        fc
          .tuple(...names.map(() => fc.constantFrom<1 | -1>(1, -1)))
          .map((ways) => Object.fromEntries(names.map((name, at) => [name, ways[at] ?? 1]))),
      ),
      unique: fc.constant(true as const),
      sparse: fc.constant(true as const),
      expireAfterSeconds: fc.nat(3),
    },
    { requiredKeys: ['key'] },
  )
  .map((each) => ({ ...each, reason }));
const identity = ({ key, unique, sparse }: Pick<IndexDescription, 'unique' | 'sparse'> & { key: object }) =>
  JSON.stringify([Object.entries(key), unique, sparse]);
const collection = fc.uniqueArray(index, { selector: identity, maxLength: 6 });

/** What MongoDB has after the steps. Throws where it would refuse one. */
function follow(found: readonly IndexDescription[], { change, build, drop }: IndexPlan): IndexDescription[] {
  const indexes = new Map(found.map((each) => [each.name, { ...each, key: Object(each.key) }]));
  const add = (each: IndexDescription) => {
    const twins = [...indexes.values()].filter((other) => identity(other) === identity({ ...each, key: each.key }));
    if (indexes.has(each.name) || twins.length > 0) throw new Error('IndexOptionsConflict');
    indexes.set(each.name, { ...each, key: each.key });
  };
  for (const { index: each, how } of change) {
    if (!indexes.has(each.name)) throw new Error('IndexNotFound');
    if (how?.expireAfterSeconds !== undefined) {
      Object.assign(indexes.get(each.name) ?? {}, how);
      continue;
    }
    indexes.delete(each.name);
    add(each);
  }
  for (const each of build) add(each);
  for (const name of drop) if (!indexes.delete(name)) throw new Error('IndexNotFound');
  return [...indexes.values()];
}

const content = (indexes: readonly (IndexDescription | IndexSpec)[]) =>
  indexes.map((each) => [identity({ ...each, key: each.key }), each.expireAfterSeconds]).toSorted();

it('any indexes become any others in one pass, and the next pass has nothing to do', () => {
  fc.assert(
    fc.property(collection, collection, (before, wanted) => {
      const found = before.map(({ reason: _, ...each }, at) => ({
        ...each,
        name: `${Object.entries(each.key).flat().join('_')}${at % 2 ? '' : `_${at}`}`,
      }));
      fc.pre(new Set(found.map(({ name }) => name)).size === found.length);
      const after = follow(found, planIndexes(wanted, found));
      expect(content(after)).toEqual(content(wanted));
      expect(
        planIndexes(
          wanted,
          after.map((each) => ({ ...each, key: Object(each.key) })),
        ),
      ).toEqual(nothing);
    }),
  );
});
