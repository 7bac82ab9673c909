// The changes of one member: points, rewards, tags and status.
import { useState } from 'react';
import { useAction, useDraft, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { useKeyedAction } from '../keyedAction.js';
import { Confirm } from '../parts/dialog.js';
import { Button, controlsOf, Form, Select, Submit, TextInput, wordsOf } from '../parts/form.js';
import { number, Panel, useNow } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { wholeNumber } from '../typed.js';
import { changes, type Detail, edit, rewardIn, unitOf, useLedger, useReversal } from './memberDetail.js';
import { blockedBy, isUnusual, notGivenBecause } from './memberGuards.js';
import { nameOf } from './members.js';

/** The types of ledger entries that can be reversed (stack/buildConsole.ts). */
declare const REVERSIBLE_TYPES: readonly string[];

const said = texts.member;

const quick = [1, 2, 3] as const;
/** As long as at a till. */
const undoableMs = 10 * 60_000;
const lookMs = 15_000;

/** The newest change of the balance, for as long as one press takes it back. */
function useUndoable(id: string) {
  const now = useNow(lookMs);
  const [newest] = useLedger(id, 1).data?.items ?? [];
  const isUndoable =
    newest !== undefined &&
    !newest.reversedBy &&
    REVERSIBLE_TYPES.includes(newest.type) &&
    now - Date.parse(newest.createdAt) < undoableMs;
  return isUndoable ? newest : undefined;
}

/** The balance and what is done most: everything that a person with a phone behind the counter needs comes first. */
export function Points({ member }: { member: Detail }) {
  const { id, program, balance } = member;
  const isStamps = program.style === 'stamps';
  const title = isStamps ? said.stamps : said.points;
  const label = program.fields.primaryLabel;
  const unit = unitOf(member);
  const undoable = useUndoable(id);
  const reward = undoable && rewardIn(member, undoable);
  const [asks, setAsks] = useState<number | null>(null);
  const [draft, setDraft, clear] = useDraft(`points:${id}`, { delta: isStamps ? '1' : '', changeMessage: '' });
  const changed = ({ previous, current }: { previous: number; current: number }) =>
    said.changed(label, previous, current);
  const give = useKeyedAction(
    (delta: number, keyed) => {
      const { changeMessage } = draft;
      const worded = changeMessage ? { changeMessage } : {};
      const params = { path: { id }, header: keyed('give', id, delta, changeMessage) };
      // Several stamps are a sale, with the limits of the program.
      if (isStamps && delta !== 1)
        return data(api.POST('/merchants/me/members/{id}/earn', { params, body: { quantity: delta, ...worded } }));
      return data(api.PATCH('/merchants/me/members/{id}/points', { params, body: { delta, ...worded } }));
    },
    {
      changes,
      said: changed,
      undo: ({ transaction }) => undo.run({ entry: transaction.id, reward: undefined }),
      onDone: clear,
    },
  );
  const undo = useReversal(id, changed);
  const of = controlsOf(draft, setDraft);
  const isRunning = give.isRunning || undo.isRunning;
  const typed = draft.delta.trim() === '' ? 0 : (wholeNumber(draft.delta) ?? Number.NaN);
  const hindrance = notGivenBecause(member, 1);
  const typedHindrance = notGivenBecause(member, typed);
  const typedHint = typedHindrance === hindrance ? undefined : typedHindrance;
  const start = (delta: number) => (isUnusual(member, delta) ? setAsks(delta) : give.run(delta));
  const form = (
    <Form label={title} findings={give.findings} onSubmit={() => typedHindrance === undefined && start(typed)}>
      <div className={isStamps ? 'fields few' : 'fields'}>
        <TextInput
          {...of('delta')}
          label={isStamps ? said.howMany : said.delta(unit)}
          hint={isStamps ? typedHint : said.deltaHint}
          {...(isStamps && { inputMode: 'numeric' as const })}
        />
        <TextInput {...of('changeMessage')} label={said.changeMessage} />
      </div>
      <div>
        <Submit isRunning={give.isRunning} isDisabled={typedHindrance !== undefined}>
          {isStamps ? said.giveStamps(typed) : said.give}
        </Submit>
      </div>
    </Form>
  );
  return (
    <Panel title={title} needs={edit}>
      <p className="balance">
        <strong>{number(balance)}</strong> {label}
      </p>
      <div className="row quick">
        {quick.map((delta) => (
          <Button
            key={delta}
            isDisabled={isRunning || notGivenBecause(member, delta) !== undefined}
            onPress={() => give.run(delta)}
          >
            {said.plus(delta)}
          </Button>
        ))}
        {undoable && (
          <Button isDisabled={isRunning} onPress={() => undo.run({ entry: undoable.id, reward })}>
            {reward === undefined ? said.undo(undoable.delta) : said.undoReward(reward)}
          </Button>
        )}
      </div>
      {hindrance !== undefined && <p className="hint">{hindrance}</p>}
      {form}
      {asks !== null && (
        <Confirm
          title={asks < 0 ? said.takeTitle(-asks, unit) : said.giveTitle(asks, unit)}
          action={asks < 0 ? said.takeAll : said.giveAnyway}
          kind="danger"
          isRunning={give.isRunning}
          onConfirm={() => give.run(asks, { onSettled: () => setAsks(null) })}
          onClose={() => setAsks(null)}
        >
          <p>{(asks < 0 ? said.takeHint : said.giveHint)(nameOf(member), balance, unit)}</p>
        </Confirm>
      )}
    </Panel>
  );
}

export function Redeem({ member }: { member: Detail }) {
  const { id, rewards } = member;
  const [asks, setAsks] = useState<Detail['rewards'][number] | null>(null);
  const undo = useReversal(id, () => said.reversed);
  const redeem = useKeyedAction(
    ({ id: rewardId }: Detail['rewards'][number], keyed) =>
      data(
        api.POST('/merchants/me/members/{id}/redeem', {
          params: { path: { id }, header: keyed('redeem', id, rewardId) },
          body: rewardId === 'default' ? {} : { rewardId },
        }),
      ),
    {
      changes,
      said: (_, { name }) => said.redeemedFor(name, nameOf(member)),
      undo: ({ transaction }) => undo.run({ entry: transaction.id, reward: rewardIn(member, transaction) }),
      onDone: () => setAsks(null),
    },
  );
  const hindrance = blockedBy(member);
  return (
    <Panel title={said.rewards}>
      {hindrance !== undefined && rewards.some(({ ready }) => ready) && <p className="hint">{hindrance}</p>}
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
            cell: (reward) =>
              reward.ready ? (
                <Button
                  aria-label={said.redeemReward(reward.name)}
                  isDisabled={redeem.isRunning || !may(edit) || hindrance !== undefined}
                  onPress={() => setAsks(reward)}
                >
                  {said.redeem}
                </Button>
              ) : (
                said.missing(reward.missing)
              ),
          },
        ]}
      />
      {asks && (
        <Confirm
          title={said.redeemTitle(asks.name, nameOf(member))}
          action={said.redeem}
          isRunning={redeem.isRunning}
          onConfirm={() => redeem.run(asks)}
          onClose={() => setAsks(null)}
        >
          <p>{said.redeemHint(asks.cost, unitOf(member))}</p>
        </Confirm>
      )}
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
