// The overview: what happened by day and by program, as plots with a table behind each.
import { lazy, Suspense, useState } from 'react';
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Select } from '../parts/form.js';
import { Facts, Failure, isNarrow, number, OpenTill, Page, Panel, Skeleton } from '../parts/page.js';
import { Plot, type Series } from '../parts/plot.js';
import { Table } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';

const said = texts.overview;

const Counter = lazy(async () => ({ default: (await import('../parts/counter.js')).Counter }));

const readStats = (query: { from: string; to: string; programId?: string }) =>
  data(api.GET('/merchants/me/stats', { params: { query } }));
type Counts = Awaited<ReturnType<typeof readStats>>['totals'];

type Unit = keyof typeof said.units;

interface Plotted {
  title: string;
  series: readonly (readonly [string, (counts: Counts) => number])[];
}

const plotsIn = (unit: Unit): readonly Plotted[] => [
  { title: said.members, series: [[said.enrolled, ({ members }) => members.enrolled]] },
  {
    title: said.installs,
    series: [
      [said.apple, ({ installs }) => installs.apple],
      [said.google, ({ installs }) => installs.google],
    ],
  },
  {
    title: said.units[unit],
    series: [
      [said.given, ({ points }) => points.given],
      [said.spent, ({ points }) => points.spent],
      [said.expired, ({ points }) => points.expired],
    ],
  },
  { title: said.redeems, series: [[said.redeems, ({ redeems }) => redeems]] },
  {
    title: said.deliveries,
    series: [
      [said.succeeded, ({ deliveries }) => deliveries.succeeded],
      [said.failedAttempts, ({ deliveries }) => deliveries.failedAttempts],
      [said.exhausted, ({ deliveries }) => deliveries.exhausted],
    ],
  },
];

/** What the programs count. */
function unitOf(styles: readonly string[]): Unit {
  const stamps = styles.filter((style) => style === 'stamps').length;
  if (stamps === 0) return 'points';
  return stamps === styles.length ? 'stamps' : 'both';
}

const dayMs = 86_400_000;

export function Overview() {
  const [days, setDays] = useState('30');
  const [programId, setProgramId] = useState('');
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const stats = useRead(
    ['stats', days, programId],
    () => {
      const now = Date.now();
      const day = (at: number) => new Date(at).toISOString().slice(0, 10);
      const range = { from: day(now - (Number(days) - 1) * dayMs), to: day(now) };
      return readStats({ ...range, ...(programId && { programId }) });
    },
    { keep: true, everyMs: 30_000 },
  );
  const nameOf = (id: string | null) => programs.data?.find(({ _id }) => _id === id)?.name ?? id ?? said.noProgram;
  const chosen = (programs.data ?? []).filter(({ _id }) => programId === '' || _id === programId);
  const plots = plotsIn(programs.data ? unitOf(chosen.map(({ style }) => style)) : 'both');
  const [isAtCounter] = useState(() => isNarrow() && may('till:use'));
  const { totals, days: counted = [] } = stats.data ?? {};
  return (
    <Page title={texts.nav.overview} actions={!isAtCounter && <OpenTill />}>
      {isAtCounter && (
        <Suspense fallback={<Skeleton />}>
          <Counter />
        </Suspense>
      )}
      <Failure error={stats.error} />
      <div className="fields">
        <Select name="days" label={said.days} value={days} options={said.ranges} onChange={setDays} />
        <Select
          name="programId"
          label={texts.members.program}
          value={programId}
          options={[
            ['', texts.members.allPrograms],
            ...(programs.data ?? []).map(({ _id, name }) => [_id, name] as const),
          ]}
          onChange={setProgramId}
        />
      </div>
      <Panel title={said.totals}>
        {totals ? (
          <Facts
            facts={plots.flatMap(({ title, series }) =>
              series.map(
                ([label, of]) => [series.length === 1 ? title : `${title}: ${label}`, number(of(totals))] as const,
              ),
            )}
          />
        ) : (
          <Skeleton />
        )}
        <p className="hint">{said.reversedHint}</p>
      </Panel>
      <div className="columns">
        {plots.map(({ title, series }) => (
          <Panel key={title} title={title}>
            {stats.data ? (
              <Plot
                title={title}
                days={counted.map(({ day }) => day)}
                series={series.map(([label, of]): Series => ({ title: label, values: counted.map(of) }))}
              />
            ) : (
              <Skeleton />
            )}
          </Panel>
        ))}
      </div>
      {stats.data && (
        <Panel title={said.byProgram}>
          <Table
            name={said.byProgram}
            rows={stats.data.programs}
            keyOf={({ programId: id }) => id ?? ''}
            empty={texts.plots.none}
            columns={[
              { title: texts.members.program, cell: (row) => nameOf(row.programId) },
              { title: said.enrolled, numeric: true, cell: ({ members }) => number(members.enrolled) },
              { title: said.installs, numeric: true, cell: ({ installs }) => number(installs.apple + installs.google) },
              { title: said.given, numeric: true, cell: ({ points }) => number(points.given) },
              { title: said.spent, numeric: true, cell: ({ points }) => number(points.spent) },
              { title: said.redeems, numeric: true, cell: ({ redeems }) => number(redeems) },
            ]}
          />
        </Panel>
      )}
    </Page>
  );
}
