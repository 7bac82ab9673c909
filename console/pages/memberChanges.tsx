// The changes of one member: points, rewards, tags and status.
import { useRef } from 'react';
import { useAction, useDraft, useIdempotencyKey, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Button, controlsOf, Form, Select, Submit, TextInput, wordsOf } from '../parts/form.js';
import { Fold, number, Panel } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { changes, type Detail, edit } from './memberDetail.js';

const said = texts.member;

/** A change that was made here, and can be undone. */
export interface Made {
  memberId: string;
  id: string;
  delta: number;
}

interface CounterProps {
  member: Detail;
  /** The last change that was made here. */
  made: Made | null;
  onMade: (made: Made | null) => void;
}

const quick = [1, 2, 3] as const;

/** The balance and what is done most: everything that a person with a phone behind the counter needs comes first. */
export function Points({ member, made, onMade }: CounterProps) {
  const { id, program, balance } = member;
  const isStamps = program.style === 'stamps';
  const title = isStamps ? said.stamps : said.points;
  const unit = program.fields.primaryLabel;
  const key = useIdempotencyKey();
  const sent = useRef('');
  const [draft, setDraft, clear] = useDraft(`points:${id}`, { delta: isStamps ? '1' : '', changeMessage: '' });
  const give = useAction(
    (delta: number) => {
      const { changeMessage } = draft;
      const worded = changeMessage ? { changeMessage } : {};
      // Another change than the one that was not answered.
      if (sent.current !== `${delta} ${changeMessage}`) key.done();
      sent.current = `${delta} ${changeMessage}`;
      const params = { path: { id }, header: key.header() };
      // Several stamps are a sale, with the limits of the program.
      if (isStamps && delta !== 1)
        return data(api.POST('/merchants/me/members/{id}/earn', { params, body: { quantity: delta, ...worded } }));
      return data(api.PATCH('/merchants/me/members/{id}/points', { params, body: { delta, ...worded } }));
    },
    {
      changes,
      said: ({ previous, current }) => said.changed(unit, previous, current),
      onDone({ transaction, member: { id: memberId } }) {
        key.done();
        clear();
        onMade({ ...transaction, memberId });
      },
    },
  );
  const undo = useAction(
    ({ id: transactionId }: Made) =>
      data(
        api.POST('/merchants/me/members/{id}/transactions/{transactionId}/reverse', {
          params: { path: { id, transactionId } },
          body: {},
        }),
      ),
    {
      changes,
      said: ({ previous, current }) => said.changed(unit, previous, current),
      onDone: () => onMade(null),
    },
  );
  const of = controlsOf(draft, setDraft);
  const isRunning = give.isRunning || undo.isRunning;
  const form = (
    <Form label={title} findings={give.findings} onSubmit={() => give.run(Number(draft.delta))}>
      <div className="fields">
        {!isStamps && <TextInput {...of('delta')} label={said.delta(unit)} hint={said.deltaHint} />}
        <TextInput {...of('changeMessage')} label={said.changeMessage} />
      </div>
      <div>
        <Submit isRunning={give.isRunning}>{isStamps ? said.giveStamp : said.give}</Submit>
      </div>
    </Form>
  );
  return (
    <Panel title={title} needs={edit}>
      <p className="balance">
        <strong>{number(balance)}</strong> {unit}
      </p>
      <div className="row quick">
        {quick.map((delta) => (
          <Button key={delta} isDisabled={isRunning} onPress={() => give.run(delta)}>
            {said.plus(delta)}
          </Button>
        ))}
        {made?.memberId === id && (
          <Button isDisabled={isRunning} onPress={() => undo.run(made)}>
            {said.undo(made.delta)}
          </Button>
        )}
      </div>
      {isStamps ? <Fold title={said.withMessage}>{form}</Fold> : form}
    </Panel>
  );
}

