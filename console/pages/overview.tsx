// The overview: what an owner asks first in large numbers, each of which leads to the list behind it, then days as
// bars. A new merchant sees the first steps instead.
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { Link } from 'wouter';
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Select } from '../parts/form.js';
import { Failure, isNarrow, number, OpenTill, Page, Panel, Skeleton } from '../parts/page.js';
import { Plot } from '../parts/plot.js';
import { RowLink, Table } from '../parts/table.js';
import { may } from '../session.js';
import { optionsOf, texts } from '../texts.js';
import { FirstSteps } from './firstSteps.js';

const said = texts.overview;

const Counter = lazy(async () => ({ default: (await import('../parts/counter.js')).Counter }));

const dayMs = 86_400_000;
const week = 7;

/**
 * In UTC. The server ends a range today in the time zone of the programs, so it has a day more or less while the date
 * there is another one.
 */
const daysAgo = (days: number): string => new Date(Date.now() - (days - 1) * dayMs).toISOString().slice(0, 10);

function readStats({ from, programId }: { from: string; programId?: string }) {
  return data(api.GET('/merchants/me/stats', { params: { query: { from, ...(programId && { programId }) } } }));
}
type Stats = Awaited<ReturnType<typeof readStats>>;
type Counts = Stats['totals'];
type Lists = Awaited<ReturnType<typeof readLists>>;
type Audience = 'today' | 'returning' | 'rewarded' | 'joined' | 'nearlyFull' | 'away';

const listed = ['returning', 'nearlyFull', 'away'] as const;

/** How many members the lists behind the numbers have. */
async function readLists(programId: string) {
  const totals = await Promise.all(
    listed.map(async (audience) => {
      const query = { audience, pageSize: 1, ...(programId && { programId }) };
      const { total } = await data(api.GET('/merchants/me/members', { params: { query } }));
      return [audience, total] as const;
    }),
  );
  return Object.fromEntries(totals) as Record<(typeof listed)[number], number>;
}

/** The sum of a number in the last 7 days, and in the 7 days before. */
function weeksOf({ days }: Stats, of: (counts: Counts) => number): { now: number; before: number } {
  const sum = (some: Stats['days']) => some.reduce((all, day) => all + of(day), 0);
  return { now: sum(days.slice(-week)), before: sum(days.slice(-2 * week, -week)) };
}

function changeOf({ now, before }: { now: number; before: number }): string {
  if (now === before) return said.same;
  return before === 0 ? said.noneBefore : said.change(Math.round(((now - before) / before) * 100));
}

interface FigureProps {
  label: string;
  value: number;
  audience: Audience;
  programId: string;
  children: ReactNode;
}

function Figure({ label, value, audience, programId, children }: FigureProps) {
  const query = new URLSearchParams({ audience, ...(programId && { programId }) });
  return (
    <Link className="figure" href={`/members?${query}`}>
      <span className="label">{label}</span>
      <strong>{number(value)}</strong>
      <span className="change">{children}</span>
    </Link>
  );
}

interface FiguresProps {
  stats: Stats;
  lists: Lists;
  programId: string;
  isStamps: (programId: string | null) => boolean;
}

function Figures({ stats, lists, programId, isStamps }: FiguresProps) {
  const { days } = stats;
  const visitsOn = (ago: number) => days.at(-1 - ago)?.visits.all ?? 0;
  const returning = weeksOf(stats, ({ visits }) => visits.returning);
  const joined = weeksOf(stats, ({ members }) => members.joined);
  const rewards = weeksOf(stats, ({ redeems }) => redeems);
  const figure = { programId };
  const costs = useCosts({ from: days.at(-week)?.day ?? stats.from, programId, isStamps });
  return (
    <section className="figures" aria-label={said.numbers}>
      <Figure {...figure} audience="today" label={said.today} value={visitsOn(0)}>
        {said.dayBefore(visitsOn(week))}
      </Figure>
      <Figure {...figure} audience="returning" label={said.returning} value={lists.returning}>
        {said.visits(returning.now)}, {changeOf(returning)}
      </Figure>
      <Figure {...figure} audience="joined" label={said.joined} value={joined.now}>
        {changeOf(joined)}
      </Figure>
      <Figure {...figure} audience="rewarded" label={said.rewarded} value={rewards.now}>
        {costs !== undefined && `${said.cost(costs)}, `}
        {changeOf(rewards)}
      </Figure>
      <Figure {...figure} audience="nearlyFull" label={said.nearlyFull} value={lists.nearlyFull}>
        {said.nearlyFullHint}
      </Figure>
      <Figure {...figure} audience="away" label={said.away} value={lists.away}>
        {said.awayHint}
      </Figure>
    </section>
  );
}

