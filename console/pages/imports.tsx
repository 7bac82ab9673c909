// Imports: upload a file, map its columns, run a dry run, then follow the real import. Failed rows are corrected in
// place and sent again.
import { useState } from 'react';
import { DropZone, FileTrigger, Text } from 'react-aria-components';
import type { components } from '../../sdk/index.js';
import { inWords, useAction, useRead } from '../actions.js';
import { api, apiUrl, data, failureOf, noteCall, unanswered } from '../api.js';
import { parseCsv, separatorOf, toCsv } from '../csv.js';
import { language } from '../language.js';
import { Confirm, Window } from '../parts/dialog.js';
import { Button, Checkbox, Form, Select } from '../parts/form.js';
import { Badge, Facts, Failure, Moment, number, Page, Panel, Progress, Skeleton } from '../parts/page.js';
import { PagedTable, usePage } from '../parts/table.js';
import { may, type Permission } from '../session.js';
import { optionsOf, texts } from '../texts.js';
import { CardMails } from './cardMails.js';
import { undecided } from './columnTitles.js';
import { type Bar, importBars } from './importBars.js';
import { canBeFound, fieldsOf, mappingOf, openTitles, titlesOf, wrongCells } from './importFile.js';

const said = texts.imports;
const readBatches = (page: number) =>
  data(api.GET('/merchants/me/batches', { params: { query: { page, kind: 'members.import' } } }));
type Batch = Awaited<ReturnType<typeof readBatches>>['items'][number];

const ended = ['completed', 'failed', 'cancelled'];
export const isOver = ({ phase }: Pick<Batch, 'phase'>): boolean => ended.includes(phase);
const followMs = 2_000;
/** Of a larger file the dry run shows no cells. */
const maxShownBytes = 10_000_000;
/** How many wrong rows of a dry run are shown at once. */
const wrongPerPage = 50;
/** How many failed rows the page lets people correct; more are for a spreadsheet. */
const repairedHere = 200;

type DryRunAnswer = components['schemas']['ImportDryRun'];
type WrongRow = DryRunAnswer['failures'][number];

/** A dry run together with the rows of its file; no rows of a file that is too large to be shown. */
type DryRunShown = DryRunAnswer & { rows: string[][] };

interface Upload {
  programId: string;
  file: Blob;
  fileName: string;
  charset: string;
  dryRun: boolean;
  quiet: boolean;
  repairs?: string;
  mapping: Record<string, string | null>;
}

/** XMLHttpRequest, because fetch does not report upload progress. Throws LoyaltyError. */
function send(
  { programId, file, fileName, charset, dryRun, quiet, repairs, mapping }: Upload,
  onProgress: (percent: number) => void,
) {
  const query = new URLSearchParams({ programId });
  if (dryRun) query.set('dryRun', 'true');
  if (quiet) query.set('quiet', 'true');
  if (repairs !== undefined) query.set('repairs', repairs);
  if (Object.keys(mapping).length > 0) query.set('mapping', JSON.stringify(mapping));
  const url = `${apiUrl}/merchants/me/imports?${query}`;
  const type = charset === 'utf-8' ? 'text/csv' : `text/csv; charset=${charset}`;
  const since = performance.now();
  return new Promise<Batch | DryRunAnswer>((resolve, reject) => {
    const request = new XMLHttpRequest();
    const note = (status: number) =>
      noteCall(
        { method: 'POST', url, headers: new Headers({ 'Content-Type': type }) },
        { file: fileName },
        { status, ms: performance.now() - since },
      );
    request.upload.onprogress = ({ loaded, total }) => onProgress((100 * loaded) / Math.max(total, 1));
    request.onload = () => {
      note(request.status);
      const body = JSON.parse(request.responseText || '{}');
      if (request.status === 202 || request.status === 200) resolve(body.data);
      else reject(failureOf(request.status, body));
    };
    request.onerror = () => {
      note(0);
      reject(unanswered());
    };
    request.open('POST', url);
    request.setRequestHeader('Content-Type', type);
    request.setRequestHeader('Accept-Language', language);
    request.send(file);
  });
}

