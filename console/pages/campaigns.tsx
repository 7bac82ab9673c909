// Campaigns: one message on the passes of all matching members, with a preview of the lock screen.
import { useEffect, useState } from 'react';
import { useDraft, useRead, useSettled } from '../actions.js';
import { api, data } from '../api.js';
import { useKeyedAction } from '../keyedAction.js';
import { locale } from '../language.js';
import { Confirm } from '../parts/dialog.js';
import { Button, controlsOf, Form, Select, TextInput, wordsOf } from '../parts/form.js';
import { Failure, Moment, number, Page, Panel } from '../parts/page.js';
import { LockScreen } from '../parts/phones.js';
import { PagedTable, usePage } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { CancelBatch, isOver, State } from './imports.js';
import { audiences } from './members.js';

const said = texts.campaigns;

interface Draft {
  programId: string;
  audience: (typeof audiences)[number];
  tags: string;
  message: string;
  /** Of an input of the type `datetime-local`. */
  sendAt: string;
}

const blank: Draft = { programId: '', audience: '', tags: '', message: '', sendAt: '' };
const maxMessage = 200;
const typingMs = 300;

const readBatches = (page: number) =>
  data(api.GET('/merchants/me/batches', { params: { query: { page, kind: 'campaign' } } }));
type Batch = Awaited<ReturnType<typeof readBatches>>['items'][number];
const canStop = (batch: Batch): boolean => !isOver(batch) && batch.percent < 100;

export function Campaigns() {
  const [page, setPage] = usePage();
  const [draft, setDraft] = useDraft('campaign', blank);
  const of = controlsOf(draft, setDraft);
  const [asks, setAsks] = useState(false);
  const { programId, message, audience, sendAt } = draft;
  const tags = wordsOf(draft.tags);
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const known = useRead(['tags'], () => data(api.GET('/merchants/me/members/tags')));
  const who = {
    ...(programId && { programId }),
    ...(audience && { audience }),
    ...(tags.length > 0 && { tags }),
  };
  const at = new Date(sendAt);
  const isPlanned = !Number.isNaN(at.getTime());
  const settled = useSettled(JSON.stringify(who), typingMs);
  const counted = useRead(
    ['members', 'audience', settled],
    async () => {
      const body = { ...(JSON.parse(settled) as typeof who), dryRun: true };
      const answer = await data(api.POST('/merchants/me/campaigns', { body }));
      if (!('dryRun' in answer)) throw new Error('Nothing was to be sent.');
      return answer;
    },
    { keep: true, enabled: may('merchants.campaigns:create') },
  );
  const reaches = counted.data && said.audience(counted.data);
  const batches = useRead(['campaigns', page], () => readBatches(page), {
    keep: true,
    everyMs: (now) => (now?.items.some((batch) => !isOver(batch) && batch.phase !== 'scheduled') ? 2_000 : 10_000),
  });
  const send = useKeyedAction(
    (body: typeof who & { message: string; sendAt?: string }, keyed) =>
      data(api.POST('/merchants/me/campaigns', { params: { header: keyed('campaign', body) }, body })),
    {
      changes: ['campaigns'],
      said: (answer) => ('sendAt' in answer && answer.sendAt !== undefined ? said.planned : said.sent),
      onDone() {
        setAsks(false);
        setDraft({ ...draft, message: '', sendAt: '' });
      },
    },
  );
  const refused = send.findings.length > 0;
  // What is wrong is marked in the form behind the question.
  useEffect(() => {
    if (refused) setAsks(false);
  }, [refused]);
  const program = programs.data?.find(({ _id }) => _id === programId);
  return (
    <Page title={texts.nav.campaigns} lead={said.lead}>
      <Failure error={programs.error} />
      <div className="columns">
        <Panel title={said.new} needs="merchants.campaigns:create" folds>
          <Form label={said.new} findings={send.findings} onSubmit={() => setAsks(true)}>
            <Select
              {...of('programId')}
              label={said.program}
              options={[['', said.allPrograms], ...(programs.data ?? []).map(({ _id, name }) => [_id, name] as const)]}
            />
            <Select
              {...of('audience')}
              label={said.who}
              options={audiences.map((one) => [one, texts.members.audiences[one]])}
            />
            <TextInput {...of('tags')} label={said.tags} hint={said.tagsHint(known.data?.tags.slice(0, 12) ?? [])} />
            <TextInput
              {...of('message')}
              label={said.message}
              hint={said.left(maxMessage - message.length)}
              lines={3}
            />
            <TextInput {...of('sendAt')} label={said.when} hint={said.whenHint} type="datetime-local" />
            <Failure error={counted.error} />
            <p role="status">{reaches}</p>
            <div>
              <Button kind="primary" type="submit" isDisabled={message.trim() === ''}>
                {said.send}
              </Button>
            </div>
          </Form>
        </Panel>
        <Panel title={said.preview}>
          <figure className="phone">
            <div className="screen">
              <LockScreen title={program?.name ?? said.anyProgram} message={message} icon={undefined} />
            </div>
          </figure>
        </Panel>
      </div>
      <Failure error={batches.error} />
      <PagedTable
        name={texts.nav.campaigns}
        data={batches.data}
        onPage={setPage}
        keyOf={({ id }) => id}
        empty={said.none}
        columns={[
          { title: said.started, cell: ({ startedAt, sendAt: due }) => <Moment at={due ?? startedAt} /> },
          { title: said.message, cell: ({ id }) => <Message id={id} /> },
          {
            title: said.program,
            cell: ({ programId: id }) =>
              id === undefined ? said.allPrograms : (programs.data?.find(({ _id }) => _id === id)?.name ?? id),
          },
          { title: said.state, cell: (batch) => <State batch={batch} finishing={said.finishing} /> },
          { title: said.matched, numeric: true, cell: ({ counts }) => number(counts.total) },
          { title: said.pushed, numeric: true, cell: ({ counts }) => number(counts.created) },
          { title: said.skipped, numeric: true, cell: ({ counts }) => number(counts.deduped) },
          { title: said.failed, numeric: true, cell: ({ counts }) => number(counts.failed) },
          ...(batches.data?.items.some(canStop)
            ? [
                {
                  title: texts.frame.actions,
                  cell: (batch: Batch) =>
                    canStop(batch) && <CancelBatch batch={batch} needs="merchants.campaigns:edit" />,
                },
              ]
            : []),
        ]}
      />
      {asks && (
        <Confirm
          title={said.sendTitle}
          action={said.send}
          isRunning={send.isRunning}
          onConfirm={() => send.run({ ...who, message, ...(isPlanned && { sendAt: at.toISOString() }) })}
          onClose={() => setAsks(false)}
        >
          <p>{reaches}</p>
          {isPlanned && <p>{said.later(at.toLocaleString(locale, { dateStyle: 'full', timeStyle: 'short' }))}</p>}
          <blockquote>{message}</blockquote>
        </Confirm>
      )}
    </Page>
  );
}

function Message({ id }: { id: string }) {
  const campaign = useRead(['campaign', id], () =>
    data(api.GET('/merchants/me/campaigns/{id}', { params: { path: { id } } })),
  );
  return <>{campaign.data?.message ?? texts.frame.none}</>;
}
