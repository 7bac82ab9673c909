// The designer of one program: its fields, previews of both phones and of the public page from the code that builds the
// real ones, save, publish with its consequences, and the versions. What was typed is kept in the tab until it is
// saved.
import { useRef, useState } from 'react';
import { useParams } from 'wouter';
import { LoyaltyError } from '../../sdk/index.js';
import { notify, queryClient, useAction, useDraft, useRead, useSettled } from '../actions.js';
import { api, data, serviceUrl } from '../api.js';
import { useUnsaved } from '../leave.js';
import { at, type Json, patchBetween } from '../merge.js';
import { Confirm } from '../parts/dialog.js';
import type { ApplePass, GooglePass } from '../parts/faces.js';
import { Button, controlsOf, Form, OtherFindings, TextInput } from '../parts/form.js';
import { Address, Badge, Facts, Failure, Moment, number, Page, Panel, Progress, Skeleton } from '../parts/page.js';
import { Android, Iphone, PublicPage } from '../parts/phones.js';
import { Table } from '../parts/table.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { Edit } from './designFields.js';
import { fieldPaths, sections } from './designSections.js';
import { useNames } from './people.js';
import { ProgramPoster, posterId } from './programPoster.js';

const said = texts.design;

/** The fields of a program that no edit changes. */
const fixed = ['_id', 'version', 'liveVersion', 'archived', 'merchantId'];
const contentOf = (program: Json): Json =>
  Object.fromEntries(Object.entries(program).filter(([key]) => !fixed.includes(key)));

interface Sample {
  /** Null until somebody types one: the service chooses. */
  balance: string | null;
  changeMessage: string;
}

const balanceOf = (pass: ApplePass | null | undefined): string =>
  String(pass?.storeCard.headerFields?.find(({ key }) => key === 'balance')?.value ?? '');

const typingMs = 350;

/** Why the saved program has no poster; the service also knows of a page that is live and differs. */
function noPosterBecause({ archived, liveVersion, version, enrollment }: Json): string | undefined {
  if (liveVersion === null) return texts.counterPoster.neverPublished;
  if (archived) return texts.counterPoster.archived;
  const isShown = liveVersion === undefined || version === liveVersion;
  const isClosed = isShown && at({ enrollment }, 'enrollment.open') === false;
  return isClosed ? texts.counterPoster.closed : undefined;
}

export function Program() {
  const { id = '' } = useParams();
  return may('merchants.programs:edit') ? <Draft id={id} /> : <Live id={id} />;
}

function Draft({ id }: { id: string }) {
  const draft = useRead(['program', id], () =>
    data(api.GET('/merchants/me/programs/{id}/draft', { params: { path: { id } } })),
  );
  if (!draft.data)
    return (
      <Page title={said.title} back={{ to: '/programs', title: texts.nav.programs }}>
        {draft.error ? <Failure error={draft.error} /> : <Skeleton />}
      </Page>
    );
  return <Designer key={id} id={id} saved={draft.data as Json & { version: number; liveVersion: number | null }} />;
}

/** The live version, for those who may not change it. */
function Live({ id }: { id: string }) {
  const program = useRead(['program', id], () =>
    data(api.GET('/merchants/me/programs/{id}', { params: { path: { id } } })),
  );
  const card = useRead(['live-preview', id], () =>
    data(api.GET('/merchants/me/programs/{id}/preview', { params: { path: { id } } })),
  );
  const { name, slug, style, fields, goal, rewardName, version } = program.data ?? {};
  const pictures = card.data?.appleImages;
  return (
    <Page title={name ?? said.title} back={{ to: '/programs', title: texts.nav.programs }}>
      <Failure error={program.error ?? card.error} />
      <p className="hint">{texts.frame.notAllowed('merchants.programs:edit')}</p>
      {program.data && (
        <Panel title={said.facts}>
          <Facts
            facts={[
              [said.style, style && texts.programs.styles[style]],
              [said.unit, fields?.primaryLabel],
              [said.goal, goal === undefined ? texts.frame.none : number(goal)],
              [said.goalReward, rewardName ?? texts.frame.none],
              [texts.programs.version, version],
              [
                said.slug,
                <a key="slug" href={`${serviceUrl}/enroll/${slug}`} target="_blank" rel="noreferrer">
                  {slug}
                </a>,
              ],
            ]}
          />
        </Panel>
      )}
      {program.data && <ProgramPoster id={id} slug={program.data.slug} notBecause={noPosterBecause(program.data)} />}
      <section className="stack" aria-label={said.preview}>
        <h2>{said.preview}</h2>
        <div className="phones">
          <Iphone pass={card.data?.apple as ApplePass | null | undefined} pictures={pictures} />
          <Android pass={card.data?.google as GooglePass | null | undefined} pictures={pictures} message="" />
        </div>
        <h3>{texts.phones.publicPage}</h3>
        <PublicPage html={card.data?.publicPage} />
      </section>
    </Page>
  );
}

