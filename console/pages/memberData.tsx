// Everything that is kept about one person, to be read and printed: the document of the export, section by
// section.
import type { ReactNode } from 'react';
import { useParams } from 'wouter';
import { useRead } from '../actions.js';
import { api, apiUrl, data } from '../api.js';
import { Facts, Failure, Moment, Page, Panel, Skeleton } from '../parts/page.js';
import { Value } from '../parts/value.js';
import { texts } from '../texts.js';
import { keptFields } from './memberDataFields.js';
import { nameOf } from './members.js';

const said = texts.memberData;

const readExport = (id: string) => data(api.GET('/merchants/me/members/{id}/export', { params: { path: { id } } }));
const titles: Record<string, string> = said.sections;

type Leaf = readonly [path: string, value: unknown];

/** The values of a row by their paths; a list of single values is one. */
function leavesOf(value: unknown, path = ''): Leaf[] {
  const isSingle = typeof value !== 'object' || value === null;
  if (isSingle || (Array.isArray(value) && value.every((one) => typeof one !== 'object'))) return [[path, value]];
  return Object.entries(value).flatMap(([key, inner]) => leavesOf(inner, path === '' ? key : `${path}.${key}`));
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const personOf = ({ firstName, lastName, memberCode }: Record<string, unknown>): string =>
  nameOf({ firstName: textOf(firstName), lastName: textOf(lastName), memberCode: textOf(memberCode) });

/** What people read first, and the rest folded, by the names of the stored fields. */
function Row({ section, row }: { section: string; row: object }) {
  const leaves = leavesOf(row);
  const read = (keptFields[section] ?? []).flatMap(({ path, label, words }) =>
    leaves.flatMap(([own, value]): [string, ReactNode][] =>
      own === path ? [[label, <Value key={path} value={value} words={words} />]] : [],
    ),
  );
  const known = new Set(keptFields[section]?.map(({ path }) => path));
  const technical = leaves.filter(([path]) => !known.has(path));
  return (
    <>
      {read.length > 0 && <Facts facts={read} />}
      {technical.length > 0 && (
        <details>
          <summary>{texts.member.technical}</summary>
          <dl className="facts">
            {technical.map(([path, value]) => (
              <div key={path}>
                <dt>
                  <code>{path}</code>
                </dt>
                <dd>
                  <Value value={value} />
                </dd>
              </div>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

/** What is folded is printed too. */
function printAll() {
  for (const folded of document.querySelectorAll('details')) folded.open = true;
  window.print();
}

export function MemberData() {
  const { id = '' } = useParams();
  const kept = useRead(['member-data', id], () => readExport(id));
  const sections = Object.entries(kept.data?.kept ?? {}).filter(([, rows]) => rows.length > 0);
  const [person] = kept.data?.kept.members ?? [];
  return (
    <Page
      title={person ? said.titleOf(personOf(person)) : said.title}
      back={{ to: `/members/${id}`, title: texts.member.title }}
      lead={kept.data && <Moment at={kept.data.exportedAt} />}
      actions={
        <>
          <a href={`${apiUrl}/merchants/me/members/${id}/export`} download={`${id}.json`}>
            {said.json}
          </a>
          <button type="button" className="button" onClick={printAll}>
            {said.print}
          </button>
        </>
      }
    >
      <Failure error={kept.error} />
      {kept.isPending && <Skeleton />}
      {kept.data && kept.data.leftOut.length > 0 && <p className="hint">{said.leftOut}</p>}
      {sections.map(([name, rows]) => (
        <Panel key={name} title={titles[name] ?? name}>
          <ol className="records">
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows are neither added nor moved
              <li key={at}>
                <Row section={name} row={row} />
              </li>
            ))}
          </ol>
        </Panel>
      ))}
    </Page>
  );
}
