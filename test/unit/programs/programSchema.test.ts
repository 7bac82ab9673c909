// The JSON Schema of program files agrees with the service, the examples are complete, and the docs name every field.
import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { templateProblems } from '../../../activities/wallets/apple/templateCheck.rules.js';
import { programJsonSchema } from '../../../schemas/programs/programFile.schema.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { fieldPaths } from '../../../schemas/shared/shapeWalk.rules.js';

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
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
/** The screen scales and the PDF of an image are one line in the docs, and one image of the examples has them. */
const withoutScales = known.filter((path) => !/\.(?:[123]x|pdf)$/.test(path));

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
  const png = tiered.passTemplate.images.logo;
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
    ['a rule of expiry that says nothing', { ...points, expiry: {} }],
    ['two rules of expiry', { ...points, expiry: { afterDays: 30, inactiveDays: 30 } }],
    ['a rule of earning without an amount', { ...points, earn: { points: 1, currency: 'EUR' } }],
    ['an empty rule of earning', { ...tiered, earn: {} }],
    ['a rule of earning with an amount on stamps', { ...stamps, earn: { per: 100 } }],
    ['a reward with the id of the default one', { ...points, rewards: [{ id: 'default', name: 'Tea', cost: 1 }] }],
    ['an icon without a scale', { ...points, passTemplate: { images: { icon: { '1x': png, '2x': png } } } }],
    ['a logo without any scale', { ...points, passTemplate: { images: { logo: {} } } }],
    ['a blank description', { ...points, passTemplate: { description: ' ' } }],
    ['a language without translations', { ...points, passTemplate: { locales: { de: {} } } }],
    ['a $schema that is no text', { ...points, $schema: 1 }],
  ])('%s: the schema refuses it as well', (_what, program) => {
    expect(programFile.safeParse(program).success).toBe(false);
    expect(accepts(JSON.parse(JSON.stringify(program)))).toBe(false);
  });
});

type Path = (string | number)[];

/** The paths of all values inside of a value. */
function allPaths(value: unknown, at: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [at];
  const entries = Array.isArray(value) ? value.map((entry, index) => [index, entry]) : Object.entries(value);
  return [at, ...entries.flatMap(([name, entry]) => allPaths(entry, [...at, name]))];
}

// biome-ignore lint/suspicious/noExplicitAny: any JSON
type Json = any;

const valueAt = (value: Json, path: Path): Json => path.reduce((inner, name) => inner?.[name], value);

const oddValue = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 3 }),
  fc.integer({ min: -1, max: 102 }),
  fc.constantFrom<Json>(
    ...[null, true, false, '', ' ', ' x ', '\n', 'a\nb', 'default', 'UTC', 'stamps', 'points', 'tiered', '#ABCDEF'],
    ...[1.5, 3_650, 3_651, 1e12, 1e16, 'x'.repeat(65), 'x'.repeat(101), ` ${'x'.repeat(100)} `, '\u{1f600}'.repeat(30)],
    ...['2026-02-30T00:00:00Z', '2026-03-01T00:00Z', '2026-03-01T00:00:00+01:00', 'https://a.example/b', 'https://a b'],
    ...[
      [],
      {},
      { afterDays: 1 },
      { afterDays: 1, inactiveDays: 1 },
      { per: 1, points: 1, currency: 'EUR' },
      { per: 1 },
    ],
    ...[
      { cooldownSeconds: 1 },
      { de: { Points: 'Punkte' } },
      [{ id: 'tea', name: 'Tea', cost: 101 }],
      { '1x': 'AAAA' },
    ],
  ),
);

const mutation = fc.record({
  kind: fc.constantFrom('set', 'remove', 'add', 'copy'),
  at: fc.nat(10_000),
  from: fc.nat(10_000),
  field: fc.constantFrom(...new Set(known.map((path) => path.slice(path.lastIndexOf('.') + 1))), 'unknown'),
  value: oddValue,
});

type Mutation = typeof mutation extends fc.Arbitrary<infer M> ? M : never;

function mutate(program: Json, { kind, at, from, field, value }: Mutation): Json {
  const paths = allPaths(program).slice(1);
  const path = paths[at % paths.length];
  if (!path) return program;
  const target = valueAt(program, path);
  const isObject = typeof target === 'object' && target !== null && !Array.isArray(target);
  const [holder, name] =
    kind === 'add' && isObject ? [target, field] : [valueAt(program, path.slice(0, -1)), path.at(-1)];
  const other = examples[from % examples.length]?.file;
  const sources = allPaths(other);
  const copied = structuredClone(valueAt(other, sources[from % sources.length] ?? []));
  if (kind !== 'remove') holder[name ?? field] = kind === 'copy' ? copied : structuredClone(value);
  else if (Array.isArray(holder)) holder.splice(Number(name), 1);
  else delete holder[name ?? field];
  return program;
}

/** The messages for rules that a JSON Schema cannot express; the description of the schema lists them. */
const beyond =
  /^(?:must have a visible character|must be above the tier before it|".*" is taken|the key .* is taken|must be at most the goal of the card|the image .*|must be an address|must be an IANA time zone, .*|must be the code of a language.*)$/s;

it('the schema accepts what the service accepts, and refuses what it refuses, however an example is changed', () => {
  const counts = { accepted: 0, refused: 0 };
  const changed = fc
    .tuple(fc.constantFrom(...examples.map(({ file }) => file)), fc.array(mutation, { minLength: 1, maxLength: 3 }))
    .map(([file, mutations]) => mutations.reduce(mutate, structuredClone(file)));
  fc.assert(
    fc.property(changed, (program) => {
      const parsed = programFile.safeParse(program);
      const isBeyond = !parsed.success && parsed.error.issues.every(({ message }) => beyond.test(message));
      if (isBeyond) return;
      counts[parsed.success ? 'accepted' : 'refused'] += 1;
      expect({ accepts: accepts(program), errors: parsed.success ? undefined : parsed.error.issues }).toMatchObject({
        accepts: parsed.success,
      });
    }),
    { numRuns: 1_000 },
  );
  expect(Math.min(counts.accepted, counts.refused)).toBeGreaterThan(100);
});
