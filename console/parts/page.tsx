// The frame of a page: its heading, which gets the focus after navigation, and small parts that many pages use.
import { Fragment, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { LoyaltyError } from '../../sdk/index.js';
import { serviceUrl } from '../api.js';
import { language, locale } from '../language.js';
import { refusalOf } from '../refusals.js';
import { lacking, may, type Permission } from '../session.js';
import { wordsIn } from '../texts/words.js';
import { texts } from '../texts.js';
import { Windows } from './dialog.js';

const words = wordsIn(language);

/** The path of the previous page; undefined on the first page, which leaves the focus unchanged. */
let shownBefore: string | undefined;

interface PageProps {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  back?: { to: string; title: string };
  children: ReactNode;
}

export function Page({ title, lead, actions, back, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    const here = window.location.pathname;
    if (shownBefore !== undefined && shownBefore !== here) heading.current?.focus();
    shownBefore = here;
  }, []);
  useEffect(() => {
    document.title = `${title} - ${texts.frame.product}`;
  }, [title]);
  return (
    <Windows>
      <header className="title">
        {back && (
          <Link className="back" href={back.to}>
            {back.title}
          </Link>
        )}
        <div className="row between">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {actions && <div className="row">{actions}</div>}
        </div>
        {lead !== undefined && <p className="lead">{lead}</p>}
      </header>
      {children}
    </Windows>
  );
}

/** The till is a page of its own beside the console. */
export function OpenTill() {
  if (!may('till:use')) return null;
  return (
    <a className="button primary" href={`${serviceUrl}/till`}>
      {texts.till.open}
    </a>
  );
}

/** The failure of a read, if any. */
export function Failure({ error }: { error: Error | null }) {
  if (!error) return null;
  const { code = '', details } = error instanceof LoyaltyError ? error : {};
  const missing = (details as { missing?: string[] } | undefined)?.missing;
  const sentence = code === 'NETWORK' ? texts.frame.notAnswered : refusalOf(error);
  return (
    <p className="banner failed" role="alert">
      {missing ? texts.frame.notAllowed(missing.join(', ')) : sentence}
    </p>
  );
}

/** In the place of what is being loaded. */
export function Skeleton() {
  return (
    <p className="skeleton" role="status">
      <span className="unseen">{texts.frame.loading}</span>
    </p>
  );
}

/** An address that breaks after its punctuation instead of inside a word. */
export function Address({ children }: { children: string }) {
  return children.split(/(?<=[@./:_?&=-])(?=\w)/).map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts are neither added nor moved
    <Fragment key={index}>
      {index > 0 && <wbr />}
      {part}
    </Fragment>
  ));
}

/** In em, so that large text gets the narrow page too. */
const narrow = '(max-width: 47.5em)';
export const isNarrow = (): boolean => matchMedia(narrow).matches;

/** Decided when it is shown: a tablet that is turned keeps a form that is filled in. */
const useNarrow = (): boolean => useState(isNarrow)[0];

/** Open next to a list on a wide screen; on a narrow one behind its title, so that the list comes first. */
export function Fold({ title, children }: { title: string; children: ReactNode }) {
  if (!useNarrow()) return children;
  return (
    <details className="fold">
      <summary>{title}</summary>
      {children}
    </details>
  );
}

const day = new Intl.DateTimeFormat(locale, { dateStyle: 'medium' });
const time = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });
/** A line may end between day and time only. */
const unbroken = (text: string) => text.replaceAll(/\s/g, '\u00a0');

/** What only those who look into something want to know, in the words of the service: English. Open where it warns. */
export const Technical = ({ isOpen = false, children }: { isOpen?: boolean; children: ReactNode }) => (
  <details open={isOpen}>
    <summary>{texts.member.technical}</summary>
    <div lang="en">{children}</div>
  </details>
);

export const None = () => <span className="none">{texts.frame.none}</span>;

export function Moment({ at, dayOnly = false }: { at: string | null | undefined; dayOnly?: boolean }) {
  if (!at) return <None />;
  const date = new Date(at);
  const parts = dayOnly ? [day.format(date)] : [`${day.format(date)},`, time.format(date)];
  return <time dateTime={at}>{parts.map(unbroken).join(' ')}</time>;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;
const steps = [
  ['day', dayMs],
  ['hour', 3_600_000],
  ['minute', minuteMs],
] as const;
const relative = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' });
/** Before that the day says more. */
const recentDays = 30;
const lookMs = 10_000;

const midnight = (at: number) => new Date(at).setHours(0, 0, 0, 0);

function agoOf(at: number, now: number, dayOnly: boolean): string | undefined {
  const days = dayOnly ? Math.round((midnight(now) - midnight(at)) / dayMs) : Math.floor((now - at) / dayMs);
  if (days > recentDays) return undefined;
  if (dayOnly) return relative.format(-days, 'day');
  const [unit, ms] = steps.find(([, size]) => now - at >= size) ?? [];
  return unit === undefined ? texts.frame.justNow : relative.format(-Math.floor((now - at) / ms), unit);
}

interface AgoProps {
  at: string | null | undefined;
  dayOnly?: boolean;
}

/** How long ago a moment was; the exact one is its title. One to come is shown exactly. */
export function Ago({ at, dayOnly = false }: AgoProps) {
  const now = useNow(lookMs);
  if (!at) return <None />;
  const date = new Date(at);
  if (date.getTime() > now + minuteMs) return <Moment at={at} dayOnly={dayOnly} />;
  return (
    <time dateTime={at} title={date.toLocaleString(locale)}>
      {unbroken(agoOf(date.getTime(), now, dayOnly) ?? day.format(date))}
    </time>
  );
}

/** The present time, read again at this interval. */
export function useNow(everyMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export const { number } = words;

export function Badge({ kind, children }: { kind: 'good' | 'bad' | 'wait' | 'plain'; children: ReactNode }) {
  return <span className={`badge ${kind}`}>{children}</span>;
}

interface PanelProps {
  title: string;
  children: ReactNode;
  actions?: ReactNode;
  /** Nothing is shown to a user without one of these permissions. */
  needs?: Permission | readonly Permission[];
  /** Shows which permission is missing: to somebody who may do the rest of the page. */
  explains?: boolean;
  /** On a narrow screen only the title is shown at first. */
  folds?: boolean;
}

export function Panel({ title, children, actions, needs = [], explains = false, folds = false }: PanelProps) {
  const missing = lacking(...[needs].flat());
  const isOpen = missing === undefined;
  const isFolded = useNarrow() && folds;
  if (!isOpen && !explains) return null;
  if (isFolded && isOpen)
    return (
      <section className="panel" aria-label={title}>
        <details className="fold">
          <summary>
            <h2>{title}</h2>
          </summary>
          {children}
        </details>
      </section>
    );
  return (
    <section className="panel" aria-label={title}>
      <div className="row between">
        <h2>{title}</h2>
        {isOpen && actions && <div className="row">{actions}</div>}
      </div>
      {isOpen ? children : <p className="hint">{texts.frame.notAllowed(missing)}</p>}
    </section>
  );
}

/** Labels with their values. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

export function Progress({ label, percent }: { label: string; percent: number }) {
  return (
    <div className="progress">
      <progress aria-label={label} max={100} value={percent} />
      <span>{words.percent(percent)}</span>
    </div>
  );
}