/** What the rewards from a day on cost, stamps and points apart. */
function useCosts({
  from,
  programId,
  isStamps,
}: Pick<FiguresProps, 'programId' | 'isStamps'> & { from: string }): string | undefined {
  const stats = useRead(['stats', from, programId], () => readStats({ from, programId }), live);
  if (!stats.data) return undefined;
  const spent = (stamps: boolean) =>
    stats.data?.programs
      .filter((row) => isStamps(row.programId) === stamps)
      .reduce((sum, { points }) => sum + points.spent, 0) ?? 0;
  return [true, false].flatMap((stamps) => (spent(stamps) > 0 ? [said.amount(spent(stamps), stamps)] : [])).join(', ');
}

const month = '30';
const live = { keep: true, everyMs: 30_000 };

/** Whether a customer came in the last 30 days, or there are members who were seen last before that. */
const isStarted = ({ totals: { visits, redeems } }: Stats, { away }: Lists): boolean =>
  visits.all > 0 || redeems > 0 || away > 0;

const plots = [
  [said.visitsByDay, ({ visits }: Counts) => visits.all],
  [said.newMembers, ({ members }: Counts) => members.joined],
  [said.rewards, ({ redeems }: Counts) => redeems],
] as const;

export function Overview() {
  const [days, setDays] = useState<string>(month);
  const [programId, setProgramId] = useState('');
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  // What is shown first is asked for once.
  const ofAll = useRead(['stats', month, ''], () => readStats({ from: daysAgo(Number(month)) }), live);
  const listsOfAll = useRead(['members', 'lists', ''], () => readLists(''), live);
  const stats = useRead(['stats', days, programId], () => readStats({ from: daysAgo(Number(days)), programId }), live);
  const lists = useRead(['members', 'lists', programId], () => readLists(programId), live);
  const styles = new Map((programs.data ?? []).map(({ _id, style }) => [_id, style]));
  const isStamps = (id: string | null) => styles.get(id ?? '') === 'stamps';
  const nameOf = (id: string | null) => programs.data?.find(({ _id }) => _id === id)?.name ?? id ?? said.noProgram;
  const [isAtCounter] = useState(() => isNarrow() && may('till:use'));
  const [all, allLists] = [ofAll.data, listsOfAll.data];
  const isNew = all && allLists && !isStarted(all, allLists);
  const isEmpty = isNew && all.totals.members.enrolled === 0;
  return (
    <Page title={texts.nav.overview} actions={!isAtCounter && <OpenTill />}>
      {isAtCounter && (
        <Suspense fallback={<Skeleton />}>
          <Counter />
        </Suspense>
      )}
      <Failure error={stats.error ?? lists.error ?? ofAll.error ?? listsOfAll.error ?? programs.error} />
      {isNew && <FirstSteps programs={programs.data} />}
      {!isEmpty &&
        (stats.data && lists.data && allLists ? (
          <Figures stats={stats.data} lists={lists.data} programId={programId} isStamps={isStamps} />
        ) : (
          <section aria-label={said.numbers}>
            <Skeleton />
          </section>
        ))}
      {all && !isEmpty && (
        <>
          <p className="hint">{said.hint}</p>
          <div className="fields">
            <Select name="days" label={said.days} value={days} options={optionsOf(said.ranges)} onChange={setDays} />
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
          <div className="columns plots">
            {plots.map(([title, of]) => (
              <Panel key={title} title={title}>
                {stats.data ? (
                  <Plot
                    title={title}
                    days={stats.data.days.map(({ day }) => day)}
                    series={[{ title, values: stats.data.days.map(of) }]}
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
                rows={stats.data.programs.filter((row) => row.programId !== null)}
                keyOf={({ programId: id }) => id ?? ''}
                empty={texts.plots.none}
                columns={[
                  {
                    title: texts.members.program,
                    cell: (row) => <RowLink to={`/programs/${row.programId}`}>{nameOf(row.programId)}</RowLink>,
                    sort: (row) => nameOf(row.programId),
                  },
                  {
                    title: said.visitsByDay,
                    numeric: true,
                    cell: ({ visits }) => number(visits.all),
                    sort: ({ visits }) => visits.all,
                  },
                  {
                    title: said.newMembers,
                    numeric: true,
                    cell: ({ members }) => number(members.joined),
                    sort: ({ members }) => members.joined,
                  },
                  {
                    title: said.onPhones,
                    numeric: true,
                    cell: ({ installs }) => number(installs.apple + installs.google),
                    sort: ({ installs }) => installs.apple + installs.google,
                  },
                  {
                    title: said.rewards,
                    numeric: true,
                    cell: ({ redeems }) => number(redeems),
                    sort: ({ redeems }) => redeems,
                  },
                  ...(['given', 'spent', 'expired'] as const).map((name) => ({
                    title: { given: said.given, spent: said.forRewards, expired: said.expired }[name],
                    numeric: true,
                    cell: ({ programId: id, points }: Stats['programs'][number]) =>
                      said.amount(points[name], isStamps(id)),
                    sort: ({ points }: Stats['programs'][number]) => points[name],
                  })),
                ]}
              />
            </Panel>
          )}
        </>
      )}
    </Page>
  );
}
