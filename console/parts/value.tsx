// One value of a record as people read it, and from what to what a value changed.
import type { ReactNode } from 'react';
import { changedField } from '../changedFields.js';
import { locale } from '../language.js';
import { texts } from '../texts.js';
import { Address, Facts, Moment, None, number } from './page.js';

export type Words = Readonly<Record<string, string | undefined>>;

const lists = new Intl.ListFormat(locale, { type: 'unit', style: 'short' });
const aMoment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** `words` has those of an enumeration. */
export function Value({ value, words = {} }: { value: unknown; words?: Words | undefined }): ReactNode {
  if (value === undefined || value === null || value === '') return <None />;
  if (typeof value === 'boolean') return value ? texts.memberData.yes : texts.memberData.no;
  if (typeof value === 'number') return number(value);
  if (Array.isArray(value))
    return value.length === 0 ? <None /> : lists.format(value.map((one) => words[String(one)] ?? String(one)));
  if (typeof value === 'object') return <code>{JSON.stringify(value)}</code>;
  const text = String(value);
  if (words[text] !== undefined) return words[text];
  return aMoment.test(text) ? <Moment at={text} /> : <Address>{text}</Address>;
}

interface Change {
  field: string;
  from?: unknown;
  to?: unknown;
}

interface ChangesProps {
  /** The first word of an action, such as `program`. */
  kind: string;
  changes: readonly Change[];
  /** Names of what the values are ids of. */
  names?: Words;
}

const most = 4;

/** Of many the first, the rest folded. A field without values is only named. */
export function Changes({ kind, changes, names = {} }: ChangesProps) {
  const shown = changes.map(({ field, from, to }): [string, ReactNode] => {
    const { label = field, words, divisor = 1 } = changedField(kind, field);
    const value = (one: unknown) => (
      <Value value={typeof one === 'number' ? one / divisor : one} words={{ ...names, ...words }} />
    );
    if (from === undefined && to === undefined) return [label, texts.audit.isChanged];
    return [
      label,
      <>
        {value(from)} <span aria-hidden="true">→</span>
        <span className="unseen">{texts.audit.becomes}</span> {value(to)}
      </>,
    ];
  });
  const rest = shown.slice(most);
  return (
    <>
      <Facts facts={shown.slice(0, most)} />
      {rest.length > 0 && (
        <details>
          <summary>{texts.audit.more(rest.length)}</summary>
          <Facts facts={rest} />
        </details>
      )}
    </>
  );
}
