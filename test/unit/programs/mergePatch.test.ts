// JSON Merge Patch: the examples of RFC 7396 for objects, and the schema of patches.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mergePatch, patchOf } from '../../../schemas/programs/mergePatch.rules.js';
import { programPatch } from '../../../schemas/programs/programEdits.schema.js';

describe('a merge patch', () => {
  it.each([
    [{ a: 'b' }, { a: 'c' }, { a: 'c' }],
    [{ a: 'b' }, { b: 'c' }, { a: 'b', b: 'c' }],
    [{ a: 'b' }, { a: null }, {}],
    [{ a: 'b', b: 'c' }, { a: null }, { b: 'c' }],
    [{ a: ['b'] }, { a: 'c' }, { a: 'c' }],
    [{ a: 'c' }, { a: ['b'] }, { a: ['b'] }],
    [{ a: { b: 'c' } }, { a: { b: 'd', c: null } }, { a: { b: 'd' } }],
    [{ a: [{ b: 'c' }] }, { a: [1] }, { a: [1] }],
    [{ e: null }, { a: 1 }, { e: null, a: 1 }],
    [{ a: 'x' }, { a: { bb: { ccc: null } } }, { a: { bb: {} } }],
  ])('of %j with %j is %j', (value, patch, expected) => {
    expect(mergePatch(value, patch)).toEqual(expected);
  });

  it('never reaches a prototype', () => {
    const patch = JSON.parse('{"__proto__": {"polluted": true}}');
    expect(mergePatch({}, patch)).toEqual(patch);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('a patch of a program', () => {
  it('may leave out or remove any field, at any depth', () => {
    const patch = { version: 2, goal: null, passTemplate: { colors: { label: null }, locales: { de: { a: null } } } };
    expect(programPatch.parse(patch)).toEqual(patch);
  });

  it.each([
    { archived: 'no' },
    { _id: 7 },
    { merchantId: 7 },
    { version: null },
    { version: '2' },
    { passTemplate: { colors: { pink: '#ff00ff' } } },
    { goal: -1 },
  ])('%j is refused', (patch) => {
    expect(programPatch.safeParse(patch).success).toBe(false);
  });
});

it('a patch of a table by fixed names needs none of them', () => {
  const patch = patchOf(z.object({ hours: z.partialRecord(z.enum(['monday', 'tuesday']), z.string()) }));
  expect(patch.safeParse({ hours: { monday: '1', tuesday: null } }).success).toBe(true);
  expect(patch.safeParse({ hours: {} }).success).toBe(true);
  expect(patch.safeParse({ hours: { montag: '1' } }).success).toBe(false);
});
