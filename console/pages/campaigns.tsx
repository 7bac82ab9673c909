// Campaigns: one message on the passes of all matching members. The list of those that were sent or planned, a new one,
// and the automatic messages.
import { useState } from 'react';
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Ago, Badge, Failure, number, Page } from '../parts/page.js';
import { OpenPanel } from '../parts/sidePanel.js';
import { PagedTable, usePage } from '../parts/table.js';
import { texts } from '../texts.js';
import { AutomaticMessages } from './automaticMessages.js';
import { CancelBatch, isOver, State } from './batchState.js';
import { NewCampaign } from './campaignNew.js';

const said = texts.campaigns;

const readBatches = (page: number) =>
  data(api.GET('/merchants/me/batches', { params: { query: { page, kind: 'campaign' } } }));
type Batch = Awaited<ReturnType<typeof readBatches>>['items'][number];
const isUntouched = ({ counts: { created, deduped, failed } }: Batch): boolean => created + deduped + failed === 0;

const canStop = (batch: Batch): boolean => !isOver(batch) && batch.percent < 100;

export function Campaigns() {
  const [page, setPage] = usePage();
  const [isNew, setIsNew] = useState(false);
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const batches = useRead(['campaigns', page], () => readBatches(page), {
    keep: true,
    everyMs: (now) => (now?.items.some((batch) => !isOver(batch) && batch.phase !== 'scheduled') ? 2_000 : 10_000),
  });
  return (
    <Page
      title={texts.nav.campaigns}
      lead={said.lead}
      actions={<OpenPanel title={said.new} needs="merchants.campaigns:create" onPress={() => setIsNew(true)} />}
    >
      <Failure error={programs.error ?? batches.error} />
      <PagedTable
        name={texts.nav.campaigns}
        data={batches.data}
        onPage={setPage}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.started, cell: ({ startedAt, sendAt: due }) => <Ago at={due ?? startedAt} /> },
          {
            title: said.message,
            cell: ({ id, automatic }) => (
              <>
                <Message id={id} /> {automatic && <Badge kind="plain">{said.isAutomatic}</Badge>}
              </>
            ),
          },
          {
            title: said.program,
            cell: ({ programId: id }) =>
              id === undefined ? said.allPrograms : (programs.data?.find(({ _id }) => _id === id)?.name ?? id),
          },
          {
            title: said.state,
            cell: (batch) => (
              <State
                batch={batch}
                finishing={said.finishing}
                {...(batch.phase === 'cancelled' && isUntouched(batch) && { reason: said.notSent })}
              />
            ),
          },
          { title: said.matched, numeric: true, cell: ({ counts }) => number(counts.total) },
          { title: said.pushed, numeric: true, cell: ({ counts }) => number(counts.created) },
          { title: said.skipped, numeric: true, cell: ({ counts }) => number(counts.deduped) },
          { title: said.failed, numeric: true, cell: ({ counts }) => number(counts.failed) },
          ...(batches.data?.items.some(canStop)
            ? [
                {
                  title: texts.frame.actions,
                  cell: (batch: Batch) =>
                    canStop(batch) && <CancelBatch batch={batch} needs="merchants.campaigns:edit" />,
                },
              ]
            : []),
        ]}
      />
      <AutomaticMessages programs={programs.data ?? []} />
      {isNew && <NewCampaign programs={programs.data ?? []} onClose={() => setIsNew(false)} />}
    </Page>
  );
}

/** The message, and who gets it where that is not everyone. */
function Message({ id }: { id: string }) {
  const campaign = useRead(['campaign', id], () =>
    data(api.GET('/merchants/me/campaigns/{id}', { params: { path: { id } } })),
  );
  const { message = texts.frame.none, audience, tags = [] } = campaign.data ?? {};
  const who = [...(audience ? [texts.members.audiences[audience]] : []), ...tags];
  return (
    <>
      {message}
      {who.length > 0 && <div className="hint">{said.whoOf(who.join(', '))}</div>}
    </>
  );
}
