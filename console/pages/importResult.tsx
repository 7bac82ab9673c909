// The result of an import, as its row, its window and the Imports page show it: what was added, what was
// not, and what can be done about it.
import { type components, LoyaltyError } from '../../sdk/index.js';
import { useRead } from '../actions.js';
import { api, apiUrl, data } from '../api.js';
import { language } from '../language.js';
import { useWindow, Window } from '../parts/dialog.js';
import { Button } from '../parts/form.js';
import { Facts, Failure, Moment, number, Panel, Skeleton } from '../parts/page.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { CancelBatch, isOver, State } from './batchState.js';
import { CardMails, useCardMails } from './cardMails.js';
import { type Bar, importBars } from './importBars.js';
import { LeftOutColumns, leftOutFact } from './importDryRun.js';
import { leftOutTitles, repairedHere } from './importFile.js';
import { Repair } from './importRepair.js';

const said = texts.imports;
export type Batch = components['schemas']['Batch'];

export const followMs = 2_000;

/** The service has the reason in English; here it follows from what the batch has come to. */
function reasonOf({ phase, counts, cancelRequested }: Batch): string | undefined {
  if (phase === 'cancelled') return cancelRequested || counts.created > 0 ? said.endedEarly : said.notBegun;
  if (phase === 'failed') return counts.total === 0 ? said.brokeOff : said.stopped;
  return undefined;
}

export const ImportState = ({ batch, bars }: { batch: Batch; bars?: readonly Bar[] }) => (
  <State batch={batch} reason={reasonOf(batch) ?? ''} {...(bars && { bars })} />
);

/** What can be done about an import that is over. */
export function ImportActions({ batch }: { batch: Batch }) {
  const open = useWindow();
  const { id, counts } = batch;
  return (
    <>
      {batch.repairs !== undefined && <span className="hint">{said.repairs}</span>}
      {batch.repairedBy !== undefined && (
        <>
          <span className="hint">{said.repaired}</span>{' '}
          <ShowImport id={batch.repairedBy} label={said.repairedBy} title={said.repairs} />
        </>
      )}
      {isOver(batch) && counts.failed > 0 && batch.repairedBy === undefined && (
        <>
          {counts.failed <= repairedHere && (
            <Button
              isDisabled={!may('merchants.members:create')}
              onPress={() => open((close) => <Repair batch={batch} onClose={close} />)}
            >
              {said.repair}
            </Button>
          )}
          <a href={`${apiUrl}/merchants/me/batches/${id}/errors.csv?language=${language}`} download>
            {counts.failed > repairedHere ? said.correctInFile : said.correctedFile}
          </a>
        </>
      )}
      <CardMails batch={batch} />
      {counts.deduped > 0 && (
        <a href={`${apiUrl}/merchants/me/batches/${id}/known.csv`} download>
          {said.knownFile}
        </a>
      )}
    </>
  );
}

function Result({ batch }: { batch: Batch }) {
  const { counts, unusedColumns = [] } = batch;
  const leftOut = leftOutTitles(Object.fromEntries(unusedColumns.map((title) => [title, ''])));
  const mails = useCardMails(batch, isOver(batch) && counts.created > 0).data;
  return (
    <div className="stack" {...(isOver(batch) && { role: 'status' })}>
      <Facts
        facts={[
          [said.started, <Moment key="started" at={batch.startedAt} />],
          [said.state, <ImportState key="state" batch={batch} bars={importBars(batch)} />],
          [said.created, number(counts.created)],
          [said.deduped, number(counts.deduped)],
          [said.failed, number(counts.failed)],
          ...(mails ? [[said.withoutEmail, number(mails.withoutEmail)] as const] : []),
          ...leftOutFact(counts),
        ]}
      />
      <LeftOutColumns columns={leftOut} />
    </div>
  );
}

const useImport = (id: string) =>
  useRead(['batches', 'one', id], () => data(api.GET('/merchants/me/batches/{id}', { params: { path: { id } } })), {
    everyMs: (now) => (now && isOver(now) ? 5 * followMs : followMs),
  });

interface ShownImport {
  id: string;
  title: string;
}

/** Shows one import, which may be on any page of the list. */
export function ShowImport({ label, ...shown }: ShownImport & { label: string }) {
  const open = useWindow();
  return (
    <Button kind="link" onPress={() => open((close) => <ImportWindow {...shown} onClose={close} />)}>
      {label}
    </Button>
  );
}

function ImportWindow({ id, title, onClose }: ShownImport & { onClose: () => void }) {
  const { data: batch, error } = useImport(id);
  return (
    <Window title={title} onClose={onClose}>
      <Failure error={error} />
      {batch ? <Result batch={batch} /> : <Skeleton />}
      <div className="row end">
        {batch && <ImportActions batch={batch} />}
        <Button onPress={onClose}>{texts.frame.close}</Button>
      </div>
    </Window>
  );
}

/** The import that was started here last, until it is dismissed. */
export function LastImport({ id, onDismiss }: { id: string; onDismiss: () => void }) {
  const { data: batch, error } = useImport(id);
  // Another merchant's, after another sign-in in this tab.
  if (error instanceof LoyaltyError && error.status === 404) return null;
  return (
    <Panel title={said.result} actions={<Button onPress={onDismiss}>{said.dismiss}</Button>}>
      <Failure error={error} />
      {batch ? <Result batch={batch} /> : <Skeleton />}
      {batch && (
        <div className="row">
          {!isOver(batch) && <CancelBatch batch={batch} needs="merchants.members:edit" />}
          <ImportActions batch={batch} />
        </div>
      )}
    </Panel>
  );
}
