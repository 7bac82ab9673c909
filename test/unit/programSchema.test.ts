// The JSON Schema of program files agrees with the service, the examples are complete, and the docs name every field.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { templateProblems } from '../../activities/wallets/apple/templateCheck.js';
import { programJsonSchema } from '../../schemas/programSchema.js';
import { programFile } from '../../schemas/programs.js';
import { fieldPaths } from '../../schemas/shapeWalk.js';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false });
addFormats.default(ajv);
const accepts = ajv.compile(programJsonSchema());

const styles = ['points', 'stamps', 'tiered'] as const;
const examples = styles.map((style) => ({ style, file: JSON.parse(read(`docs/examples/${style}.json`)) }));

describe.each(examples)('the example of a $style program', ({ style, file: { $schema, ...program } }) => {
  it('is accepted by the schema and by the service', () => {
    expect([accepts({ $schema, ...program }), accepts.errors]).toEqual([true, null]);
    expect(programFile.parse(program).style).toBe(style);
    expect(templateProblems(programFile.parse(program))).toEqual([]);
    expect(accepts([program, program])).toBe(true);
  });
});

/** All paths of a value, as fieldPaths writes them. */
function pathsIn(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((entry) => pathsIn(entry, prefix));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, entry]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return [path, ...pathsIn(entry, path)];
  });
}

const known = fieldPaths(programFile);
/** The screen scales of an image are one line in the docs, and one image of the examples has them. */
const withoutScales = known.filter((path) => !/\.[123]x$/.test(path));

it('the examples together have every field', () => {
  const shown = new Set(examples.flatMap(({ file }) => pathsIn(file)));
  expect(withoutScales.filter((path) => !shown.has(path))).toEqual([]);
  expect(known.length).toBeGreaterThan(30);
});

it('docs/program-file.md names every field', () => {
  const page = read('docs/program-file.md');
  expect(withoutScales.filter((path) => !page.includes(`| \`${path}\` |`))).toEqual([]);
});

describe('what the service refuses', () => {
  const [points, stamps, tiered] = examples.map(({ file: { $schema, ...program } }) => program);
  it.each([
    ['a stamp card without a goal', { ...stamps, goal: undefined }],
    ['a stamp card of more than 100', { ...stamps, goal: 101 }],
    ['tiers that are missing', { ...tiered, tiers: undefined }],
    ['tiers on points', { ...points, tiers: [{ name: 'Gold', threshold: 1 }] }],
    ['a basis on points', { ...points, basis: 'lifetime' }],
    ['an unknown field', { ...points, colour: 'red' }],
    ['a missing slug', { ...points, slug: undefined }],
    ['a wrong colour', { ...points, passTemplate: { colors: { label: 'red' } } }],
    ['a wrong style', { ...points, style: 'miles' }],
  ])('%s: the schema refuses it as well', (_what, program) => {
    expect(programFile.safeParse(program).success).toBe(false);
    expect(accepts(JSON.parse(JSON.stringify(program)))).toBe(false);
  });
});
