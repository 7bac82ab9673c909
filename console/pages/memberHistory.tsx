// The ledger of one member with reversals, and its timeline with each phone's fetches.
import { useState } from 'react';
import { Link } from 'wouter';
import type { components } from '../../sdk/index.js';
import { useRead } from '../actions.js';
import { api, apiUrl, data } from '../api.js';
import { Confirm } from '../parts/dialog.js';
import { Button, Form, TextInput } from '../parts/form.js';
import { Address, Badge, Failure, Moment, number, Panel, Technical } from '../parts/page.js';
import { PagedTable, Table, usePage } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { ShowImport } from './importResult.js';
import { type Detail, edit, followMs, rewardIn, useLedger, useReversal } from './memberDetail.js';
import { useNames } from './people.js';

/** The types of ledger entries that can be reversed (stack/buildConsole.ts). */
declare const REVERSIBLE_TYPES: readonly string[];

const said = texts.member;

const happenings: Readonly<Record<string, string | undefined>> = said.timelineTypes;
/** What an owner has no use for, unless something is looked into. */
const technical = ['pass_built', 'device_stale', 'pass_token_replaced'];
/** Whose detail is a name, not an answer of a server. */
const named = ['reward_redeemed', 'points_expired', 'pass_scanned'];

function whatOf(member: Detail, entry: Pick<Transaction, 'type' | 'delta' | 'rewardId'>): string {
  const { type, delta } = entry;
  if (type === 'adjust') return said.adjusted(delta, member.program.style === 'stamps');
  const reward = rewardIn(member, entry) ?? said.types[type];
  return reward === said.types[type] ? reward : said.rewardNamed(reward);
}

interface Asked {
  id: string;
  delta: number;
  reward: string | undefined;
}

const undoOf = ({ delta, reward }: Pick<Asked, 'delta' | 'reward'>): string =>
  reward === undefined ? said.reverseOf(delta) : said.undoReward(reward);

type Transaction = components['schemas']['Transaction'];

/** An import, and a program that lets points expire, have no name. */
function By({ actor: { type, id }, name }: { actor: { type: string; id: string }; name: string }) {
  if (type === 'import') return <ShowImport id={id} label={texts.imports.one} title={texts.imports.one} />;
  return <Address>{type === 'program' ? said.byProgram : name}</Address>;
}

export function Ledger({ member }: { member: Detail }) {
  const { id, program } = member;
  const [page, setPage] = usePage();
  const whoOf = useNames();
  const [asks, setAsks] = useState<Asked | null>(null);
  const isStamps = program.style === 'stamps';
  const title = isStamps ? said.stampLedger : said.ledger;
  const [reason, setReason] = useState('');
  const ledger = useLedger(id, page);
  const reverse = useReversal(
    id,
    () => said.reversed,
    () => {
      setAsks(null);
      setReason('');
    },
  );
  const confirm = ({ id: entry, reward }: Asked) => reverse.run({ entry, reason, reward });
  return (
    <Panel title={title}>
      <Failure error={ledger.error} />
      <PagedTable
        name={title}
        data={ledger.data}
        onPage={setPage}
        keyOf={(row) => row.id}
        empty={said.noLedger}
        columns={[
          { title: said.when, cell: ({ createdAt }) => <Moment at={createdAt} /> },
          { title: said.what, cell: (entry) => whatOf(member, entry) },
          { title: said.change, numeric: true, cell: ({ delta }) => (delta > 0 ? `+${number(delta)}` : number(delta)) },
          { title: said.after_, numeric: true, cell: ({ current }) => number(current) },
          { title: said.by, cell: ({ actor }) => <By actor={actor} name={whoOf(actor)} /> },
          {
            title: said.note,
            cell: ({ changeMessage, reference, reason: why }) => changeMessage ?? reference ?? why ?? '',
          },
          {
            title: texts.frame.actions,
            cell: (row) => {
              const { id: entry, type, delta, reversedBy } = row;
              const asked = { id: entry, delta, reward: rewardIn(member, row) };
              const request = (
                <Link href={`/requests?memberId=${id}&transactionId=${encodeURIComponent(entry)}`}>
                  {texts.requests.ofEntry}
                </Link>
              );
              if (reversedBy)
                return (
                  <>
                    {request} <Badge kind="plain">{said.wasReversed}</Badge>
                  </>
                );
              if (!REVERSIBLE_TYPES.includes(type)) return request;
              return (
                <>
                  {request}{' '}
                  <Button aria-label={undoOf(asked)} isDisabled={!may(edit)} onPress={() => setAsks(asked)}>
                    {said.reverse}
                  </Button>
                </>
              );
            },
          },
        ]}
      />
      {asks && (
        <Confirm
          title={said.reverseTitle}
          action={said.reverse}
          actionName={undoOf(asks)}
          kind="danger"
          isRunning={reverse.isRunning}
          onConfirm={() => confirm(asks)}
          onClose={() => setAsks(null)}
        >
          {asks.reward !== undefined && <p>{said.rewardBack(asks.reward)}</p>}
          <p>{said.reverseHint(asks.delta, isStamps)}</p>
          <Form label={said.reverse} findings={reverse.findings} onSubmit={() => confirm(asks)}>
            <TextInput name="reason" label={said.reason} value={reason} onChange={setReason} />
          </Form>
        </Confirm>
      )}
    </Panel>
  );
}

const outcomes = { success: 'good', failure: 'bad', skipped: 'plain' } as const;

type Item = components['schemas']['TimelineItem'];

/** The answer of a server is folded. */
function Told({ type, detail }: Pick<Item, 'type' | 'detail'>) {
  if (detail === undefined || named.includes(type)) return detail;
  return <Technical>{detail}</Technical>;
}

function Happenings({ name, items }: { name: string; items: Item[] | undefined }) {
  return (
    <Table
      name={name}
      rows={items}
      keyOf={({ id }) => id}
      empty={said.noTimeline}
      columns={[
        { title: said.when, cell: ({ occurredAt }) => <Moment at={occurredAt} /> },
        { title: said.what, cell: ({ type }) => happenings[type] ?? type.replaceAll('_', ' ') },
        { title: said.wallet, cell: ({ platform }) => (platform ? said.wallets[platform] : texts.frame.none) },
        {
          title: said.outcome,
          cell: ({ outcome }) => <Badge kind={outcomes[outcome]}>{said.outcomes[outcome]}</Badge>,
        },
        { title: said.detail, cell: (item) => <Told {...item} /> },
      ]}
    />
  );
}

export function Timeline({ id }: { id: string }) {
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
      <Happenings name={said.timeline} items={timeline.data?.items.filter(({ type }) => !technical.includes(type))} />
      <details>
        <summary>{said.technical}</summary>
        <Happenings name={said.technical} items={timeline.data?.items.filter(({ type }) => technical.includes(type))} />
      </details>
    </Panel>
  );
}
