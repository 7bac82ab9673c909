// Numbers by day, drawn by uPlot, with a table of the same numbers: bars for one series, lines for several. The library is
// loaded after the page is shown.
import { useEffect, useRef, useState } from 'react';
import type UPlot from 'uplot';
import { locale } from '../language.js';
import { texts } from '../texts.js';
import { number } from './page.js';
import { Table } from './table.js';

export interface Series {
  title: string;
  values: readonly number[];
}

interface PlotProps {
  title: string;
  /** ISO dates. */
  days: readonly string[];
  series: readonly Series[];
}

type Library = typeof UPlot;
let library: Promise<Library> | undefined;

/** Undefined until the library is loaded; null when its script is gone, as after the start of a newer version. */
function useLibrary(): Library | undefined | null {
  const [loaded, setLoaded] = useState<Library | null>();
  useEffect(() => {
    library ??= import('uplot').then((module) => module.default);
    library
      .then((found) => setLoaded(() => found))
      .catch(() => {
        library = undefined;
        setLoaded(null);
      });
  }, []);
  return loaded;
}

const dayOfYear = new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'numeric', timeZone: 'UTC' });
const wholeDay = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone: 'UTC' });
const height = 180;
const halfDay = 43_200;
const powers = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000];
const strokes = ['--accent', '--wait', '--bad', '--good'];

export function Plot({ title, days, series }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const Lines = useLibrary();
  const drawn = JSON.stringify({ days, series });
  useEffect(() => {
    const element = place.current;
    if (!element || !Lines) return;
    const style = getComputedStyle(element);
    const probe = document.createElement('span');
    element.append(probe);
    // A custom property may contain light-dark(); the browser resolves it where it is used.
    const color = (name: string) => {
      probe.style.color = `var(${name})`;
      return getComputedStyle(probe).color;
    };
    const { days: x, series: lines } = JSON.parse(drawn) as Pick<PlotProps, 'days' | 'series'>;
    const axis = {
      ...{ stroke: style.color, font: `12px ${style.fontFamily}` },
      ...{ grid: { stroke: color('--line'), width: 1 }, ticks: { show: false } },
    };
    const plot = new Lines(
      {
        width: element.clientWidth,
        height,
        legend: { show: false },
        cursor: { show: false },
        // A day is one of a calendar, wherever the browser is.
        tzDate: (seconds) => Lines.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
        // With room above the highest day, and whole numbers alone.
        scales: {
          // The bar of the first and of the last day is whole.
          x: { range: (_, min, max) => [min - halfDay, max + halfDay] },
          y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] },
        },
        axes: [
          { ...axis, values: (_, days) => days.map((seconds) => dayOfYear.format(seconds * 1_000)) },
          {
            ...axis,
            size: 56,
            values: (_, amounts) => amounts.map(number),
            incrs: [1, 2, 5].flatMap((step) => powers.map((ten) => step * ten)).sort((a, b) => a - b),
          },
        ],
        series: [
          {},
          ...lines.map(({ title: label }, index) => ({
            label,
            stroke: color(strokes[index] ?? '--ink'),
            ...(lines.length === 1 && Lines.paths.bars
              ? {
                  width: 0,
                  fill: color('--accent'),
                  paths: Lines.paths.bars({ size: [0.7, 32] }),
                  points: { show: false },
                }
              : { width: 2 }),
            ...(index > 0 && { dash: [6, 3 * index] }),
          })),
        ],
      },
      [x.map((day) => Date.parse(day) / 1_000), ...lines.map(({ values }) => [...values])],
      element,
    );
    probe.remove();
    const resized = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [drawn, Lines]);
  const rows = days.map((day, index) => ({ day, values: series.map(({ values }) => values[index] ?? 0) })).reverse();
  return (
    <>
      <div
        role="img"
        aria-label={texts.plots.of(
          title,
          series.map((one) => one.title),
        )}
      >
        <ul className="legend" aria-hidden="true" hidden={series.length === 1}>
          {series.map((one, index) => (
            <li key={one.title}>
              <span className={`stroke stroke-${index}`} />
              {one.title}
            </li>
          ))}
        </ul>
        <div className="plot" ref={place} />
      </div>
      {Lines === null && (
        <p className="hint" role="status">
          {texts.plots.gone}
        </p>
      )}
      <details>
        <summary>{texts.plots.table(title)}</summary>
        <Table
          name={title}
          rows={rows}
          keyOf={({ day }) => day}
          empty={texts.plots.none}
          columns={[
            { title: texts.plots.day, cell: ({ day }) => wholeDay.format(Date.parse(day)) },
            ...series.map((one, index) => ({
              title: one.title,
              numeric: true,
              cell: ({ values }: { values: number[] }) => number(values[index] ?? 0),
            })),
          ]}
        />
      </details>
    </>
  );
}
