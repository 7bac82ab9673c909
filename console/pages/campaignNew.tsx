// A new campaign, in a panel: whom it reaches, its message with a preview of the lock screen, and when it is sent.
import { useEffect, useState } from 'react';
import { useDraft, useRead, useSettled } from '../actions.js';
import { api, data } from '../api.js';
import { useKeyedAction } from '../keyedAction.js';
import { locale } from '../language.js';
import { Confirm } from '../parts/dialog.js';
import { Button, controlsOf, Form, Select, TextInput, wordsOf } from '../parts/form.js';
import { Failure } from '../parts/page.js';
import { LockScreen } from '../parts/phones.js';
import { SidePanel } from '../parts/sidePanel.js';
import { texts } from '../texts.js';
import { charactersOf } from '../typed.js';
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
const inFull = new Intl.DateTimeFormat(locale, {
  ...({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' } as const),
  ...({ hour: 'numeric', minute: '2-digit', timeZoneName: 'short' } as const),
});

interface NewCampaignProps {
  programs: readonly { _id: string; name: string }[];
  onClose: () => void;
}

export function NewCampaign({ programs, onClose }: NewCampaignProps) {
  const [draft, setDraft] = useDraft('campaign', blank);
  const of = controlsOf(draft, setDraft);
  const [asks, setAsks] = useState(false);
  const { programId, message, audience, sendAt } = draft;
  const tags = wordsOf(draft.tags);
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
    { keep: true },
  );
  // Who matches is found again when the time has come.
  const reaches = counted.data && `${said.audience(counted.data)}${isPlanned ? ` ${said.today}` : ''}`;
  const send = useKeyedAction(
    (body: typeof who & { message: string; sendAt?: string }, keyed) =>
      data(api.POST('/merchants/me/campaigns', { params: { header: keyed('campaign', body) }, body })),
    {
      changes: ['campaigns'],
      said: (answer) => ('sendAt' in answer && answer.sendAt !== undefined ? said.planned : said.sent),
      onDone() {
        setAsks(false);
        setDraft({ ...draft, message: '', sendAt: '' });
        onClose();
      },
    },
  );
  const refused = send.findings.length > 0;
  // What is wrong is marked in the form behind the question.
  useEffect(() => {
    if (refused) setAsks(false);
  }, [refused]);
  const program = programs.find(({ _id }) => _id === programId);
  return (
    <SidePanel
      title={said.new}
      isUnsaved={message.trim() !== ''}
      onClose={() => {
        if (!send.isRunning) onClose();
      }}
    >
      <Form label={said.new} findings={send.findings} onSubmit={() => setAsks(true)}>
        <Select
          {...of('programId')}
          label={said.program}
          options={[['', said.allPrograms], ...programs.map(({ _id, name }) => [_id, name] as const)]}
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
          hint={said.left(maxMessage - charactersOf(message))}
          lines={3}
        />
        <TextInput {...of('sendAt')} label={said.when} hint={said.whenHint} type="datetime-local" />
        <Failure error={counted.error} />
        <p role="status">{reaches}</p>
        <div>
          <Button kind="primary" type="submit" isDisabled={message.trim() === ''}>
            {isPlanned ? said.plan : said.send}
          </Button>
        </div>
      </Form>
      <section className="stack" aria-label={said.preview}>
        <h3>{said.preview}</h3>
        <figure className="phone">
          <div className="screen">
            <LockScreen title={program?.name ?? said.anyProgram} message={message} icon={undefined} />
          </div>
        </figure>
      </section>
      {asks && (
        <Confirm
          title={isPlanned ? said.planTitle : said.sendTitle}
          action={isPlanned ? said.plan : said.send}
          isRunning={send.isRunning}
          onConfirm={() => send.run({ ...who, message, ...(isPlanned && { sendAt: at.toISOString() }) })}
          onClose={() => setAsks(false)}
        >
          <p>{reaches}</p>
          {isPlanned && <p>{said.later(inFull.format(at))}</p>}
          <blockquote>{message}</blockquote>
        </Confirm>
      )}
    </SidePanel>
  );
}
