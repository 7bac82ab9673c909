// The changes of one member: points, rewards, tags and status.
import { useAction, useDraft, useIdempotencyKey, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { Button, controlsOf, Form, Select, Submit, TextInput, wordsOf } from '../parts/form.js';
import { number, Panel } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { changes, type Detail, edit } from './memberDetail.js';

const said = texts.member;

export function Points({ member }: { member: Detail }) {
  const { id, program } = member;
  const isStamps = program.style === 'stamps';
  const title = isStamps ? said.stamps : said.points;
  const key = useIdempotencyKey();
  const [draft, setDraft, clear] = useDraft(`points:${id}`, { delta: isStamps ? '1' : '', changeMessage: '' });
  const give = useAction(
    () => {
      const { delta, changeMessage } = draft;
      const body = { delta: Number(delta), ...(changeMessage && { changeMessage }) };
      return data(
        api.PATCH('/merchants/me/members/{id}/points', { params: { path: { id }, header: key.header() }, body }),
      );
    },
    {
      changes,
      said: ({ previous, current }) => said.changed(program.fields.primaryLabel, previous, current),
      onDone() {
        key.done();
        clear();
      },
    },
  );
  const of = controlsOf(draft, (next) => {
    key.done();
    setDraft(next);
  });
  return (
    <Panel title={title} needs={edit}>
      <Form label={title} findings={give.findings} onSubmit={() => give.run()}>
        <div className="fields">
          {!isStamps && (
            <TextInput {...of('delta')} label={said.delta(program.fields.primaryLabel)} hint={said.deltaHint} />
          )}
          <TextInput {...of('changeMessage')} label={said.changeMessage} />
        </div>
        <div>
          <Submit isRunning={give.isRunning}>{isStamps ? said.giveStamp : said.give}</Submit>
        </div>
      </Form>
    </Panel>
  );
}

export function Redeem({ member }: { member: Detail }) {
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
    { changes, said: said.redeemedNow, onDone: key.done },
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
