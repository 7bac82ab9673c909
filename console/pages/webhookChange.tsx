// What can be changed of one subscription.
import { queryClient, useAction, useDraft } from '../actions.js';
import { api, data } from '../api.js';
import { useUnsaved } from '../leave.js';
import { Choices, controlsOf, Form, Submit, TextInput } from '../parts/form.js';
import { Panel } from '../parts/page.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { type EventChoice, eventTypes } from './eventChoices.js';
import { changes, readsMembers, type Subscription } from './webhookDetail.js';

const said = texts.webhooks;

export function Change({ webhook }: { webhook: Subscription }) {
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
