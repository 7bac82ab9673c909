// The first steps of a new merchant, until a customer had a stamp.
import { Link } from 'wouter';
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Failure, Panel, Skeleton } from '../parts/page.js';
import { may } from '../session.js';
import { texts } from '../texts.js';

const said = texts.overview;

/** Programs that are asked for their live version; somebody who has more is not new. */
const most = 10;

/** The first program that is published. Who may not edit programs gets no others. */
async function findPublished(ids: readonly string[]): Promise<{ id: string | null }> {
  if (!may('merchants.programs:edit')) return { id: ids[0] ?? null };
  const drafts = await Promise.all(
    ids.slice(0, most).map((id) => data(api.GET('/merchants/me/programs/{id}/draft', { params: { path: { id } } }))),
  );
  return { id: ids[drafts.findIndex(({ liveVersion }) => liveVersion !== null)] ?? null };
}

export function FirstSteps({ programs }: { programs: readonly { _id: string }[] | undefined }) {
  const ids = programs?.map(({ _id }) => _id);
  const found = useRead(['programs', 'published', ids], () => findPublished(ids ?? []), { enabled: ids !== undefined });
  if (found.error) return <Failure error={found.error} />;
  if (!ids || !found.data) return <Skeleton />;
  const published = found.data.id;
  const card = published ?? ids[0];
  const toCard = card === undefined ? '/programs' : `/programs/${card}`;
  const steps = [
    { title: said.design, hint: said.designHint, to: toCard, isDone: card !== undefined },
    { title: said.publish, hint: said.publishHint, to: toCard, isDone: published !== null },
    { title: said.firstStamp, hint: said.firstStampHint, to: '/members', isDone: false },
  ];
  return (
    <Panel title={said.steps}>
      <ol className="steps">
        {steps.map(({ title, hint, to, isDone }, index) => (
          <li key={title} className={isDone ? 'done' : ''}>
            <span className="tick">
              <span aria-hidden="true">{isDone ? '✓' : index + 1}</span>
              <span className="unseen">{isDone ? said.done : said.notDone}</span>
            </span>
            <div>
              <Link href={to}>{title}</Link>
              <p className="hint">{hint}</p>
            </div>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
