// A program file is refused with the path of each mistake; a valid one has defaults for a complete card.
import { describe, expect, it } from 'vitest';
import { fieldOf, programFile } from '../../../schemas/programs/programs.schema.js';

const points = { _id: 'p-1', slug: 'p-1', name: 'Points', style: 'points', fields: { primaryLabel: 'POINTS' } };

function pathsOf(file: unknown): string[] {
  const parsed = programFile.safeParse(file);
  return parsed.success ? [] : parsed.error.issues.map((issue) => issue.path.join('.')).sort();
}

describe('a program file', () => {
  it('needs an id, slug, name, style and label, and has defaults for the rest', () => {
    expect(programFile.parse(points)).toMatchObject({
      pushMessages: true,
      archived: false,
      enrollment: { open: true, fields: ['firstName', 'lastName'] },
    });
    expect(pathsOf({})).toEqual(['_id', 'fields', 'name', 'slug', 'style']);
  });

  it.each([
    ['a stamp card without a goal', { style: 'stamps' }, ['goal']],
    ['a stamp card of more than 100', { style: 'stamps', goal: 101 }, ['goal']],
    ['tiers that are missing', { style: 'tiered' }, ['tiers']],
    ['tiers on points', { tiers: [{ name: 'Gold', threshold: 1 }] }, ['tiers']],
    ['a basis without tiers', { basis: 'lifetime' }, ['basis']],
    [
      'tiers out of order',
      {
        style: 'tiered',
        tiers: [
          { name: 'A', threshold: 5 },
          { name: 'B', threshold: 5 },
        ],
      },
      ['tiers.1.threshold'],
    ],
    ['a label with a dot', { fields: { primaryLabel: 'a.b' } }, ['fields.primaryLabel']],
    ['a label with a dollar', { fields: { primaryLabel: '$inc' } }, ['fields.primaryLabel']],
    ['a slug in upper case', { slug: 'Demo' }, ['slug']],
    ['a slug that ends in a dash', { slug: 'demo-' }, ['slug']],
    ['a goal of nothing', { goal: 0 }, ['goal']],
  ])('is refused for %s', (_what, fields, paths) => {
    expect(pathsOf({ ...points, ...fields })).toEqual(paths);
  });

  it('is refused for an unknown field', () => {
    expect(programFile.safeParse({ ...points, colour: 'red' }).success).toBe(false);
  });

  it('names the field of the balance after its label, in lower case', () => {
    expect(fieldOf({ fields: { primaryLabel: 'STARS' } })).toBe('stars');
  });
});
