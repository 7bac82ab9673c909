// Imports: a new one, the result of the last one, and the list of all.
import { useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Ago, Failure, number, Page } from '../parts/page.js';
import { PagedTable, usePage } from '../parts/table.js';
import { texts } from '../texts.js';
import { CancelBatch, isOver } from './batchState.js';
import { importBars } from './importBars.js';
import { leftOutFact } from './importDryRun.js';
import { NewImport } from './importNew.js';
import { followMs, ImportActions, ImportState, LastImport, ShowImport } from './importResult.js';

const said = texts.imports;
const readBatches = (page: number) =>
  data(api.GET('/merchants/me/batches', { params: { query: { page, kind: 'members.import' } } }));

export function Imports() {
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const [page, setPage] = usePage();
  const batches = useRead(['batches', page], () => readBatches(page), {
    keep: true,
    everyMs: (now) => (now?.items.some((batch) => !isOver(batch)) ? followMs : 5 * followMs),
  });
  const [last, setLast, dismissLast] = useDraft('import', '');
  const open = (programs.data ?? []).filter(({ archived }) => !archived);
  return (
    <Page title={texts.nav.imports} lead={said.lead} actions={<NewImport programs={open} onStarted={setLast} />}>
      <Failure error={programs.error ?? batches.error} />
      {last !== '' && <LastImport id={last} onDismiss={dismissLast} />}
      <PagedTable
        name={texts.nav.imports}
        data={batches.data}
        onPage={setPage}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.started, cell: ({ startedAt }) => <Ago at={startedAt} /> },
          {
            title: said.program,
            cell: ({ programId }) => programs.data?.find(({ _id }) => _id === programId)?.name ?? programId ?? '',
          },
          { title: said.state, cell: (batch) => <ImportState batch={batch} bars={importBars(batch)} /> },
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
              <div className="row">
                {isOver(batch) ? (
                  <ShowImport id={batch.id} label={said.show} title={said.result} />
                ) : (
                  <CancelBatch batch={batch} needs="merchants.members:edit" />
                )}
                <ImportActions batch={batch} />
              </div>
            ),
          },
        ]}
      />
    </Page>
  );
}
