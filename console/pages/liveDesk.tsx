// The live desk of the demo: two virtual phones and a log of every hop of a change. The phones and the log come from
// the desk's process (test/phone/desk.ts); changes are calls of the public API.
import { useEffect, useState } from 'react';
import { notify, useAction, useDraft, useRead } from '../actions.js';
import { api, data, newKey } from '../api.js';
import { Button, Select, TextInput } from '../parts/form.js';
import { Page, Panel } from '../parts/page.js';
import { type ApplePass, Iphone, LockScreen } from '../parts/phones.js';
import { Table } from '../parts/table.js';
import { texts } from '../texts.js';
import { useCard } from './member.js';

const said = texts.desk;
const deskUrl = document.querySelector<HTMLMetaElement>('meta[name=live-desk]')?.content ?? '';

interface Hop {
  at: number;
  who: keyof typeof said.actors;
  what: string;
  /** The name of a mail, which the desk shows as a page. */
  mail?: string;
}

interface VirtualCard {
  label: string;
  balance: string;
  accountName: string | null;
  background: string | null;
  barcode: string;
}

interface DeskState {
  wallets: boolean;
  phones: {
    iphone: { passUrl: string; pass: ApplePass; lockScreen?: string; isOffline: boolean } | null;
    android: { passUrl: string; card: VirtualCard; lockScreen?: string } | null;
  };
}

const keptHops = 60;

