// One member: the card as the member sees it, the ledger with reversals, the timeline with each phone's fetches, and
// all actions on the member.
import { useEffect, useRef, useState } from 'react';
import { useLocation, useParams } from 'wouter';
import { queryClient, useAction, useDraft, useRead } from '../actions.js';
import { api, apiUrl, data, newKey } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button, Form, Select, Submit, TextInput } from '../parts/form.js';
import { Address, Badge, Facts, Failure, Moment, number, Page, Panel, Skeleton } from '../parts/page.js';
import { Android, type ApplePass, type GooglePass, Iphone } from '../parts/phones.js';
import { PagedTable, Table, usePage } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { ShowImport } from './imports.js';
import { nameOf, StatusBadge } from './members.js';
import { useNames } from './people.js';

const said = texts.member;
const edit = 'merchants.members:edit';
const changes = ['member', 'member-card', 'members', 'ledger', 'timeline', 'pass'];
/** A caller has 1,000 requests in 15 minutes; the polling of this page uses a third of them. */
const followMs = 10_000;

const readMember = (id: string) => data(api.GET('/merchants/me/members/{id}', { params: { path: { id } } }));
type Detail = Awaited<ReturnType<typeof readMember>>;

export function Member() {
  const { id = '' } = useParams();
  const member = useRead(['member', id], () => readMember(id), { everyMs: followMs });
  const back = { to: '/members', title: texts.nav.members };
  if (!member.data)
    return (
      <Page title={said.title} back={back}>
        {member.error ? <Failure error={member.error} /> : <Skeleton />}
      </Page>
    );
  const { program, balance, tier, redeemedCount, deviceCount, tags, email, phone, memberCode, status, apple } =
    member.data;
  const { externalId, expiring, consent } = member.data;
  return (
    <Page title={nameOf(member.data)} back={back} lead={<StatusBadge status={status} />}>
      <div className="columns">
        <Panel
          title={said.card}
          actions={
            <a href={apple.passUrl} target="_blank" rel="noreferrer">
              {said.openCard}
            </a>
          }
        >
          <Card member={member.data} />
          <Facts
            facts={[
              [program.fields.primaryLabel, number(balance)],
              ...(tier ? ([[said.tier, tier]] as const) : []),
              [texts.members.program, program.name],
              [texts.members.code, <code key="code">{memberCode}</code>],
              [texts.members.email, email ? <Address key="email">{email}</Address> : texts.frame.none],
              [said.phone, phone ?? texts.frame.none],
              [said.externalId, externalId ?? texts.frame.none],
              [said.phones, number(deviceCount)],
              [said.redeemed, number(redeemedCount)],
              [said.tags, tags.length > 0 ? tags.join(', ') : texts.frame.none],
              ...(expiring.length > 0 ? ([[said.expiring, expiring.map(expiringText).join('; ')]] as const) : []),
              ...(consent ? ([[said.consent, consent.text]] as const) : []),
            ]}
          />
        </Panel>
        <div className="stack">
          <Points member={member.data} />
          <Redeem member={member.data} />
          <Pass member={member.data} />
        </div>
      </div>
      <Ledger id={id} />
      <div className="columns">
        <Person member={member.data} />
        <div className="stack">
          <Tags member={member.data} />
          <Status member={member.data} />
        </div>
      </div>
      <Timeline id={id} />
      <PersonalData member={member.data} />
    </Page>
  );
}

const expiringText = ({ points, at }: Detail['expiring'][number]) =>
  said.expiringAt(points, new Date(at).toLocaleDateString('en', { dateStyle: 'medium' }));

/** The pass as the member has it, read again together with the member after an action, and when others changed it. */
function Card({ member: { id, updatedAt, program } }: { member: Detail }) {
  const { data: card, error } = useRead(['member-card', id], () =>
    data(api.GET('/merchants/me/members/{id}/preview', { params: { path: { id } } })),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: these tell of a change
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ['member-card', id] }, { cancelRefetch: false });
  }, [id, updatedAt, program]);
  if (error) return <Failure error={error} />;
  return (
    <div className="phones">
      <Iphone pass={card?.apple as ApplePass | undefined} pictures={card?.appleImages} />
      <Android pass={card?.google as GooglePass | undefined} pictures={card?.appleImages} message="" />
    </div>
  );
}