interface Chosen {
  name: string;
  file: Blob;
  titles: string[];
  charset: string;
}

const headBytes = 65_536;

/** The service detects UTF-8 and UTF-16; other files most likely come from older spreadsheets. */
async function open(file: Blob, name: string): Promise<Chosen> {
  const bytes = new Uint8Array(await file.slice(0, headBytes).arrayBuffer());
  const wide = { fffe: 'utf-16le', feff: 'utf-16be' }[[...bytes.slice(0, 2)].map((byte) => byte.toString(16)).join('')];
  const decode = (charset: string, fatal = false) =>
    new TextDecoder(charset, { fatal }).decode(bytes, { stream: true });
  let [charset, text] = ['utf-8', ''];
  try {
    text = decode(wide ?? 'utf-8', true);
  } catch {
    charset = 'windows-1252';
    text = decode(charset);
  }
  return { name, file, charset, titles: titlesOf(parseCsv(text)[0] ?? []) };
}

async function rowsOf(
  file: Blob,
  { file: { charset, delimiter }, failures, leftOut = [] }: DryRunAnswer,
): Promise<string[][]> {
  if (failures.length + leftOut.length === 0 || file.size > maxShownBytes) return [];
  return parseCsv(new TextDecoder(charset).decode(await file.arrayBuffer()), delimiter);
}

export function Imports() {
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const [page, setPage] = usePage();
  const batches = useRead(['batches', page], () => readBatches(page), {
    keep: true,
    everyMs: (now) => (now?.items.some((batch) => !isOver(batch)) ? followMs : 5 * followMs),
  });
  const [repairs, setRepairs] = useState<Batch | null>(null);
  const open_ = (programs.data ?? []).filter(({ archived }) => !archived);
  return (
    <Page title={texts.nav.imports} lead={said.lead}>
      <Failure error={programs.error ?? batches.error} />
      {programs.data && <NewImport programs={open_} />}
      <PagedTable
        name={texts.nav.imports}
        data={batches.data}
        onPage={setPage}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.started, cell: ({ startedAt }) => <Moment at={startedAt} /> },
          {
            title: said.program,
            cell: ({ programId }) => programs.data?.find(({ _id }) => _id === programId)?.name ?? programId ?? '',
          },
          { title: said.state, cell: (batch) => <State batch={batch} bars={importBars(batch)} /> },
          { title: said.created, numeric: true, cell: ({ counts }) => number(counts.created) },
          { title: said.deduped, numeric: true, cell: ({ counts }) => number(counts.deduped) },
          {
            title: said.failed,
            numeric: true,
            cell: ({ counts }) => (
              <>
                {number(counts.failed)}
                {leftOutFact(counts).map(([label, value]) => (
                  <div key={label} className="hint">
                    {label}: {value}
                  </div>
                ))}
              </>
            ),
          },
          {
            title: said.passes,
            cell: ({ passIssuance: { apple, google } }) => said.passesOf(apple, google),
          },
          {
            title: texts.frame.actions,
            cell: (batch) => (
              <>
                {!isOver(batch) && <CancelBatch batch={batch} needs="merchants.members:edit" />}
                {batch.repairs !== undefined && <span className="hint">{said.repairs}</span>}
                {batch.repairedBy !== undefined && (
                  <>
                    <span className="hint">{said.repaired}</span>{' '}
                    <ShowImport id={batch.repairedBy} label={said.repairedBy} title={said.repairs} />
                  </>
                )}
                {isOver(batch) && batch.counts.failed > 0 && batch.repairedBy === undefined && (
                  <>
                    {batch.counts.failed <= repairedHere && (
                      <Button isDisabled={!may('merchants.members:create')} onPress={() => setRepairs(batch)}>
                        {said.repair}
                      </Button>
                    )}
                    <a href={`${apiUrl}/merchants/me/batches/${batch.id}/errors.csv`} download>
                      {said.correctedFile}
                    </a>
                  </>
                )}
                <CardMails batch={batch} />
                {batch.counts.deduped > 0 && (
                  <a href={`${apiUrl}/merchants/me/batches/${batch.id}/known.csv`} download>
                    {said.knownFile}
                  </a>
                )}
              </>
            ),
          },
        ]}
      />
      {repairs && <Repair batch={repairs} onClose={() => setRepairs(null)} />}
    </Page>
  );
}

