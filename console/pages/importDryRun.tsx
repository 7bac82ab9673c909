// What an import would do: counts, the rows that would fail with the wrong cell marked, and the question before it.
import { Fragment, useState } from 'react';
import { Confirm } from '../parts/dialog.js';
import { Facts, number } from '../parts/page.js';
import { PagedTable } from '../parts/table.js';
import { texts } from '../texts.js';
import { repairedHere, sentenceOf, wrongCells } from './importFile.js';
import type { DryRunAnswer, DryRunShown } from './importUpload.js';

const said = texts.imports;
/** How many wrong rows of a dry run are shown at once. */
const wrongPerPage = 50;

type WrongRow = DryRunAnswer['failures'][number];

/** The columns that are left out, by their titles. */
export interface LeftOut {
  unused: readonly string[];
  unknown: readonly string[];
}

/** What a person does not have although it stands in the file. */
export const leftOutFact = ({ leftOut }: { leftOut?: number | undefined }): [string, string][] =>
  leftOut === undefined ? [] : [[said.leftOut, number(leftOut)]];

/** Which columns the import leaves out, and why. */
export function LeftOutColumns({ columns: { unused, unknown } }: { columns: LeftOut }) {
  return (
    <>
      {unused.length > 0 && <p className="hint">{said.unused(unused)}</p>}
      {unknown.length > 0 && <p className="hint">{said.unknown(unknown)}</p>}
    </>
  );
}

/** Whether the import would neither add anyone nor leave rows to correct, so that there is nothing to ask. */
export const isEmpty = ({ counts }: Pick<DryRunAnswer, 'counts'>): boolean => counts.created + counts.failed === 0;

function Counts({ counts, withoutEmail }: Pick<DryRunAnswer, 'counts' | 'withoutEmail'>) {
  return (
    <>
      <Facts
        facts={[
          [said.wouldCreate, number(counts.created)],
          [said.wouldDedupe, number(counts.deduped)],
          [said.wouldFail, number(counts.failed)],
          ...leftOutFact(counts),
        ]}
      />
      {counts.created === 0 && <p className="banner">{said.noneNew}</p>}
      {withoutEmail > 0 && <p>{said.noMail(withoutEmail, counts.created)}</p>}
    </>
  );
}

export function DryRun({
  outcome: { counts, withoutEmail, failures, leftOut = [], file, rows },
}: {
  outcome: DryRunShown;
}) {
  return (
    <div role="status" className="stack">
      <Counts counts={counts} withoutEmail={withoutEmail} />
      <WrongRows name={said.wouldFail} wrong={failures} rows={rows} columns={file.columns} />
      <WrongRows name={said.leftOut} wrong={leftOut} rows={rows} columns={file.columns} />
    </div>
  );
}

function WrongRows({
  name,
  wrong,
  ...read
}: { name: string; wrong: WrongRow[] } & Pick<DryRunShown, 'rows'> & Pick<DryRunAnswer['file'], 'columns'>) {
  const [chosen, setChosen] = useState(1);
  if (wrong.length === 0) return null;
  const page = Math.min(chosen, Math.ceil(wrong.length / wrongPerPage));
  const items = wrong.slice((page - 1) * wrongPerPage, page * wrongPerPage);
  return (
    <PagedTable
      name={name}
      data={{ items, page, pageSize: wrongPerPage, total: wrong.length }}
      onPage={setChosen}
      keyOf={({ row }) => String(row)}
      empty={said.none}
      columns={[
        { title: said.line, numeric: true, cell: ({ line }) => number(line) },
        { title: said.cells, cell: (one) => <Cells row={one} read={read} /> },
        { title: said.reason, cell: (one) => sentenceOf(one, read.columns) },
      ]}
    />
  );
}

function Cells({ row, read }: { row: WrongRow; read: Parameters<typeof wrongCells>[1] }) {
  const wrong = wrongCells(row, read);
  if (wrong.length === 0) return texts.frame.none;
  return wrong.map(({ title, text }, at) => (
    <Fragment key={title}>
      {at > 0 && '; '}
      {title}: <mark>{text}</mark>
    </Fragment>
  ));
}

interface QuestionProps {
  outcome: DryRunAnswer;
  columns: LeftOut;
  /** Whether people are found again: by an email, a phone number or an old number. */
  isFindable: boolean;
  isRunning: boolean;
  onConfirm: () => void;
  onClose: () => void;
}

/** Asked before every import, because nothing takes it back. */
export function ImportQuestion({ outcome, columns, isFindable, ...rest }: QuestionProps) {
  const { counts, withoutEmail } = outcome;
  const isForFile = counts.failed > repairedHere;
  const later = isForFile ? said.failedInFile(repairedHere) : said.failedLater;
  if (counts.created === 0)
    return (
      <Confirm title={said.askAllWrong} action={isForFile ? said.beginInFile : said.beginAllWrong} {...rest}>
        <Counts counts={counts} withoutEmail={withoutEmail} />
        <p>{later}</p>
      </Confirm>
    );
  if (!isFindable)
    return (
      <Confirm title={said.nameless(counts.total)} action={said.importAnyway} kind="danger" {...rest}>
        <p>{said.namelessHint(counts.total)}</p>
        <p>{said.namelessWay}</p>
      </Confirm>
    );
  return (
    <Confirm title={said.ask(counts.created)} action={said.importNow(counts.created)} {...rest}>
      <Counts counts={counts} withoutEmail={withoutEmail} />
      {counts.failed > 0 && <p>{later}</p>}
      <LeftOutColumns columns={columns} />
    </Confirm>
  );
}
