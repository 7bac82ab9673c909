// The rows as a table of plain text, or of Markdown for the documents.
import type { PerProcess, Row, Spread } from './row.js';

const columns = [
  'scenario',
  'ours',
  'yardstick',
  'unit',
  'ratio',
  'goal',
  '',
  'p50 / p95 / p99 ms',
  'CPU s per 1,000: api / worker / mongodb / temporal',
  'MB',
];

const shownSpread = (spread: Spread | undefined): string =>
  spread ? `${spread.p50} / ${spread.p95} / ${spread.p99}` : '';

const shownProcesses = (per: PerProcess | undefined): string =>
  per ? [per.api, per.worker, per.mongodb, per.temporal].map((value) => value ?? '-').join(' / ') : '';

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
  row.goal,
  verdict(row),
  shownSpread(row.latency),
  shownProcesses(row.cpu),
  shownProcesses(row.memory),
];

export function markdownTable(rows: readonly Row[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(columns), line(columns.map(() => '---')), ...rows.map((row) => line(cellsOf(row)))].join('\n');
}

export function printTable(rows: readonly Row[]): void {
  const table = [columns, ...rows.map(cellsOf)];
  const widths = columns.map((_, at) => Math.max(...table.map((cells) => cells[at]?.length ?? 0)));
  for (const cells of table)
    console.log(
      cells
        .map((cell, at) => cell.padEnd(widths[at] ?? 0))
        .join('  ')
        .trimEnd(),
    );
  for (const { scenario, note } of rows) if (note) console.log(`  ${scenario}: ${note}`);
  for (const { scenario, reason } of rows) if (reason) console.log(`  NO, ${scenario}: ${reason}`);
}