/** Shows one import, which may be on any page of the list. */
export function ShowImport({ id, label, title }: { id: string; label: string; title: string }) {
  const [open, setOpen] = useState(false);
  const batch = useRead(
    ['batches', 'one', id],
    () => data(api.GET('/merchants/me/batches/{id}', { params: { path: { id } } })),
    { enabled: open, everyMs: (now) => (now && isOver(now) ? false : followMs) },
  );
  return (
    <>
      <Button kind="link" onPress={() => setOpen(true)}>
        {label}
      </Button>
      {open && (
        <Window title={title} onClose={() => setOpen(false)}>
          <Failure error={batch.error} />
          {batch.data ? (
            <Facts
              facts={[
                [said.started, <Moment key="started" at={batch.data.startedAt} />],
                [said.state, <State key="state" batch={batch.data} />],
                [said.created, number(batch.data.counts.created)],
                [said.deduped, number(batch.data.counts.deduped)],
                [said.failed, number(batch.data.counts.failed)],
                ...leftOutFact(batch.data.counts),
              ]}
            />
          ) : (
            <Skeleton />
          )}
          <div className="row end">
            <Button onPress={() => setOpen(false)}>{texts.frame.close}</Button>
          </div>
        </Window>
      )}
    </>
  );
}

const phaseKinds: Partial<Record<Batch['phase'], 'good' | 'bad'>> = {
  completed: 'good',
  failed: 'bad',
  cancelled: 'bad',
};

interface StateProps {
  batch: Pick<Batch, 'phase' | 'percent' | 'reason' | 'cancelRequested'>;
  bars?: readonly Bar[];
  /** What a batch that has done everything still does before it ends. */
  finishing?: string;
}

export function State({ batch, bars, finishing }: StateProps) {
  const shown = bars ?? [{ label: said.progress, percent: batch.percent }];
  const isCancelling = batch.cancelRequested === true && !isOver(batch);
  const finishes = finishing !== undefined && !isOver(batch) && batch.percent >= 100;
  return (
    <>
      <Badge kind={phaseKinds[batch.phase] ?? 'wait'}>
        {isCancelling ? said.cancelling : texts.phases[batch.phase]}
      </Badge>{' '}
      {finishes && <span className="hint">{finishing}</span>}
      {!isOver(batch) &&
        batch.phase !== 'scheduled' &&
        !finishes &&
        shown.map(({ label, percent }) => (
          <div key={label}>
            {bars && <span className="hint">{label}</span>}
            <Progress label={label} percent={percent} />
          </div>
        ))}
      {batch.reason && <span className="hint">{batch.reason}</span>}
    </>
  );
}

export function CancelBatch({
  batch: { id, cancelRequested },
  needs,
}: {
  batch: Pick<Batch, 'id' | 'cancelRequested'>;
  needs: Permission;
}) {
  const cancel = useAction(() => data(api.POST('/merchants/me/batches/{id}/cancel', { params: { path: { id } } })), {
    changes: ['batches', 'batch', 'campaigns'],
    said: said.cancelled,
  });
  return (
    <Button isDisabled={cancel.isRunning || cancelRequested === true || !may(needs)} onPress={() => cancel.run()}>
      {texts.frame.cancel}
    </Button>
  );
}

