// The deliveries of one subscription as they happen, with their attempts, and the replay of one.
import { useState } from 'react';
import { useAction, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Window } from '../parts/dialog.js';
import { Button, Select } from '../parts/form.js';
import { Ago, Badge, Failure, Moment, number, Panel } from '../parts/page.js';
import { PagedTable, Table, usePage } from '../parts/table.js';
import { lacking } from '../session.js';
import { optionsOf, texts } from '../texts.js';
import { changes, followMs, readsMembers } from './webhookDetail.js';

const said = texts.webhooks;

const states = { succeeded: 'good', exhausted: 'bad', retrying: 'wait', pending: 'wait', skipped: 'plain' } as const;

const readDeliveries = (query: { page: number; subscriptionId: string; success?: boolean }) =>
  data(api.GET('/merchants/me/webhooks/delivery-logs', { params: { query } }));
type Delivery = Awaited<ReturnType<typeof readDeliveries>>['items'][number];

const isTest = ({ payload }: Delivery): boolean => (payload?.data as { test?: boolean } | undefined)?.test === true;

export function Deliveries({ id }: { id: string }) {
  const [page, setPage] = usePage();
  const [success, setSuccess] = useState('');
  const [open, setOpen] = useState<Delivery | null>(null);
  const query = { page, subscriptionId: id, ...(success && { success: success === 'true' }) };
  const deliveries = useRead(['deliveries', query], () => readDeliveries(query), { keep: true, everyMs: followMs });
  const replay = useAction(
    (logId: string) =>
      data(api.POST('/merchants/me/webhooks/delivery-logs/{logId}/replay', { params: { path: { logId } } })),
    { changes, said: said.replayed },
  );
  return (
    <Panel title={said.deliveries}>
      <div className="fields">
        <Select
          name="success"
          label={said.show}
          value={success}
          options={optionsOf(said.outcomes)}
          onChange={setSuccess}
        />
      </div>
      <Failure error={deliveries.error} />
      <PagedTable
        name={said.deliveries}
        data={deliveries.data}
        onPage={setPage}
        keyOf={(delivery) => delivery.id}
        empty={said.noDeliveries}
        columns={[
          { title: said.when, cell: ({ createdAt }) => <Ago at={createdAt} /> },
          {
            title: said.event,
            cell: (delivery) => (
              <>
                {delivery.eventType} {isTest(delivery) && <Badge kind="plain">{said.isTest}</Badge>}
              </>
            ),
          },
          { title: said.state, cell: ({ state }) => <Badge kind={states[state]}>{said.states[state]}</Badge> },
          { title: said.answer, cell: ({ statusCode, error }) => statusCode ?? error ?? texts.frame.none },
          { title: said.tries, numeric: true, cell: ({ attempts }) => number(attempts) },
          {
            title: texts.frame.actions,
            cell: (delivery) => (
              <>
                <Button kind="link" onPress={() => setOpen(delivery)}>
                  {said.payload}
                </Button>
                <Button
                  isDisabled={replay.isRunning || lacking('merchants.campaigns:edit', readsMembers) !== undefined}
                  onPress={() => replay.run(delivery.id)}
                >
                  {said.replay}
                </Button>
              </>
            ),
          },
        ]}
      />
      {open && (
        <Window title={open.eventType} onClose={() => setOpen(null)} wide>
          <Table
            name={said.tries}
            rows={open.history}
            keyOf={({ attempt }) => String(attempt)}
            empty={said.noTries}
            columns={[
              { title: said.when, cell: ({ at }) => <Moment at={at} /> },
              { title: said.answer, cell: ({ statusCode, error }) => statusCode ?? error ?? texts.frame.none },
              { title: said.took, numeric: true, cell: ({ durationMs }) => said.ms(durationMs) },
            ]}
          />
          <p className="hint">{said.masked}</p>
          <pre>{JSON.stringify(open.payload, null, 2)}</pre>
          <div className="row end">
            <Button onPress={() => setOpen(null)}>{texts.frame.close}</Button>
          </div>
        </Window>
      )}
    </Panel>
  );
}