/**
 * The idempotency key of one form: it stays the same until the request is answered, so that sending it again never
 * counts twice.
 */
function useIdempotencyKey() {
  const current = useRef<string>(undefined);
  return {
    header: () => {
      current.current ??= newKey();
      return { 'Idempotency-Key': current.current };
    },
    done: () => {
      current.current = undefined;
    },
  };
}

function Points({ member }: { member: Detail }) {
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
  const put = (next: Partial<typeof draft>) => {
    key.done();
    setDraft({ ...draft, ...next });
  };
  return (
    <Panel title={title} needs={edit}>
      <Form label={title} findings={give.findings} onSubmit={() => give.run()}>
        <div className="fields">
          {!isStamps && (
            <TextInput
              name="delta"
              label={said.delta(program.fields.primaryLabel)}
              hint={said.deltaHint}
              value={draft.delta}
              onChange={(delta) => put({ delta })}
            />
          )}
          <TextInput
            name="changeMessage"
            label={said.changeMessage}
            value={draft.changeMessage}
            onChange={(changeMessage) => put({ changeMessage })}
          />
        </div>
        <div>
          <Submit isRunning={give.isRunning}>{isStamps ? said.giveStamp : said.give}</Submit>
        </div>
      </Form>
    </Panel>
  );
}

