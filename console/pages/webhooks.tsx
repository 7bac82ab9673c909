// Webhook subscriptions with their health, and a new one.
import { useState } from 'react';
import { Link } from 'wouter';
import type { components } from '../../sdk/index.js';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Choices, controlsOf, Form, Submit, TextInput } from '../parts/form.js';
import { Address, Ago, Badge, Facts, Failure, number, Page, Panel, Skeleton } from '../parts/page.js';
import { Plot } from '../parts/plot.js';
import { Secret } from '../parts/secret.js';
import { isTyped, OpenPanel, SidePanel } from '../parts/sidePanel.js';
import { PagedTable, RowLink, usePage } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { type EventChoice, eventNames, eventTypes } from './eventChoices.js';
import { readsMembers } from './webhookDetail.js';

const said = texts.webhooks;

type Health = components['schemas']['SubscriptionHealth'];
const kinds = { ok: 'good', untried: 'plain', failing: 'bad', disabled: 'plain' } as const;

export function HealthBadge({ health: { state, lastSuccessAt } }: { health: Health }) {
  const shown = state === 'ok' && lastSuccessAt === null ? 'untried' : state;
  return <Badge kind={kinds[shown]}>{said.health[shown]}</Badge>;
}

export function Webhooks() {
  const [page, setPage] = usePage();
  const webhooks = useRead(
    ['webhooks', page],
    () => data(api.GET('/merchants/me/webhooks', { params: { query: { page } } })),
    { keep: true, everyMs: 10_000 },
  );
  return (
    <Page
      title={texts.nav.webhooks}
      lead={said.lead}
      actions={
        <>
          <Link href="/requests">{texts.requests.title}</Link>
          <NewWebhook />
        </>
      }
    >
      <Failure error={webhooks.error} />
      <PagedTable
        name={texts.nav.webhooks}
        data={webhooks.data}
        onPage={setPage}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.receiver, cell: ({ id, name }) => <RowLink to={`/webhooks/${id}`}>{name}</RowLink> },
          { title: said.url, cell: ({ url }) => <Address>{url}</Address> },
          { title: said.events, cell: ({ events }) => eventNames(events) },
          { title: said.state, cell: ({ health }) => <HealthBadge health={health} /> },
          { title: said.lastSuccess, cell: ({ health }) => <Ago at={health.lastSuccessAt} /> },
        ]}
      />
      {may('merchants.members:view') && <Deliveries />}
    </Page>
  );
}

const plotted = ['succeeded', 'failedAttempts', 'exhausted'] as const;

function Deliveries() {
  const stats = useRead(['stats', 'deliveries'], () => data(api.GET('/merchants/me/stats')), { everyMs: 30_000 });
  const { totals, days = [] } = stats.data ?? {};
  return (
    <Panel title={said.lately}>
      <Failure error={stats.error} />
      {totals ? (
        <>
          <Facts facts={plotted.map((name) => [said[name], number(totals.deliveries[name])])} />
          <Plot
            title={said.lately}
            days={days.map(({ day }) => day)}
            series={plotted.map((name) => ({
              title: said[name],
              values: days.map(({ deliveries }) => deliveries[name]),
            }))}
          />
        </>
      ) : (
        <Skeleton />
      )}
    </Panel>
  );
}

const blank = { name: '', url: '', events: ['*'] as EventChoice[] };

function NewWebhook() {
  const [draft, setDraft, clear] = useDraft('new-webhook', blank);
  const of = controlsOf(draft, setDraft);
  const [isNew, setIsNew] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const creation = useAction(
    () => {
      const { name, url, events } = draft;
      const body = { url, events, ...(name && { name }) };
      return data(api.POST('/merchants/me/webhooks', { body }));
    },
    {
      changes: ['webhooks'],
      said: said.created,
      onDone(created) {
        setIsNew(false);
        setSecret(created.secret);
        clear();
      },
    },
  );
  return (
    <>
      <OpenPanel
        title={said.new}
        needs={['merchants.campaigns:create', readsMembers]}
        explains={may('merchants.campaigns:create')}
        onPress={() => setIsNew(true)}
      />
      {isNew && (
        <SidePanel title={said.new} isUnsaved={isTyped(draft, blank)} onClose={() => setIsNew(false)}>
          <Form label={said.new} findings={creation.findings} onSubmit={() => creation.run()}>
            <TextInput {...of('url')} type="url" label={said.url} />
            <TextInput {...of('name')} label={said.name} />
            <Choices {...of('events')} label={said.events} options={eventTypes} />
            <div>
              <Submit isRunning={creation.isRunning}>{texts.frame.create}</Submit>
            </div>
          </Form>
        </SidePanel>
      )}
      {secret && (
        <Secret title={said.secretTitle} hint={said.secretHint} value={secret} onClose={() => setSecret(null)} />
      )}
    </>
  );
}
