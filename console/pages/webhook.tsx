// One subscription: its health and how to improve it, its deliveries as they happen, and replays.
import { useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button, controlsOf, Form, localTime, Select, Submit, TextInput } from '../parts/form.js';
import { Address, Facts, Failure, Moment, number, Page, Panel, Skeleton } from '../parts/page.js';
import { Secret } from '../parts/secret.js';
import { may } from '../session.js';
import { optionsOf, texts } from '../texts.js';
import { isOver, State } from './batchState.js';
import { eventNames } from './eventChoices.js';
import { Change } from './webhookChange.js';
import { Deliveries } from './webhookDeliveries.js';
import { changes, followMs, readsMembers, readWebhook } from './webhookDetail.js';
import { HealthBadge } from './webhooks.js';

const said = texts.webhooks;
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
