// Prints the rows of the bench as lines for the terminal with fixed column widths, and as a Markdown table for the
// documents.
import { type PerProcess, processNames, type Ratios, type Row, type SizeCost, type Spread } from './row.js';

const columns = [
  'scenario',
  'ours',
  'yardstick',
  'unit',
  'ratio',
  'of the rounds: min / median / max',
  'goal',
  '',
  'p50 / p95 / p99 ms',
  'CPU s per 1,000: api / worker / mongodb / temporal',
  'MB',
  'at each size (yardstick)',
];

const shownSpread = (spread: Spread | undefined): string =>
  spread ? `${spread.p50} / ${spread.p95} / ${spread.p99}` : '';

const shownRatios = (ratios: Ratios | undefined): string =>
  ratios ? `${ratios.min} / ${ratios.median} / ${ratios.max}` : '';

const shownProcesses = (per: PerProcess | undefined): string =>
  per ? [per.api, per.worker, per.mongodb, per.temporal].map((value) => value ?? '-').join(' / ') : '';

const shownSizes = (sizes: readonly SizeCost[] = []): string =>
  sizes
    .map(
      ({ size, ours, yardstick }) =>
        `${size.toLocaleString('en')}: ${ours}${yardstick === null ? '' : ` (${yardstick})`}`,
    )
    .join('; ');

const verdict = ({ reached }: Row): string => {
  if (reached === undefined) return '';
  return reached ? 'yes' : 'NO';
};

const cellsOf = (row: Row): string[] => [
  row.scenario,
  String(row.ours),
  String(row.yardstick ?? '-'),
  row.unit,
  String(row.ratio ?? '-'),
  shownRatios(row.ratios),
  row.goal,
  verdict(row),
  shownSpread(row.latency),
  shownProcesses(row.cpu),
  shownProcesses(row.memory),
  shownSizes(row.sizes),
];

export function markdownTable(rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map((row) => line(cellsOf(row)))].join('\n');
}

const widths = [9, 10, 21, 8, 24, 17, 4];
const inColumns = (cells: readonly string[]): string =>
  cells
    .map((cell, at) => `${cell.padEnd((widths[at] ?? 0) - 1)} `)
    .join('')
    .trimEnd();

export const heading = inColumns(['ours', 'yardstick', 'unit', 'ratio', 'min / median / max', 'goal', '', 'scenario']);

/** Prints one line for each row; further measurements and the reason for a missed goal follow below the line. */
export function printRows(rows: readonly Row[]): void {
  for (const row of rows) {
    const [scenario = '', ours = '', yardstick = '', unit = '', ratio = '', ratios = '', goal = '', yes = ''] =
      cellsOf(row);
    console.log(inColumns([ours, yardstick, unit, ratio, ratios, goal, yes, scenario]));
    const more = [
      row.latency && `p50 / p95 / p99 ${shownSpread(row.latency)} ms`,
      row.yardstickLatency && `the yardstick's ${shownSpread(row.yardstickLatency)} ms`,
      row.cpu && `CPU s per 1,000 (${processNames.join(' / ')}): ${shownProcesses(row.cpu)}`,
      row.memory && `MB: ${shownProcesses(row.memory)}`,
      row.sizes && `at each size (yardstick) ${shownSizes(row.sizes)}`,
    ].filter(Boolean);
    if (more.length > 0) console.log(`  ${more.join('; ')}`);
    if (row.note) console.log(`  ${row.note}`);
    if (row.reason) console.log(`  NO: ${row.reason}`);
  }
}