function Designer({ id, saved }: { id: string; saved: Json & { version: number; liveVersion: number | null } }) {
  const [edited, setEdited, forget] = useDraft<{ version: number; program: Json } | null>(`program:${id}`, null);
  const [sample, setSample] = useState<Sample>({ balance: null, changeMessage: said.sampleMessage });
  const of = controlsOf(sample, setSample);
  const [asks, setAsks] = useState<{ version: number } | 'archive' | null>(null);
  const [batchId, setBatchId] = useDraft<string | null>(`rebuild:${id}`, null);
  const program = edited?.program ?? contentOf(saved);
  const isDirty = edited !== null;
  useUnsaved(isDirty);
  const isStale = isDirty && edited.version !== saved.version;

  const change = (next: Json) => setEdited({ version: edited?.version ?? saved.version, program: next });
  const shown = useSettled(JSON.stringify({ program, sample }), typingMs);
  const preview = useRead(
    ['preview', id, shown],
    () => {
      const { balance, changeMessage }: Sample = JSON.parse(shown).sample;
      const member = {
        ...(balance !== null && /^\d+$/.test(balance) && { balance: Number(balance) }),
        ...(changeMessage && { changeMessage }),
      };
      const body = { program: { _id: id, ...JSON.parse(shown).program }, member };
      return data(api.POST('/merchants/me/programs/preview', { body }));
    },
    { keep: true },
  );

  const save = useAction(
    async () => {
      const patch = patchBetween(contentOf(saved), program);
      const body = { ...patch, version: edited?.version ?? saved.version };
      return data(api.PATCH('/merchants/me/programs/{id}', { params: { path: { id } }, body: body as never }));
    },
    {
      said: said.saved,
      changes: ['program', 'programs', 'publication'],
      onDone(now) {
        queryClient.setQueryData(['program', id], now);
        forget();
      },
    },
  );
  const publish = useAction(
    (version: number) =>
      data(api.POST('/merchants/me/programs/{id}/publish', { params: { path: { id } }, body: { version } })),
    {
      said: said.published,
      changes: ['program', 'programs', 'versions', 'publication'],
      onDone({ rebuild }) {
        setAsks(null);
        setBatchId(rebuild?.batchId ?? null);
      },
    },
  );
  const archived = at(saved, 'archived') === true;
  const toggle = useAction(
    () => {
      const params = { params: { path: { id } } };
      return data(
        archived
          ? api.POST('/merchants/me/programs/{id}/restore', params)
          : api.POST('/merchants/me/programs/{id}/archive', params),
      );
    },
    {
      said: archived ? said.restored : said.archivedNow,
      changes: ['program', 'programs'],
      onDone: () => setAsks(null),
    },
  );

  const findings = [...(preview.data?.findings ?? []), ...save.findings];
  const seen = useRef(preview.data);
  if (preview.data?.apple) seen.current = preview.data;
  const card = preview.data?.apple ? preview.data : seen.current;
  const apple = card?.apple as ApplePass | null | undefined;
  const google = card?.google as GooglePass | null | undefined;
  const isLive = saved.liveVersion !== null;
  const isAhead = saved.version !== saved.liveVersion;
  const canPublish = isAhead || isDirty;
  const startPublishing = () => {
    if (!isDirty) return setAsks({ version: saved.version });
    save.run(undefined, { onSuccess: ({ version }) => setAsks({ version }) });
  };
  return (
    <Page
      title={String(program.name) || said.title}
      back={{ to: '/programs', title: texts.nav.programs }}
      lead={
        <>
          {isLive ? said.live : said.neverPublished} {isLive && isAhead && said.unpublished}{' '}
          {isDirty && <Badge kind="wait">{said.unsaved}</Badge>}{' '}
          {isLive && (
            <a href={`${serviceUrl}/enroll/${String(saved.slug)}`} target="_blank" rel="noreferrer">
              {said.openPage}
            </a>
          )}{' '}
          {isLive && (
            <Button kind="link" onPress={() => document.getElementById(posterId)?.focus()}>
              {texts.counterPoster.title}
            </Button>
          )}
        </>
      }
      actions={
        <>
          <Button onPress={() => save.run()} isDisabled={save.isRunning || !isDirty}>
            {texts.frame.save}
          </Button>
          <Button
            kind={canPublish ? 'primary' : 'plain'}
            isDisabled={!canPublish || publish.isRunning || save.isRunning}
            onPress={startPublishing}
          >
            {said.publish}
          </Button>
          <Button onPress={() => (archived ? toggle.run() : setAsks('archive'))}>
            {archived ? said.restore : said.archive}
          </Button>
        </>
      }
    >
      {isStale && (
        <p className="banner" role="alert">
          {said.stale} <Button onPress={() => setEdited({ version: saved.version, program })}>{said.keepMine}</Button>{' '}
          <Button onPress={forget}>{said.takeTheirs}</Button>
        </p>
      )}
      {batchId && <Rebuild batchId={batchId} onDone={() => setBatchId(null)} />}
      <div className="designer">
        <Form label={said.form} findings={findings} onSubmit={() => isDirty && save.run()}>
          <OtherFindings findings={findings} names={fieldPaths} />
          {sections.map(({ title, fields }) => (
            <Panel key={title} title={title}>
              <div className="fields">
                {fields.map((field) => (
                  <Edit
                    key={field.path + field.kind + String(field.shown)}
                    field={field}
                    program={program}
                    onChange={change}
                  />
                ))}
              </div>
            </Panel>
          ))}
          <button type="submit" hidden>
            {texts.frame.save}
          </button>
        </Form>
        <section className="preview" aria-label={said.preview}>
          <div className="stack first">
            <h2>{said.preview}</h2>
            <Failure error={preview.error} />
            <div className="phones">
              <Iphone pass={apple} pictures={card?.appleImages} />
              <Android pass={google} pictures={card?.appleImages} message={sample.changeMessage} />
            </div>
          </div>
          <div className="fields">
            <TextInput
              {...of('balance')}
              name="sample.balance"
              label={said.sampleBalance}
              inputMode="numeric"
              value={sample.balance ?? balanceOf(apple)}
            />
            <TextInput {...of('changeMessage')} name="sample.changeMessage" label={said.sampleChange} />
          </div>
          <h3>{texts.phones.publicPage}</h3>
          <PublicPage html={card?.publicPage} />
        </section>
      </div>
      <ProgramPoster id={id} slug={String(saved.slug)} notBecause={noPosterBecause(saved)} />
      <Versions
        id={id}
        onGoBack={(version) => {
          setEdited({ version: saved.version, program: version });
          notify('done', said.wentBack);
        }}
      />
      {asks !== null && asks !== 'archive' && (
        <Publication
          id={id}
          program={program}
          isRunning={publish.isRunning}
          onConfirm={() => publish.run(asks.version)}
          onClose={() => setAsks(null)}
        />
      )}
      {asks === 'archive' && (
        <Confirm
          title={said.archiveTitle}
          action={said.archive}
          kind="danger"
          isRunning={toggle.isRunning}
          onConfirm={() => toggle.run()}
          onClose={() => setAsks(null)}
        >
          <p>{said.archiveHint}</p>
        </Confirm>
      )}
    </Page>
  );
}

