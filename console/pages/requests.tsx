// The log of requests, for developers: what was asked and answered, and what followed.
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Form, Submit, TextInput } from '../parts/form.js';
import { Address, Badge, Facts, Failure, Moment, None, number, Page, Panel, Skeleton } from '../parts/page.js';
import { PagedTable, Table, useFilters } from '../parts/table.js';
import { texts } from '../texts.js';
import { followMs } from './memberDetail.js';
import { useNames } from './people.js';

const said = texts.requests;

export const RequestLink = ({ id }: { id: string }) => (
  <Link href={`/requests/${id}`}>
    <code className="unbroken">{id}</code>
  </Link>
);

function Status({ status, errorCode }: { status: number; errorCode: string | null }) {
  return <Badge kind={status < 400 ? 'good' : 'bad'}>{errorCode ? `${status} ${errorCode}` : status}</Badge>;
}

function LookUp() {
  const [, go] = useLocation();
  const [id, setId] = useState('');
  return (
    <Form label={said.lookUp} onSubmit={() => id.trim() && go(`/requests/${encodeURIComponent(id.trim())}`)}>
      <TextInput name="requestId" label={said.requestId} hint={said.hint} value={id} onChange={setId} />
      <div>
        <Submit isRunning={false}>{said.lookUp}</Submit>
      </div>
    </Form>
  );
}

export function Requests() {
  const [params, put] = useFilters();
  const nameOf = useNames();
  const query = Object.fromEntries(params);
  const requests = useRead(
    ['requests', params.toString()],
    () => data(api.GET('/merchants/me/requests', { params: { query } })),
    { keep: true, everyMs: followMs },
  );
  return (
    <Page title={said.title} lead={said.lead} back={{ to: '/webhooks', title: texts.nav.webhooks }}>
      <LookUp />
      {query.transactionId && <p className="hint">{said.onlyOfEntry}</p>}
      <Failure error={requests.error} />
      <PagedTable
        name={said.title}
        data={requests.data}
        onPage={(page) => put('page', String(page))}
        keyOf={({ requestId, createdAt }) => `${requestId} ${createdAt}`}
        empty={said.none}
        columns={[
          { title: said.when, cell: ({ createdAt }) => <Moment at={createdAt} /> },
          {
            title: said.asked,
            cell: ({ method, path }) => (
              <code>
                <Address>{`${method} ${path}`}</Address>
              </code>
            ),
          },
          { title: said.answer, cell: (request) => <Status {...request} /> },
          { title: said.took, numeric: true, cell: ({ ms }) => said.ms(ms) },
          { title: said.by, cell: ({ actor }) => <Address>{nameOf(actor)}</Address> },
          { title: said.requestId, cell: ({ requestId }) => <RequestLink id={requestId} /> },
        ]}
      />
    </Page>
  );
}

const readTrace = (requestId: string) =>
  data(api.GET('/merchants/me/requests/{requestId}', { params: { path: { requestId } } }));
type Trace = Awaited<ReturnType<typeof readTrace>>;

/** Outside of the columns, where a long id would break. */
const Verbatim = ({ label, value }: { label: string; value: object | string | null | undefined }) =>
  value && (
    <>
      <h3>{label}</h3>
      <pre>{typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>
    </>
  );

function Asked({ trace }: { trace: Trace }) {
  const nameOf = useNames();
  const { method, path, status, errorCode, ms, createdAt, actor, idempotencyKey, isReplayed, memberId } = trace;
  return (
    <Panel title={said.asked}>
      <Facts
        facts={[
          [said.when, <Moment key="when" at={createdAt} />],
          [said.path, <Address key="path">{`${method} ${path}`}</Address>],
          [said.answer, <Status key="answer" status={status} errorCode={errorCode} />],
          [said.took, said.ms(ms)],
          [said.by, <Address key="by">{nameOf(actor)}</Address>],
          ...(isReplayed ? [[said.replayed, said.yes] as const] : []),
          ...(memberId
            ? [
                [
                  said.member,
                  <Link key="member" href={`/members/${memberId}`}>
                    {said.openMember}
                  </Link>,
                ] as const,
              ]
            : []),
        ]}
      />
      {trace.sameId > 1 && <p className="hint">{said.sameId(trace.sameId)}</p>}
      <Verbatim label={said.key} value={idempotencyKey} />
      <Verbatim label={said.query} value={trace.query} />
      <Verbatim label={said.body} value={trace.body} />
      {trace.isCut && <p className="hint">{said.isCut}</p>}
    </Panel>
  );
}

function Followed({ trace: { transaction, event, workflow, deliveries, devices } }: { trace: Trace }) {
  if (!transaction && !event) return <p className="empty">{said.nothing}</p>;
  return (
    <Panel title={said.followed}>
      <Facts
        facts={[
          [
            said.entry,
            transaction ? said.change(texts.member.types[transaction.type], transaction.delta) : <None key="entry" />,
          ],
          [said.event, event ? event.type : <None key="event" />],
          [said.published, <Moment key="published" at={event?.publishedAt} />],
          [said.processed, workflow ? said.kinds[workflow.kind] : <None key="kind" />],
        ]}
      />
      <Verbatim label={said.workflow} value={workflow?.id} />
      <h3>{said.deliveries}</h3>
      <Table
        name={said.deliveries}
        rows={deliveries}
        keyOf={({ id }) => id}
        empty={said.noDeliveries}
        columns={[
          { title: said.when, cell: ({ createdAt }) => <Moment at={createdAt} /> },
          { title: said.event, cell: ({ eventType }) => eventType },
          {
            title: texts.webhooks.title,
            cell: ({ subscriptionId }) => <Link href={`/webhooks/${subscriptionId}`}>{said.openWebhook}</Link>,
          },
          { title: said.answer, cell: ({ statusCode, error }) => statusCode ?? error ?? texts.frame.none },
          { title: said.tries, numeric: true, cell: ({ attempts }) => number(attempts) },
        ]}
      />
      <h3>{said.phones}</h3>
      <Table
        name={said.phones}
        rows={devices}
        keyOf={({ id }) => id}
        empty={said.noPhones}
        columns={[
          { title: said.pushed, cell: ({ pushedAt }) => <Moment at={pushedAt} /> },
          { title: said.listed, cell: ({ listedAt }) => <Moment at={listedAt} /> },
          { title: said.fetched, cell: ({ fetchedAt }) => <Moment at={fetchedAt} /> },
        ]}
      />
    </Panel>
  );
}

export function Request() {
  const { id = '' } = useParams();
  const trace = useRead(['request', id], () => readTrace(id), { everyMs: followMs });
  return (
    <Page title={said.one} lead={<code className="unbroken">{id}</code>} back={{ to: '/requests', title: said.title }}>
      <Failure error={trace.error} />
      {trace.isPending && <Skeleton />}
      {trace.data && (
        <>
          <Asked trace={trace.data} />
          <Followed trace={trace.data} />
        </>
      )}
    </Page>
  );
}
