// Everything that is kept about one person, to be read and printed: the document of the export, section by section.
import type { ReactNode } from 'react';
import { useParams } from 'wouter';
import { useRead } from '../actions.js';
import { api, apiUrl, data } from '../api.js';
import { Address, Facts, Failure, Moment, Page, Panel, Skeleton } from '../parts/page.js';
import { texts } from '../texts.js';
import { nameOf } from './members.js';

const said = texts.memberData;

const readExport = (id: string) => data(api.GET('/merchants/me/members/{id}/export', { params: { path: { id } } }));
const titles: Record<string, string> = said.sections;
const aMoment = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/** A field name of the export as words: `lastFetchedAt` becomes "Last fetched at". */
const labelOf = (field: string): string => {
  const words = field
    .replace(/^_/, '')
    .replaceAll(/(?<=[a-z])(?=[A-Z])/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
};

function shownOf(value: unknown): ReactNode {
  if (value === null || value === undefined || value === '') return texts.frame.none;
  if (typeof value === 'boolean') return value ? said.yes : said.no;
  if (typeof value === 'string') return aMoment.test(value) ? <Moment at={value} /> : <Address>{value}</Address>;
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object'))
    return value.join(', ') || texts.frame.none;
  if (typeof value !== 'object') return String(value);
  return Object.keys(value).length === 0 ? texts.frame.none : <Row row={value} />;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const personOf = ({ firstName, lastName, memberCode }: Record<string, unknown>): string =>
  nameOf({ firstName: textOf(firstName), lastName: textOf(lastName), memberCode: textOf(memberCode) });

function Row({ row }: { row: object }) {
  return <Facts facts={Object.entries(row).map(([field, value]) => [labelOf(field), shownOf(value)])} />;
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
          <button type="button" className="button" onClick={() => window.print()}>
            {said.print}
          </button>
        </>
      }
    >
      <Failure error={kept.error} />
      {kept.isPending && <Skeleton />}
      {kept.data && kept.data.leftOut.length > 0 && <p className="hint">{said.leftOut}</p>}
      {sections.map(([name, rows]) => (
        <Panel key={name} title={titles[name] ?? labelOf(name)}>
          <ol className="records">
            {rows.map((row, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: rows are neither added nor moved
              <li key={at}>
                <Row row={row} />
              </li>
            ))}
          </ol>
        </Panel>
      ))}
    </Page>
  );
}