function Publication(props: {
  id: string;
  program: Json;
  isRunning: boolean;
  onConfirm: () => void;
  onClose: () => void;
}) {
  const { id, program, ...dialog } = props;
  const effect = useRead(['publication', id, props.isRunning], () =>
    data(api.GET('/merchants/me/programs/{id}/publish-preview', { params: { path: { id } } })),
  );
  const { passes = 0, full = 0, overFull = 0, tierMoves = 0, rewardsLost = 0 } = effect.data ?? {};
  const { complete = true, counted = 0, findings = [] } = effect.data ?? {};
  return (
    <Confirm title={said.publishTitle} action={said.publish} {...dialog}>
      <Failure error={effect.error} />
      {effect.data && (
        <>
          <p>{said.willChange(passes)}</p>
          {findings.map(({ path, message }) => (
            <p key={path} className="hint">
              {path} {message}
            </p>
          ))}
          <Facts
            facts={[
              [said.passes, number(passes)],
              ...(program.goal === undefined
                ? []
                : ([
                    [said.full, number(full)],
                    [said.overFull, number(overFull)],
                  ] as const)),
              [said.rewardsLost, number(rewardsLost)],
              ...(program.style === 'tiered' ? ([[said.tierMoves, number(tierMoves)]] as const) : []),
            ]}
          />
          {!complete && <p className="hint">{said.counted(counted)}</p>}
        </>
      )}
    </Confirm>
  );
}