async function order(body: Record<string, unknown>): Promise<void> {
  const answer = await fetch(deskUrl, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

function useDesk() {
  const [state, setState] = useState<DeskState>();
  const [hops, setHops] = useState<readonly Hop[]>([]);
  const [isGone, setIsGone] = useState(false);
  const add = (hop: Hop) => setHops((now) => [hop, ...now].slice(0, keptHops));
  useEffect(() => {
    const source = new EventSource(deskUrl);
    source.onopen = () => {
      setIsGone(false);
      setHops([]);
    };
    source.onerror = () => setIsGone(true);
    source.addEventListener('state', ({ data: text }) => setState(JSON.parse(text)));
    source.addEventListener('hop', ({ data: text }) => {
      const hop: Hop = JSON.parse(text);
      setHops((now) => [hop, ...now].slice(0, keptHops));
    });
    return () => source.close();
  }, []);
  return { state, hops, isGone, add };
}

export function LiveDesk() {
  return (
    <Page title={texts.nav.liveDesk} lead={deskUrl === '' ? said.absent : said.lead}>
      {deskUrl !== '' && <Desk />}
    </Page>
  );
}

const people = [
  { phone: 'iphone', firstName: 'Ada' },
  { phone: 'android', firstName: 'Grace' },
] as const;

const saveWaitMs = 500;
const saveTries = 60;

/** The link that saves the card at Google; it comes with the first pass. */
async function saveUrlOf(id: string): Promise<string> {
  for (let tries = 0; tries < saveTries; tries += 1) {
    const { google } = await data(api.GET('/merchants/me/members/{id}', { params: { path: { id } } }));
    if (google.saveUrl) return google.saveUrl;
    await new Promise((resolve) => setTimeout(resolve, saveWaitMs));
  }
  throw new Error(said.gone);
}

function Desk() {
  const { state, hops, isGone, add } = useDesk();
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const open = (programs.data ?? []).filter(({ archived }) => !archived);
  const [members, setMembers] = useDraft<string[]>('desk-members', []);
  const [programId, setProgramId] = useState('');
  const [message, setMessage] = useState(said.firstMessage);
  const [clickedAt, setClickedAt] = useState(0);
  const program = open.find(({ _id }) => _id === programId) ?? open.find(({ style }) => style === 'stamps') ?? open[0];
  const { iphone, android } = state?.phones ?? { iphone: null, android: null };
  const shown = iphone?.pass.storeCard.headerFields?.find(({ key }) => key === 'balance')?.value;
  const card = useCard(members[0] ?? '', shown);

  const wallets = useAction(() => order({ do: 'wallets' }));
  const join = useAction(
    async () => {
      const ids: string[] = [];
      for (const { phone, firstName } of people) {
        const body = { programId: program?._id ?? '', firstName };
        const { id, apple } = await data(api.POST('/merchants/me/members', { body }));
        ids.push(id);
        const passUrl = apple.passUrl;
        if (phone === 'iphone') await order({ do: phone, passUrl });
        else await order({ do: phone, passUrl, saveUrl: await saveUrlOf(id) });
      }
      return ids;
    },
    { onDone: setMembers, changes: ['members'] },
  );
  const gesture = useAction(async () => {
    setClickedAt(Date.now());
    await Promise.all(
      members.map(async (id, index) => {
        const name = people[index]?.firstName ?? '';
        add({ at: Date.now(), who: 'console', what: said.clicked(name) });
        const params = { path: { id }, header: { 'Idempotency-Key': newKey() } };
        const body = { delta: 1, ...(message && { changeMessage: message }) };
        const { current } = await data(api.PATCH('/merchants/me/members/{id}/points', { params, body }));
        add({ at: Date.now(), who: 'console', what: said.answered(name, current) });
      }),
    );
  });
  const press = (body: Record<string, unknown>) => order(body).catch((error: Error) => notify('failed', error.message));

  if (!state) return <p className="hint">{isGone ? said.gone : texts.frame.loading}</p>;
  return (
    <>
      {isGone && <p className="banner failed">{said.gone}</p>}
      {!state.wallets && (
        <Panel title={said.phones}>
          <p>{said.noWallets}</p>
          <div>
            <Button kind="primary" isDisabled={wallets.isRunning} onPress={() => wallets.run()}>
              {wallets.isRunning ? said.waiting : said.giveWallets}
            </Button>
          </div>
        </Panel>
      )}
      <div className="columns">
        <Panel title={said.phones}>
          <div className="phones">
            <div className="stack">
              <Iphone name={said.iphone} pass={iphone?.pass} pictures={card.data?.appleImages} empty={said.noCard} />
              <Shown title={iphone?.pass.organizationName} message={iphone?.lockScreen} />
              <Button
                isDisabled={!iphone}
                onPress={() => press({ do: 'flight', on: !iphone?.isOffline })}
                aria-pressed={iphone?.isOffline ?? false}
              >
                {iphone?.isOffline ? said.flightOff : said.flightOn}
              </Button>
            </div>
            <div className="stack">
              <Face card={android?.card} />
              <Shown title={android?.card.accountName ?? undefined} message={android?.lockScreen} />
            </div>
          </div>
        </Panel>
        <Panel title={said.controls}>
          {open.length > 0 && (
            <Select
              name="programId"
              label={said.program}
              value={program?._id ?? ''}
              options={open.map(({ _id, name }) => [_id, name])}
              onChange={setProgramId}
            />
          )}
          <div>
            <Button isDisabled={!state.wallets || join.isRunning} onPress={() => join.run()}>
              {join.isRunning ? said.joining : said.join}
            </Button>
          </div>
          <TextInput name="message" label={said.message} value={message} onChange={setMessage} />
          <div className="row">
            <Button
              kind="primary"
              isDisabled={!iphone || members.length === 0 || gesture.isRunning}
              onPress={() => gesture.run()}
            >
              {said.gesture(program?.fields.primaryLabel ?? '')}
            </Button>
            <Button kind="danger" onPress={() => press({ do: 'kill', name: 'worker' })}>
              {said.killWorker}
            </Button>
            <Button kind="danger" onPress={() => press({ do: 'kill', name: 'temporal' })}>
              {said.killTemporal}
            </Button>
          </div>
        </Panel>
      </div>
      <Panel title={said.log}>
        <Table
          name={said.log}
          rows={hops.toSorted((one, other) => other.at - one.at)}
          keyOf={({ at, who, what }) => `${at} ${who} ${what}`}
          empty={said.noHops}
          columns={[
            { title: said.at, numeric: true, cell: ({ at }) => said.ms(clickedAt === 0 ? -1 : at - clickedAt) },
            { title: said.who, cell: ({ who }) => said.actors[who] },
            {
              title: said.what,
              cell: ({ what, mail }) =>
                mail === undefined ? (
                  what
                ) : (
                  <a href={`${deskUrl}/mails/${mail}`} target="_blank" rel="noreferrer">
                    {what}
                  </a>
                ),
            },
          ]}
        />
      </Panel>
    </>
  );
}

function Shown({ title, message }: { title: string | undefined; message: string | undefined }) {
  return (
    <div className="screen lock-only">
      <LockScreen title={title} message={message} icon={undefined} />
    </div>
  );
}

function Face({ card }: { card: VirtualCard | undefined }) {
  return (
    <figure className="phone android">
      <figcaption>{said.android}</figcaption>
      <div className="screen">
        {card ? (
          <div className="pass google dark" style={{ background: card.background ?? '#3c4043' }}>
            <strong className="google-name">{card.accountName}</strong>
            <div>
              <span className="pass-label">{card.label}</span>
              <span className="pass-primary">{card.balance}</span>
            </div>
            <code>{card.barcode}</code>
          </div>
        ) : (
          <p className="empty">{said.noCard}</p>
        )}
      </div>
    </figure>
  );
}
