// Every hop of the latest changes, in milliseconds after the change.
import { type Change, changesOf, type Hop } from '../hops.js';
import { locale } from '../language.js';
import { Panel } from '../parts/page.js';
import { texts } from '../texts.js';
import { deskUrl } from './deskProcess.js';

const said = texts.desk;

/** Steps whose detail is a request. */
const technical: readonly Hop['what'][] = ['add', 'register', 'list', 'fetch'];

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });

export function Log({ hops }: { hops: readonly Hop[] }) {
  const changes = changesOf(hops);
  return (
    <Panel title={said.log}>
      {changes.length === 0 && <p className="empty">{said.noHops}</p>}
      <div className="hops">
        {changes.map((change) => (
          <Group key={change.start.id} change={change} />
        ))}
      </div>
      <p className="hint">{said.logHint}</p>
    </Panel>
  );
}

function Group({ change: { start, steps } }: { change: Change }) {
  const title = said.hop(start);
  return (
    <section aria-label={title}>
      <h3>
        <time dateTime={new Date(start.at).toISOString()}>{clock.format(start.at)}</time>{' '}
        {start.mail === undefined ? (
          title
        ) : (
          <a href={`${deskUrl}/mails/${start.mail}`} target="_blank" rel="noreferrer">
            {title}
          </a>
        )}
      </h3>
      {start.what === 'changed' && steps.length === 0 && <p className="hint">{said.underWay}</p>}
      {steps.length > 0 && (
        <ol>
          {steps.map((hop) => (
            <li key={hop.id}>
              <span className="number">{said.after(hop.at - start.at)}</span>
              <span>
                {said.hop(hop)} {technical.includes(hop.what) && <small className="hint">{hop.detail}</small>}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
