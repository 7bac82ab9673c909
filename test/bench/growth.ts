// How what one operation costs grows with the number of members, merchants or subscriptions. The limit is that the work
// of all n of them together grows like n log n.
import { type Bench, log } from './bench.js';
import { type Row, round, type SizeCost } from './row.js';

/** A measured line of the table. More is worse. */
export interface Line {
  name: string;
  unit: string;
  /** Whether the cost is that of one of the n, or that of all n together. */
  of: 'one' | 'all';
  measure: () => Promise<Omit<SizeCost, 'size'>>;
}

/** The 1 is the part that does not grow, so that one alone has a cost, too. */
const nLogN = (n: number): number => n * (1 + Math.log2(n));

const exponent = (few: number, many: number, grown: number): number => Math.log(grown) / Math.log(many / few);

/** The greatest exponent from one size to another that is not faster than n log n. */
export const limitOf = (few: number, many: number): number => exponent(few, many, nLogN(many) / nLogN(few));

/** The exponent e with which the work of all n grows, as in n^e; undefined when a cost is not known or not positive. */
export function exponentOf(
  of: Line['of'],
  few: { size: number; cost: number | null },
  many: { size: number; cost: number | null },
): number | undefined {
  if (!few.cost || !many.cost || few.cost < 0 || many.cost < 0) return;
  return exponent(few.size, many.size, many.cost / few.cost) + (of === 'one' ? 1 : 0);
}

const shown = (size: number): string => size.toLocaleString('en');

/** The row of a line: its cost while only one size is measured, then its growth from the first size to the last. */
export function growthRow({ name, unit, of }: Omit<Line, 'measure'>, what: string, sizes: readonly SizeCost[]): Row {
  const [few, many] = [sizes[0], sizes.at(-1)];
  if (!few || !many) throw new Error(`Nothing was measured of ${name}.`);
  const from = `${name}, ${unit}, ${shown(few.size)}`;
  const row = { ratio: null, sizes: [...sizes] };
  if (few === many)
    return { ...row, scenario: `${from} ${what}`, ours: few.ours, yardstick: few.yardstick, unit, goal: 'none' };
  const grownBy = (side: 'ours' | 'yardstick') =>
    exponentOf(of, { size: few.size, cost: few[side] }, { size: many.size, cost: many[side] });
  const [ours, yardstick] = [grownBy('ours'), grownBy('yardstick')];
  const limit = limitOf(few.size, many.size);
  const isOver = (grown: number | undefined) => grown !== undefined && grown > limit;
  return {
    ...row,
    scenario: `${from} to ${shown(many.size)} ${what}: growth`,
    ours: round(ours ?? 0),
    yardstick: yardstick === undefined ? null : round(yardstick),
    unit: 'exponent',
    goal: `<= ${round(limit)}`,
    ...(ours !== undefined && { reached: !isOver(ours) }),
    ...(ours === undefined && { note: 'Not measured.' }),
    ...(isOver(ours) && { note: `Grows faster than n log n${isOver(yardstick) ? ', as its yardstick does' : ''}.` }),
  };
}

/** Sizes as they are written on the command line, smallest first. Throws when one is not a positive whole number. */
export function sizesOf(text: string): number[] {
  const sizes = text.split(',').map(Number);
  const wrong = sizes.find((size) => !Number.isSafeInteger(size) || size < 1);
  if (wrong !== undefined) throw new Error(`${text} are not sizes: positive whole numbers with commas between.`);
  return [...new Set(sizes)].sort((a, b) => a - b);
}

export interface Growth {
  /** What there is more and more of. */
  what: string;
  sizes: readonly number[];
  /** Brings the data to this size. Each size has the same lines. */
  at: (size: number) => Promise<{ lines: readonly Line[]; close: () => Promise<unknown> }>;
}

/** Measures each line at each size; reports the rows after each measurement. */
export async function measureGrowth({ soFar }: Pick<Bench, 'soFar'>, { what, sizes, at }: Growth): Promise<Row[]> {
  const known = new Map<string, { line: Line; costs: SizeCost[] }>();
  const rows = () => [...known.values()].map(({ line, costs }) => growthRow(line, what, costs));
  for (const size of sizes) {
    log(`  ${shown(size)} ${what} ...`);
    const { lines, close } = await at(size);
    for (const line of lines) {
      const measured = await line.measure();
      const { costs } = known.get(line.name) ?? { costs: [] };
      const ours = round(measured.ours, 3);
      const yardstick = measured.yardstick === null ? null : round(measured.yardstick, 3);
      known.set(line.name, { line, costs: [...costs, { size, ours, yardstick }] });
      log(`    ${line.name}: ${ours} ${line.unit}${yardstick === null ? '' : ` (${yardstick})`}`);
      soFar(rows());
    }
    await close();
  }
  return rows();
}
