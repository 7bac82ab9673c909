// The designer of one program: its fields, previews of both phones and of the public page from the code that builds the
// real ones, save, publish with its consequences, and the versions. What was typed is kept in the tab until it is
// saved.
import { useRef, useState } from 'react';
import { useParams } from 'wouter';
import { notify, queryClient, useAction, useDraft, useRead, useSettled } from '../actions.js';
import { api, data, serviceUrl } from '../api.js';
import { useUnsaved } from '../leave.js';
import { at, type Json, patchBetween } from '../merge.js';
import { Confirm } from '../parts/dialog.js';
import type { ApplePass, GooglePass } from '../parts/faces.js';
import { Button, controlsOf, Form, OtherFindings, TextInput } from '../parts/form.js';
import { Badge, Failure, Page, Panel, Skeleton } from '../parts/page.js';
import { Android, Iphone, PublicPage } from '../parts/phones.js';
import { inLanguage } from '../refusals.js';
import { may } from '../session.js';
import { texts } from '../texts.js';
import { Edit } from './designFields.js';
import { fieldPaths, sections } from './designSections.js';
import { FirstPublication } from './programFirst.js';
import { Live } from './programLive.js';
import { noPosterBecause, ProgramPoster, posterId } from './programPoster.js';
import { Publication, Rebuild } from './programPublication.js';
import { contentOf, Versions } from './programVersions.js';

const said = texts.design;

interface Sample {
  /** Null until somebody types one: the service chooses. */
  balance: string | null;
  changeMessage: string;
}

const balanceOf = (pass: ApplePass | null | undefined): string =>
  String(pass?.storeCard.headerFields?.find(({ key }) => key === 'balance')?.value ?? '');

const typingMs = 350;

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

function Designer({ id, saved }: { id: string; saved: Json & { version: number; liveVersion: number | null } }) {
  const [edited, setEdited, forget] = useDraft<{ version: number; program: Json } | null>(`program:${id}`, null);
  const [sample, setSample] = useState<Sample>({ balance: null, changeMessage: said.sampleMessage });
  const of = controlsOf(sample, setSample);
  const [asks, setAsks] = useState<{ version: number } | 'archive' | 'first' | null>(null);
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
      // Of the first one a window says it.
      said: () => (saved.liveVersion === null ? undefined : said.published),
      changes: ['program', 'programs', 'versions', 'publication'],
      onDone({ rebuild }) {
        setAsks(saved.liveVersion === null ? 'first' : null);
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

  const findings = [...(preview.data?.findings ?? []).map(inLanguage), ...save.findings];
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
        <Button onPress={() => (archived ? toggle.run() : setAsks('archive'))}>
          {archived ? said.restore : said.archive}
        </Button>
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
        <div className="row end within-reach">
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
        </div>
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
      {asks === 'first' && isLive && <FirstPublication id={id} program={saved} onClose={() => setAsks(null)} />}
      {asks !== null && typeof asks === 'object' && (
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