const ended = ['completed', 'failed', 'cancelled'];

function Rebuild({ batchId, onDone }: { batchId: string; onDone: () => void }) {
  const batch = useRead(
    ['batch', batchId],
    () => data(api.GET('/merchants/me/batches/{id}', { params: { path: { id: batchId } } })),
    { everyMs: (now) => (now && ended.includes(now.phase) ? false : 1_000) },
  );
  const { phase, percent = 0, counts, reason } = batch.data ?? {};
  const isOver = phase !== undefined && ended.includes(phase);
  return (
    <Panel title={said.rebuild} actions={isOver ? <Button onPress={onDone}>{texts.frame.close}</Button> : undefined}>
      <Failure error={batch.error instanceof LoyaltyError && batch.error.status === 404 ? null : batch.error} />
      <Progress label={said.rebuild} percent={percent} />
      {counts && <p className="hint">{said.rebuilt(counts.created, counts.total, texts.phases[phase ?? 'queued'])}</p>}
      {reason && <p className="hint">{reason}</p>}
    </Panel>
  );
}

function Versions({ id, onGoBack }: { id: string; onGoBack: (program: Json) => void }) {
  const nameOf = useNames();
  const versions = useRead(['versions', id], () =>
    data(api.GET('/merchants/me/programs/{id}/versions', { params: { path: { id }, query: { pageSize: 50 } } })),
  );
  const open = useAction(
    (version: number) =>
      data(
        api.GET('/merchants/me/programs/{id}/versions/{version}', {
          params: { path: { id, version: String(version) } },
        }),
      ),
    { onDone: ({ program }) => onGoBack(contentOf(program as Json)) },
  );
  return (
    <Panel title={said.versions}>
      <Failure error={versions.error} />
      <p className="hint">{said.versionsHint}</p>
      <Table
        name={said.versions}
        rows={versions.data?.items}
        keyOf={({ version }) => String(version)}
        empty={said.noVersions}
        columns={[
          {
            title: texts.programs.version,
            cell: ({ version, live }) => (
              <>
                {version} {live && <Badge kind="good">{said.isLive}</Badge>}
              </>
            ),
          },
          { title: texts.programs.program, cell: ({ name }) => name },
          { title: said.publishedAt, cell: ({ publishedAt }) => <Moment at={publishedAt} /> },
          {
            title: said.publishedBy,
            cell: ({ publishedBy }) => (publishedBy ? <Address>{nameOf(publishedBy)}</Address> : texts.frame.none),
          },
          {
            title: texts.frame.actions,
            cell: ({ version }) => (
              <Button kind="link" aria-label={said.goBackTo(version)} onPress={() => open.run(version)}>
                {said.goBack}
              </Button>
            ),
          },
        ]}
      />
    </Panel>
  );
}
