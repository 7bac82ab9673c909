// The automatic messages of a loyalty card: a switch, a text and an hour for each, and whom it would go to today.
import { useState } from 'react';
import { Switch } from 'react-aria-components';
import type { components } from '../../sdk/index.js';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { locale } from '../language.js';
import { Button, controlsOf, Form, Select, TextInput } from '../parts/form.js';
import { Failure, Panel, Skeleton } from '../parts/page.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { charactersOf } from '../typed.js';

const said = texts.campaigns;
const maxMessage = 200;

type Rule = components['schemas']['AutomaticMessage'];
type Card = Pick<components['schemas']['Program'], '_id' | 'name' | 'archived' | 'timeZone'>;

const hours = Array.from({ length: 24 }, (_, hour) => {
  const time = new Date(2026, 0, 1, hour).toLocaleTimeString(locale, { hour: 'numeric', minute: '2-digit' });
  return [String(hour), time] as const;
});

/** By the clock of the card, as its hour is; by UTC where the browser does not know the time zone of the card. */
function momentIn(timeZone: string): Intl.DateTimeFormat {
  const parts = { weekday: 'long', day: 'numeric', month: 'long', hour: 'numeric', minute: '2-digit' } as const;
  try {
    return new Intl.DateTimeFormat(locale, { ...parts, timeZoneName: 'short', timeZone });
  } catch {
    return new Intl.DateTimeFormat(locale, { ...parts, timeZoneName: 'short', timeZone: 'UTC' });
  }
}

export function AutomaticMessages({ programs }: { programs: readonly Card[] }) {
  const cards = programs.filter(({ archived }) => !archived);
  const [chosen, setChosen] = useState('');
  const card = cards.find(({ _id }) => _id === chosen) ?? cards[0];
  const path = { id: card?._id ?? '' };
  const rules = useRead(
    ['automatic', path.id],
    () => data(api.GET('/merchants/me/programs/{id}/automatic-messages', { params: { path } })),
    { enabled: card !== undefined },
  );
  if (!card) return null;
  return (
    <Panel title={said.automatic} needs="merchants.campaigns:view" folds>
      <p className="hint">{said.automaticLead}</p>
      {cards.length > 1 && (
        <Select
          name="automaticProgram"
          label={said.messagesOf}
          value={card._id}
          onChange={setChosen}
          options={cards.map(({ _id, name }) => [_id, name] as const)}
        />
      )}
      <Failure error={rules.error} />
      {rules.isPending && <Skeleton />}
      <div className="columns">
        {rules.data?.map((rule) => (
          <AutomaticMessage key={`${card._id} ${rule.audience}`} card={card} rule={rule} />
        ))}
      </div>
    </Panel>
  );
}

function AutomaticMessage({ card, rule }: { card: Card; rule: Rule }) {
  const { audience, on, nextAt } = rule;
  const stored = { message: rule.message ?? '', hour: String(rule.hour) };
  const [draft, setDraft, clear] = useDraft(`automatic:${card._id}:${audience}`, stored);
  const of = controlsOf(draft, setDraft);
  const save = useAction(
    (isOn: boolean) => {
      const { message, hour } = draft;
      const changed = { hour: Number(hour), ...(message !== stored.message && { message }) };
      // Whatever stands in the form, it can be switched off.
      const body = { audience, on: isOn, ...(!(on && !isOn) && changed) };
      const params = { path: { id: card._id } };
      return data(api.PATCH('/merchants/me/programs/{id}/automatic-messages', { params, body }));
    },
    { changes: ['automatic', 'campaigns'], said: said.saved, onDone: (_, isOn) => (isOn || !on) && clear() },
  );
  const title = texts.members.audiences[audience];
  const isLocked = !may('merchants.campaigns:create');
  const isSame = draft.message === stored.message && draft.hour === stored.hour;
  return (
    <Form label={title} findings={save.findings} onSubmit={() => save.run(on)}>
      <h3>{title}</h3>
      <Switch className="checkbox" isSelected={on} isDisabled={isLocked || save.isRunning} onChange={save.run}>
        <span className="box" aria-hidden="true" />
        {said.on}
      </Switch>
      <TextInput
        {...of('message')}
        label={said.text}
        hint={said.left(maxMessage - charactersOf(draft.message))}
        lines={2}
        isDisabled={isLocked}
      />
      <Select
        {...of('hour')}
        label={`${said.hour} (${said.zone(card.timeZone ?? 'UTC')})`}
        options={hours}
        isDisabled={isLocked}
      />
      <p>{said.tells(rule)}</p>
      {nextAt !== undefined && (
        <p>
          {said.next} {momentIn(card.timeZone ?? 'UTC').format(new Date(nextAt))}
        </p>
      )}
      <div>
        <Button type="submit" isDisabled={isLocked || save.isRunning || isSame || (on && draft.message.trim() === '')}>
          {said.save}
        </Button>
      </div>
    </Form>
  );
}