export function Redeem({ member, onMade }: Omit<CounterProps, 'made'>) {
  const { id, rewards } = member;
  const key = useIdempotencyKey();
  const redeem = useAction(
    (rewardId: string) =>
      data(
        api.POST('/merchants/me/members/{id}/redeem', {
          params: { path: { id }, header: key.header() },
          body: rewardId === 'default' ? {} : { rewardId },
        }),
      ),
    {
      changes,
      said: said.redeemedNow,
      onDone({ transaction, member: { id: memberId } }) {
        key.done();
        onMade({ ...transaction, memberId });
      },
    },
  );
  return (
    <Panel title={said.rewards}>
      <Table
        name={said.rewards}
        rows={rewards}
        keyOf={(reward) => reward.id}
        empty={said.noRewards}
        columns={[
          { title: said.reward, cell: ({ name }) => name },
          { title: said.cost, numeric: true, cell: ({ cost }) => number(cost) },
          {
            title: texts.frame.actions,
            cell: ({ id: rewardId, name, ready, missing }) =>
              ready ? (
                <Button
                  aria-label={said.redeemReward(name)}
                  isDisabled={redeem.isRunning || !may(edit)}
                  onPress={() => redeem.run(rewardId)}
                >
                  {said.redeem}
                </Button>
              ) : (
                said.missing(missing)
              ),
          },
        ]}
      />
    </Panel>
  );
}

export function Tags({ member: { id, tags } }: { member: Detail }) {
  const [text, setText, clear] = useDraft(`tags:${id}`, '');
  const known = useRead(['tags'], () => data(api.GET('/merchants/me/members/tags')));
  const params = { path: { id } };
  const add = useAction(
    () => data(api.POST('/merchants/me/members/{id}/tags', { params, body: { tags: wordsOf(text) } })),
    {
      changes: [...changes, 'tags'],
      said: said.tagged,
      onDone: clear,
    },
  );
  const remove = useAction(
    (tag: string) => data(api.DELETE('/merchants/me/members/{id}/tags', { params, body: { tags: [tag] } })),
    { changes: [...changes, 'tags'], said: said.untagged },
  );
  return (
    <Panel title={said.tags}>
      {tags.length > 0 && (
        <ul className="tags">
          {tags.map((tag) => (
            <li key={tag}>
              {tag}
              <Button
                kind="link"
                isDisabled={!may(edit)}
                aria-label={said.removeTag(tag)}
                onPress={() => remove.run(tag)}
              >
                ×
              </Button>
            </li>
          ))}
        </ul>
      )}
      {may(edit) && (
        <Form label={said.tags} className="form line" findings={add.findings} onSubmit={() => add.run()}>
          <TextInput name="tags" label={said.newTags} list="known-tags" value={text} onChange={setText} />
          <datalist id="known-tags">
            {known.data?.tags.map((tag) => (
              <option key={tag} value={tag} />
            ))}
          </datalist>
          <Submit isRunning={add.isRunning}>{said.addTags}</Submit>
        </Form>
      )}
    </Panel>
  );
}

export function Status({ member }: { member: Detail }) {
  const { id } = member;
  const [draft, setDraft, clear] = useDraft(`status:${id}`, { status: member.status as string, reason: '' });
  const of = controlsOf(draft, setDraft);
  const change = useAction(
    () => {
      const { status, reason } = draft;
      return data(
        api.PATCH('/merchants/me/members/{id}/status', {
          params: { path: { id } },
          body: { status: status as Detail['status'], ...(reason && { reason }) },
        }),
      );
    },
    { changes, said: said.statusChanged, onDone: clear },
  );
  return (
    <Panel title={texts.members.status} needs={edit}>
      <Form label={texts.members.status} className="form line" findings={change.findings} onSubmit={() => change.run()}>
        <Select {...of('status')} label={said.newStatus} options={Object.entries(texts.members.statuses)} />
        <TextInput {...of('reason')} label={said.reason} />
        <Submit isRunning={change.isRunning}>{said.changeStatus}</Submit>
      </Form>
    </Panel>
  );
}
