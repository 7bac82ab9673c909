// The designer of the console changes every field that a merchant may change by the API.
import { expect, it } from 'vitest';
import { programContentFields } from '../../../schemas/programs/programEdits.schema.js';
import { programFile } from '../../../schemas/programs/programs.schema.js';
import { fieldPaths } from '../../../schemas/shared/shapeWalk.rules.js';

interface Field {
  path: string;
  columns?: { key: string }[];
}

// The console is compiled by itself, so its modules have no types here.
const designer = '../../../console/pages/designSections.js';
const { sections }: { sections: { fields: Field[] }[] } = await import(designer);

/** The fields without a control, and why. */
const withoutControl: Record<string, string> = {
  'passTemplate.backFields.key': 'made with the row',
  'rewards.id': 'made with the row',
  ...Object.fromEntries(
    ['logo', 'icon', 'strip', 'artwork', 'primaryLogo'].flatMap((name) => [
      ...['1x', '2x', '3x'].map((scale) => [
        `passTemplate.images.${name}.${scale}`,
        'a picture is one file, from which the service makes all scales',
      ]),
      [`passTemplate.images.${name}.pdf`, 'the designer shows pictures, and browsers show no PDF as one'],
    ]),
  ),
};

const controls = sections.flatMap(({ fields }) =>
  fields.flatMap(({ path, columns }) => (columns ? columns.map(({ key }) => `${path}.${key}`) : [path])),
);

const all = fieldPaths(programFile).filter((path) => programContentFields.includes(path.split('.')[0] ?? ''));
const leaves = all.filter((path) => !all.some((other) => other.startsWith(`${path}.`)));
it('the designer has a control for every field of a program, or says why not', () => {
  expect(leaves.length).toBeGreaterThan(30);
  expect(leaves.filter((path) => !controls.includes(path) && !(path in withoutControl))).toEqual([]);
});

it('the designer has no control and no reason for a field that there is not', () => {
  expect(controls.filter((path) => !all.includes(path))).toEqual([]);
  expect(Object.keys(withoutControl).filter((path) => !leaves.includes(path) || controls.includes(path))).toEqual([]);
});