function Redeem({ member }: { member: Detail }) {
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

const words = (text: string) =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter(Boolean);

function Tags({ member: { id, tags } }: { member: Detail }) {
  const [text, setText, clear] = useDraft(`tags:${id}`, '');
  const known = useRead(['tags'], () => data(api.GET('/merchants/me/members/tags')));
  const params = { path: { id } };
  const add = useAction(
    () => data(api.POST('/merchants/me/members/{id}/tags', { params, body: { tags: words(text) } })),
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

function Status({ member }: { member: Detail }) {
  const { id } = member;
  const [draft, setDraft, clear] = useDraft(`status:${id}`, { status: member.status as string, reason: '' });
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
        <Select
          name="status"
          label={said.newStatus}
          value={draft.status}
          options={Object.entries(texts.members.statuses)}
          onChange={(status) => setDraft({ ...draft, status })}
        />
        <TextInput
          name="reason"
          label={said.reason}
          value={draft.reason}
          onChange={(reason) => setDraft({ ...draft, reason })}
        />
        <Submit isRunning={change.isRunning}>{said.changeStatus}</Submit>
      </Form>
    </Panel>
  );
}

const personFields = ['firstName', 'lastName', 'email', 'phone', 'externalId'] as const;

function Person({ member }: { member: Detail }) {
  const { id } = member;
  const [draft, setDraft, clear] = useDraft<Record<string, string>>(`person:${id}`, {});
  const changed = personFields.filter((field) => draft[field] !== undefined && draft[field] !== (member[field] ?? ''));
  const save = useAction(
    () => {
      const body = Object.fromEntries(changed.map((field) => [field, draft[field] || null]));
      return data(api.PATCH('/merchants/me/members/{id}', { params: { path: { id } }, body }));
    },
    { changes, said: said.personSaved, onDone: clear },
  );
  return (
    <Panel title={said.person} needs={edit}>
      <Form label={said.person} findings={save.findings} onSubmit={() => save.run()}>
        <div className="fields">
          {personFields.map((field) => (
            <TextInput
              key={field}
              name={field}
              label={said[field]}
              value={draft[field] ?? member[field] ?? ''}
              onChange={(value) => setDraft({ ...draft, [field]: value })}
            />
          ))}
        </div>
        <div>
          <Button kind="primary" type="submit" isDisabled={save.isRunning || changed.length === 0}>
            {texts.frame.save}
          </Button>
        </div>
      </Form>
    </Panel>
  );
}

function Pass({ member: { id } }: { member: Detail }) {
  const report = useRead(['pass', id], () =>
    data(api.GET('/merchants/me/members/{id}/pass', { params: { path: { id } } })),
  );
  const params = { path: { id } };
  const push = useAction(() => data(api.POST('/merchants/me/members/{id}/push', { params })), {
    changes,
    said: ({ passUpdate }) => (passUpdate ? said.pushed(passUpdate.apple.devicesNotified) : said.pushing),
  });
  const [asks, setAsks] = useState(false);
  const replace = useAction(() => data(api.POST('/merchants/me/members/{id}/card-link', { params, body: {} })), {
    changes,
    said: said.linkReplaced,
    onDone: () => setAsks(false),
  });
  return (
    <Panel
      title={said.pass}
      actions={
        <>
          <Button isDisabled={push.isRunning || !may(edit)} onPress={() => push.run()}>
            {said.push}
          </Button>
          <Button isDisabled={!may(edit)} onPress={() => setAsks(true)}>
            {said.replaceLink}
          </Button>
        </>
      }
    >
      <Failure error={report.error} />
      {report.data?.findings.map((finding) => (
        <p key={finding} className="hint warning">
          {finding}
        </p>
      ))}
      {report.data && (
        <Table
          name={said.phones}
          rows={report.data.apple.devices}
          keyOf={(device) => device.id}
          empty={said.noPhones(report.data.apple.mode, report.data.google.saved)}
          columns={[
            { title: said.registered, cell: ({ registeredAt }) => <Moment at={registeredAt} /> },
            { title: said.lastPush, cell: ({ lastPush }) => <Moment at={lastPush?.at} /> },
            {
              title: said.lastFetch,
              cell: ({ lastFetch }) =>
                lastFetch ? (
                  <>
                    <Moment at={lastFetch.at} /> {said.after(lastFetch.latencyMs)}
                  </>
                ) : (
                  texts.frame.none
                ),
            },
          ]}
        />
      )}
      {asks && (
        <Confirm
          title={said.replaceLink}
          action={said.replaceLink}
          isRunning={replace.isRunning}
          onConfirm={() => replace.run()}
          onClose={() => setAsks(false)}
        >
          <p>{said.replaceLinkHint}</p>
        </Confirm>
      )}
    </Panel>
  );
}

/** An import, and a program that lets points expire, have no name. */
function By({ actor: { type, id }, name }: { actor: { type: string; id: string }; name: string }) {
  if (type === 'import') return <ShowImport id={id} label={texts.imports.import} title={texts.imports.import} />;
  return <Address>{type === 'program' ? said.byProgram : name}</Address>;
}

function Ledger({ id }: { id: string }) {
  const [page, setPage] = usePage();
  const whoOf = useNames();
  const [asks, setAsks] = useState<{ id: string; delta: number } | null>(null);
  const [reason, setReason] = useState('');
  const key = useIdempotencyKey();
  const ledger = useRead(
    ['ledger', id, page],
    () => data(api.GET('/merchants/me/members/{id}/transactions', { params: { path: { id }, query: { page } } })),
    { keep: true, everyMs: followMs },
  );
  const reverse = useAction(
    (transactionId: string) =>
      data(
        api.POST('/merchants/me/members/{id}/transactions/{transactionId}/reverse', {
          params: { path: { id, transactionId }, header: key.header() },
          body: reason ? { reason } : {},
        }),
      ),
    {
      changes,
      said: said.reversed,
      onDone() {
        key.done();
        setAsks(null);
        setReason('');
      },
    },
  );
  const reversible = ['adjust', 'earn', 'redeem'];
  return (
    <Panel title={said.ledger}>
      <Failure error={ledger.error} />
      <PagedTable
        name={said.ledger}
        data={ledger.data}
        onPage={setPage}
        keyOf={(row) => row.id}
        empty={said.noLedger}
        columns={[
          { title: said.when, cell: ({ createdAt }) => <Moment at={createdAt} /> },
          { title: said.what, cell: ({ type }) => said.types[type] },
          { title: said.change, numeric: true, cell: ({ delta }) => (delta > 0 ? `+${number(delta)}` : number(delta)) },
          { title: said.after_, numeric: true, cell: ({ current }) => number(current) },
          { title: said.by, cell: ({ actor }) => <By actor={actor} name={whoOf(actor)} /> },
          {
            title: said.note,
            cell: ({ changeMessage, reference, reason: why }) => changeMessage ?? reference ?? why ?? '',
          },
          {
            title: texts.frame.actions,
            cell: ({ id: entry, type, delta, reversedBy }) => {
              if (reversedBy) return <Badge kind="plain">{said.wasReversed}</Badge>;
              if (!reversible.includes(type)) return null;
              return (
                <Button isDisabled={!may(edit)} onPress={() => setAsks({ id: entry, delta })}>
                  {said.reverse}
                </Button>
              );
            },
          },
        ]}
      />
      {asks && (
        <Confirm
          title={said.reverseTitle}
          action={said.reverse}
          kind="danger"
          isRunning={reverse.isRunning}
          onConfirm={() => reverse.run(asks.id)}
          onClose={() => setAsks(null)}
        >
          <p>{said.reverseHint(asks.delta)}</p>
          <Form label={said.reverse} findings={reverse.findings} onSubmit={() => reverse.run(asks.id)}>
            <TextInput name="reason" label={said.reason} value={reason} onChange={setReason} />
          </Form>
        </Confirm>
      )}
    </Panel>
  );
}

const outcomes = { success: 'good', failure: 'bad', skipped: 'plain' } as const;

function Timeline({ id }: { id: string }) {
  const timeline = useRead(
    ['timeline', id],
    () => data(api.GET('/merchants/me/members/{id}/events', { params: { path: { id }, query: { limit: 50 } } })),
    { everyMs: followMs },
  );
  return (
    <Panel
      title={said.timeline}
      actions={
        <a href={`${apiUrl}/merchants/me/members/${id}/events.csv`} download>
          {said.timelineCsv}
        </a>
      }
    >
      <Failure error={timeline.error} />
      <Table
        name={said.timeline}
        rows={timeline.data?.items}
        keyOf={(item) => item.id}
        empty={said.noTimeline}
        columns={[
          { title: said.when, cell: ({ occurredAt }) => <Moment at={occurredAt} /> },
          { title: said.what, cell: ({ type }) => type.replaceAll('_', ' ') },
          { title: said.wallet, cell: ({ platform }) => (platform ? said.wallets[platform] : texts.frame.none) },
          {
            title: said.outcome,
            cell: ({ outcome }) => <Badge kind={outcomes[outcome]}>{said.outcomes[outcome]}</Badge>,
          },
          { title: said.detail, cell: ({ detail }) => detail ?? '' },
        ]}
      />
    </Panel>
  );
}

function PersonalData({ member }: { member: Detail }) {
  const [, go] = useLocation();
  const [asks, setAsks] = useState(false);
  const erase = useAction(
    () => data(api.DELETE('/merchants/me/members/{id}', { params: { path: { id: member.id } } })),
    {
      changes: ['members'],
      said: said.erased,
      onDone: () => go('/members'),
    },
  );
  const { program, balance, deviceCount } = member;
  return (
    <Panel title={said.personalData}>
      <div className="row">
        <a href={`${apiUrl}/merchants/me/members/${member.id}/export`} download={`${member.memberCode}.json`}>
          {said.exportAll}
        </a>
        <Button kind="danger" isDisabled={!may('merchants.members:delete')} onPress={() => setAsks(true)}>
          {said.erase}
        </Button>
      </div>
      {asks && (
        <Confirm
          title={said.eraseTitle(nameOf(member))}
          action={said.erase}
          kind="danger"
          isRunning={erase.isRunning}
          onConfirm={() => erase.run()}
          onClose={() => setAsks(false)}
        >
          <p>{said.eraseHint}</p>
          <ul>
            <li>{said.losesBalance(balance, program.fields.primaryLabel)}</li>
            <li>{said.losesPhones(deviceCount)}</li>
            <li>{said.losesNames}</li>
          </ul>
          <p>{said.keepsLedger}</p>
        </Confirm>
      )}
    </Panel>
  );
}