function NewImport({ programs }: { programs: readonly { _id: string; name: string; style: string }[] }) {
  const [programId, setProgramId] = useState(programs[0]?._id ?? '');
  const isStamps = programs.find(({ _id }) => _id === programId)?.style === 'stamps';
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const [meant, setMeant] = useState<Record<string, string>>({});
  const [quiet, setQuiet] = useState(false);
  const [percent, setPercent] = useState(0);
  const [outcome, setOutcome] = useState<DryRunShown | null>(null);
  const [askedFor, setAskedFor] = useState<number | null>(null);
  const open_ = openTitles(meant);
  const take = async (file: Blob | undefined, name: string) => {
    if (!file) return;
    const opened = await open(file, name);
    setChosen(opened);
    setOutcome(null);
    setMeant(fieldsOf(opened.titles));
  };
  const start = useAction(
    async ({ dryRun }: { dryRun: boolean; asks?: boolean }) => {
      if (!chosen) throw new Error(said.noFile);
      if (open_.length > 0) throw new Error(said.undecided(open_));
      const mapping = mappingOf(meant);
      const { file, charset, name: fileName } = chosen;
      const answer = await send({ programId, file, fileName, charset, dryRun, quiet, mapping }, setPercent);
      return 'id' in answer ? answer : { ...answer, rows: await rowsOf(file, answer) };
    },
    {
      changes: ['batches'],
      said: (answer) => ('id' in answer ? said.startedNow : said.dryRunDone),
      onDone(answer, { asks }) {
        setOutcome('id' in answer ? null : answer);
        if ('id' in answer) setChosen(null);
        else if (asks) setAskedFor(answer.counts.total);
      },
    },
  );
  return (
    <Panel title={said.new} needs="merchants.members:create" folds>
      <div className="fields">
        <Select
          name="programId"
          label={said.into}
          value={programId}
          options={programs.map(({ _id, name }) => [_id, name])}
          onChange={setProgramId}
        />
        {chosen && (
          <Select
            name="charset"
            label={said.charset}
            value={chosen.charset}
            options={optionsOf(said.charsets)}
            onChange={(charset) => setChosen({ ...chosen, charset })}
          />
        )}
      </div>
      <DropZone
        className="drop"
        aria-label={said.drop}
        onDrop={async ({ items }) => {
          const item = items.find(({ kind }) => kind === 'file');
          if (item?.kind === 'file') await take(await item.getFile(), item.name);
        }}
      >
        <Text slot="label">{chosen ? chosen.name : said.drop}</Text>
        <FileTrigger
          acceptedFileTypes={['.csv', '.txt', '.tsv', 'text/csv']}
          onSelect={(files) => take(files?.[0], files?.[0]?.name ?? '')}
        >
          <Button>{said.choose}</Button>
        </FileTrigger>
      </DropZone>
      {chosen && (
        <>
          <h3>{said.columns}</h3>
          <Form
            label={said.columns}
            className="fields"
            findings={open_.map((title) => ({
              path: `mapping.${chosen.titles.indexOf(title)}`,
              message: meant[title] === undecided ? said.decide : said.twice,
            }))}
            onSubmit={() => start.run({ dryRun: true })}
          >
            {chosen.titles.map((title, at) => (
              <Select
                key={title}
                name={`mapping.${at}`}
                label={title}
                value={meant[title] ?? ''}
                options={[
                  ...(meant[title] === undecided ? [[undecided, said.undecidedField] as const] : []),
                  ...optionsOf({ ...said.fields, ...(isStamps && { initialPoints: said.stampsAtStart }) }),
                ]}
                onChange={(field) => setMeant({ ...meant, [title]: field })}
              />
            ))}
          </Form>
          <Checkbox label={said.quiet} isSelected={quiet} onChange={setQuiet} />
          <div className="row">
            <Button isDisabled={start.isRunning} onPress={() => start.run({ dryRun: true })}>
              {said.dryRun}
            </Button>
            <Button
              kind="primary"
              isDisabled={start.isRunning}
              onPress={() => start.run(canBeFound(meant) ? { dryRun: false } : { dryRun: true, asks: true })}
            >
              {said.import}
            </Button>
          </div>
          {start.isRunning && <Progress label={said.upload} percent={percent} />}
          {outcome && <DryRun outcome={outcome} />}
          {askedFor !== null && (
            <Confirm
              title={said.nameless(askedFor)}
              action={said.importAnyway}
              kind="danger"
              onConfirm={() => {
                setAskedFor(null);
                start.run({ dryRun: false });
              }}
              onClose={() => setAskedFor(null)}
            >
              <p>{said.namelessHint(askedFor)}</p>
              <p>{said.namelessWay}</p>
            </Confirm>
          )}
        </>
      )}
    </Panel>
  );
}

