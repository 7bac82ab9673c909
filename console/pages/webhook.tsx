// One subscription: its health and how to improve it, its deliveries as they happen, and replays.
import { useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { queryClient, useAction, useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { useUnsaved } from '../leave.js';
import { Confirm, Window } from '../parts/dialog.js';
import { Button, Choices, controlsOf, Form, localTime, Select, Submit, TextInput } from '../parts/form.js';
import { Address, Badge, Facts, Failure, Moment, number, Page, Panel, Skeleton } from '../parts/page.js';
import { Secret } from '../parts/secret.js';
import { PagedTable, Table, usePage } from '../parts/table.js';
import { lacking, may } from '../session.js';
import { optionsOf, texts } from '../texts.js';
import { type EventChoice, eventNames, eventTypes } from './eventChoices.js';
import { isOver, State } from './imports.js';
import { HealthBadge, readsMembers } from './webhooks.js';

const said = texts.webhooks;
const changes = ['webhooks', 'webhook', 'deliveries'];
const followMs = 5_000;

const readWebhook = (id: string) => data(api.GET('/merchants/me/webhooks/{id}', { params: { path: { id } } }));
type Subscription = Awaited<ReturnType<typeof readWebhook>>;

export function Webhook() {
  const { id = '' } = useParams();
  const [, go] = useLocation();
  const webhook = useRead(['webhook', id], () => readWebhook(id), { everyMs: 3 * followMs });
  const [asks, setAsks] = useState<'rotate' | 'delete' | null>(null);
  const [secret, setSecret] = useState<string | null>(null);
  const params = { path: { id } };
  const test = useAction(() => data(api.POST('/merchants/me/webhooks/{id}/test', { params })), {
    changes,
    said: said.tested,
  });
  const rotate = useAction(() => data(api.POST('/merchants/me/webhooks/{id}/rotate-secret', { params, body: {} })), {
    changes,
    onDone(rotated) {
      setAsks(null);
      setSecret(rotated.secret);
    },
  });
  const remove = useAction(() => data(api.DELETE('/merchants/me/webhooks/{id}', { params })), {
    changes,
    said: said.deleted,
    onDone: () => go('/webhooks'),
  });
  const toggle = useAction(
    (enabled: boolean) => data(api.PATCH('/merchants/me/webhooks/{id}', { params, body: { enabled } })),
    { changes, said: (_, enabled) => (enabled ? said.enabled : said.disabledNow) },
  );
  const back = { to: '/webhooks', title: texts.nav.webhooks };
  if (!webhook.data)
    return (
      <Page title={said.title} back={back}>
        {webhook.error ? <Failure error={webhook.error} /> : <Skeleton />}
      </Page>
    );
  const mayEdit = may('merchants.campaigns:edit');
  const { name, url, events, enabled, health, timeoutMs, retryPolicy } = webhook.data;
  return (
    <Page
      title={name}
      back={back}
      lead={<HealthBadge health={health} />}
      actions={
        <>
          <Button isDisabled={test.isRunning || !mayEdit} onPress={() => test.run()}>
            {said.test}
          </Button>
          <Button isDisabled={!mayEdit || !may(readsMembers)} onPress={() => setAsks('rotate')}>
            {said.rotate}
          </Button>
          <Button isDisabled={toggle.isRunning || !mayEdit} onPress={() => toggle.run(!enabled)}>
            {enabled ? said.disable : said.enable}
          </Button>
          <Button kind="danger" isDisabled={!may('merchants.campaigns:delete')} onPress={() => setAsks('delete')}>
            {said.delete}
          </Button>
        </>
      }
    >
      {health.state !== 'ok' && (
        <p className="banner failed" role="status">
          {said.advice[health.disabledReason ?? health.state]}
        </p>
      )}
      <Panel title={said.facts}>
        <Facts
          facts={[
            [said.lastSuccess, <Moment key="success" at={health.lastSuccessAt} />],
            [said.failingSince, <Moment key="failing" at={health.failingSince} />],
            [said.failures, number(health.consecutiveFailures)],
          ]}
        />
      </Panel>
      <Panel title={said.settings}>
        <Facts
          facts={[
            [said.url, <Address key="url">{url}</Address>],
            [said.events, eventNames(events)],
            [said.attempts, number(retryPolicy.maxAttempts)],
            [said.backoff, said.seconds(retryPolicy.backoffMs / 1_000)],
            [said.timeout, said.seconds(timeoutMs / 1_000)],
          ]}
        />
      </Panel>
      <Deliveries id={id} />
      <div className="columns">
        <Range id={id} />
        <Change webhook={webhook.data} />
      </div>
      {asks === 'rotate' && (
        <Confirm
          title={said.rotate}
          action={said.rotate}
          isRunning={rotate.isRunning}
          onConfirm={() => rotate.run()}
          onClose={() => setAsks(null)}
        >
          <p>{said.rotateHint}</p>
        </Confirm>
      )}
      {asks === 'delete' && (
        <Confirm
          title={said.delete}
          action={said.delete}
          kind="danger"
          isRunning={remove.isRunning}
          onConfirm={() => remove.run()}
          onClose={() => setAsks(null)}
        >
          <p>{said.deleteHint}</p>
        </Confirm>
      )}
      {secret && (
        <Secret title={said.secretTitle} hint={said.secretHint} value={secret} onClose={() => setSecret(null)} />
      )}
    </Page>
  );
}

const states = { succeeded: 'good', exhausted: 'bad', retrying: 'wait', pending: 'wait', skipped: 'plain' } as const;

const readDeliveries = (query: { page: number; subscriptionId: string; success?: boolean }) =>
  data(api.GET('/merchants/me/webhooks/delivery-logs', { params: { query } }));
type Delivery = Awaited<ReturnType<typeof readDeliveries>>['items'][number];

const isTest = ({ payload }: Delivery): boolean => (payload?.data as { test?: boolean } | undefined)?.test === true;

function Deliveries({ id }: { id: string }) {
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
          { title: said.when, cell: ({ createdAt }) => <Moment at={createdAt} /> },
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

const dayMs = 86_400_000;

function Range({ id }: { id: string }) {
  const [draft, setDraft] = useDraft(`range:${id}`, {
    since: localTime(new Date(Date.now() - dayMs)),
    until: '',
    only: 'failed',
  });
  const of = controlsOf(draft, setDraft);
  const [batchId, setBatchId] = useState<string | null>(null);
  const replay = useAction(
    () => {
      const { since, until, only } = draft;
      const body = {
        since: new Date(since).toISOString(),
        ...(until && { until: new Date(until).toISOString() }),
        only: only as 'failed' | 'all',
      };
      return data(api.POST('/merchants/me/webhooks/{id}/replay', { params: { path: { id } }, body }));
    },
    { changes, said: said.rangeStarted, onDone: (batch) => setBatchId(batch.id) },
  );
  const batch = useRead(
    ['batch', batchId],
    () => data(api.GET('/merchants/me/batches/{id}', { params: { path: { id: batchId ?? '' } } })),
    { enabled: batchId !== null, everyMs: (now) => (now && isOver(now) ? false : 1_000) },
  );
  return (
    <Panel
      title={said.range}
      needs={['merchants.campaigns:edit', readsMembers]}
      explains={may('merchants.campaigns:edit')}
    >
      <Form label={said.range} findings={replay.findings} onSubmit={() => replay.run()}>
        <TextInput {...of('since')} type="datetime-local" label={said.since} />
        <TextInput {...of('until')} type="datetime-local" label={said.until} hint={said.untilHint} />
        <Select {...of('only')} label={said.only} options={optionsOf(said.onlys)} />
        <div>
          <Submit isRunning={replay.isRunning}>{said.replayRange}</Submit>
        </div>
      </Form>
      {batch.data && <State batch={batch.data} />}
    </Panel>
  );
}

function Change({ webhook }: { webhook: Subscription }) {
  const { id, name, url, events, retryPolicy, timeoutMs } = webhook;
  const saved = {
    // The answer's list is not typed.
    ...{ name, url, events: events as EventChoice[] },
    maxAttempts: String(retryPolicy.maxAttempts),
    backoffSeconds: String(retryPolicy.backoffMs / 1_000),
    timeoutSeconds: String(timeoutMs / 1_000),
  };
  const [draft, setDraft, clear] = useDraft(`webhook:${id}`, saved);
  useUnsaved(JSON.stringify(draft) !== JSON.stringify(saved));
  const of = controlsOf(draft, setDraft);
  const save = useAction(
    () => {
      const body = {
        ...{ name: draft.name, events: draft.events, ...(draft.url !== url && { url: draft.url }) },
        timeoutMs: Math.round(Number(draft.timeoutSeconds) * 1_000),
        retryPolicy: {
          ...retryPolicy,
          maxAttempts: Number(draft.maxAttempts),
          backoffMs: Math.round(Number(draft.backoffSeconds) * 1_000),
        },
      };
      return data(api.PATCH('/merchants/me/webhooks/{id}', { params: { path: { id } }, body }));
    },
    {
      changes,
      said: said.saved,
      onDone(saved) {
        queryClient.setQueryData(['webhook', id], saved);
        clear();
      },
    },
  );
  const text = (
    field: 'name' | 'url' | 'maxAttempts' | 'backoffSeconds' | 'timeoutSeconds',
    label: string,
    path: string,
  ) => (
    <TextInput
      {...of(field)}
      name={path}
      label={label}
      {...(field === 'url' && !may(readsMembers) && { isDisabled: true, hint: texts.frame.notAllowed(readsMembers) })}
    />
  );
  return (
    <Panel title={said.change} needs="merchants.campaigns:edit">
      <Form label={said.change} findings={save.findings} onSubmit={() => save.run()}>
        {text('name', said.name, 'name')}
        {text('url', said.url, 'url')}
        <div className="fields">
          {text('maxAttempts', said.attempts, 'retryPolicy.maxAttempts')}
          {text('backoffSeconds', said.backoffSeconds, 'retryPolicy.backoffMs')}
          {text('timeoutSeconds', said.timeoutSeconds, 'timeoutMs')}
        </div>
        <Choices {...of('events')} label={said.events} options={eventTypes} />
        <div>
          <Submit isRunning={save.isRunning}>{texts.frame.save}</Submit>
        </div>
      </Form>
    </Panel>
  );
}