/** What a person does not have although it stands in the file. */
const leftOutFact = ({ leftOut }: Batch['counts']): [string, string][] =>
  leftOut === undefined ? [] : [[said.leftOut, number(leftOut)]];

function DryRun({ outcome: { counts, failures, leftOut = [], file, rows } }: { outcome: DryRunShown }) {
  return (
    <div role="status" className="stack">
      <Facts
        facts={[
          [said.wouldCreate, number(counts.created)],
          [said.wouldDedupe, number(counts.deduped)],
          [said.wouldFail, number(counts.failed)],
          ...leftOutFact(counts),
        ]}
      />
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
  const titleOf = (field: string) => read.columns.find((column) => column.field === field)?.header;
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
        { title: said.cells, cell: (one) => wrongCells(one, read).join('; ') || texts.frame.none },
        { title: said.reason, cell: ({ reason }) => inWords(reason, titleOf) },
      ]}
    />
  );
}

function Repair({ batch, onClose }: { batch: Batch; onClose: () => void }) {
  const [rows, setRows] = useState<string[][] | null>(null);
  const failed = useRead(['failed-rows', batch.id], async () => {
    const text = await data(api.GET('/merchants/me/batches/{id}/errors.csv', { params: { path: { id: batch.id } } }));
    const separator = separatorOf(text);
    return { separator, table: parseCsv(text, separator) };
  });
  const { separator = ',', table: [titles = [], ...found] = [] } = failed.data ?? {};
  const own = titles
    .map((title, index) => [title, index] as const)
    .filter(([title]) => title !== 'row' && title !== 'reason');
  const now = rows ?? found;
  const again = useAction(
    () => {
      const file = new Blob([
        // With the columns `row` and `reason`, by which the service knows that the cells are guarded.
        toCsv([titles, ...now], separator),
      ]);
      const { programId = '', quiet = false, mapping = {} } = batch;
      const upload = { programId, file, fileName: 'repaired.csv', charset: 'utf-8', dryRun: false, quiet, mapping };
      return send({ ...upload, repairs: batch.id }, () => undefined);
    },
    { changes: ['batches'], said: said.startedNow, onDone: onClose },
  );
  const reasonAt = titles.indexOf('reason');
  return (
    <Window title={said.repair} onClose={onClose} wide>
      <p className="hint">{said.repairHint}</p>
      <Failure error={failed.error} />
      {now.map((row, number_) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: rows are neither added nor moved
        <fieldset className="list" key={number_}>
          <legend>{inWords(row[reasonAt] ?? '')}</legend>
          <div className="fields">
            {own.map(([title, column]) => (
              <label className="field" key={title}>
                {title}
                <input
                  value={row[column] ?? ''}
                  onChange={({ target }) =>
                    setRows(now.map((one, other) => (other === number_ ? one.with(column, target.value) : one)))
                  }
                />
              </label>
            ))}
          </div>
        </fieldset>
      ))}
      <div className="row end">
        <Button onPress={onClose}>{texts.frame.cancel}</Button>
        <Button kind="primary" isDisabled={again.isRunning || now.length === 0} onPress={() => again.run()}>
          {said.sendAgain}
        </Button>
      </div>
    </Window>
  );
}
