// The live desk of the demo: two virtual phones that hold the cards of members, and a log of every hop of a change. The
// phones and the log come from the desk's process (test/rig/phones/desk.ts); changes are calls of the public API.
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { notify, queryClient, useAction, useRead, useSettled } from '../actions.js';
import { api, data } from '../api.js';
import { type Change, changesOf, type Hop } from '../hops.js';
import { useKeyedAction } from '../keyedAction.js';
import { locale } from '../language.js';
import type { ApplePass, GooglePass } from '../parts/faces.js';
import { Button, Select, TextInput } from '../parts/form.js';
import { Page, Panel } from '../parts/page.js';
import { Android, Iphone, LockScreen, type Pictures } from '../parts/phones.js';
import { isOwner, may } from '../session.js';
import { texts } from '../texts.js';
import { identityOf, isRewardReady, taps } from './deskTaps.js';
import { type Detail, readMember } from './memberDetail.js';
import { nameOf } from './members.js';

const said = texts.desk;

/** Steps whose detail is a request. */
const technical: readonly Hop['what'][] = ['add', 'register', 'list', 'fetch'];
const deskUrl = document.querySelector<HTMLMetaElement>('meta[name=live-desk]')?.content ?? '';

interface Held {
  memberId: string;
  name: string;
  pictures: Pictures;
  lockScreen?: string;
}

type Phone = 'iphone' | 'android';

interface DeskState {
  wallets: boolean;
  /** The service has wallets of the user. */
  hasOwnWallets: boolean;
  phones: {
    iphone: (Held & { pass: ApplePass; isOffline: boolean }) | null;
    android: (Held & { pass: GooglePass }) | null;
  };
}

const keptHops = 200;

async function order(body: Record<string, unknown>): Promise<void> {
  const answer = await fetch(deskUrl, { method: 'POST', credentials: 'include', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
}

function useDesk() {
  const [state, setState] = useState<DeskState>();
  const [hops, setHops] = useState<readonly Hop[]>([]);
  const [isGone, setIsGone] = useState(false);
  useEffect(() => {
    const source = new EventSource(deskUrl, { withCredentials: true });
    source.onopen = () => {
      setIsGone(false);
      setHops([]);
    };
    source.onerror = () => setIsGone(true);
    source.addEventListener('state', ({ data: text }) => setState(JSON.parse(text)));
    source.addEventListener('hop', ({ data: text }) => {
      const hop: Hop = JSON.parse(text);
      setHops((now) => [...now, hop].slice(-keptHops));
    });
    return () => source.close();
  }, []);
  return { state, hops, isGone };
}

export function LiveDesk() {
  const lead = isOwner() ? said.lead : said.ownersOnly;
  return (
    <Page title={texts.nav.liveDesk} lead={deskUrl === '' ? said.absent : lead}>
      {deskUrl !== '' && isOwner() && <Desk />}
    </Page>
  );
}

const waitMs = 500;
const tries = 60;

/** Repeats until there is a value. Throws `failure` after half a minute. */
async function patiently<T>(read: () => Promise<T | undefined>, failure: string): Promise<T> {
  for (let count = 0; count < tries; count += 1) {
    const found = await read();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
  throw new Error(failure);
}

async function putCard(id: string, phones: readonly Phone[]): Promise<void> {
  const member = await readMember(id);
  const card = { memberId: id, name: nameOf(member), passUrl: member.apple.passUrl };
  for (const phone of phones) {
    if (phone === 'iphone') await order({ do: phone, ...card });
    else {
      // The link that saves the card at Google comes with the first pass there.
      const saveUrl = await patiently(async () => (await readMember(id)).google.saveUrl, said.noSaveUrl);
      await order({ do: phone, ...card, saveUrl });
    }
  }
}

/** Puts the card of the newest active member on both phones, one that collects stamps if there is one. */
async function switchOn(): Promise<void> {
  await order({ do: 'wallets' });
  const programs = await data(api.GET('/merchants/me/programs'));
  const programId = programs.find(({ style, archived }) => style === 'stamps' && !archived)?._id;
  const query = { pageSize: 10, ...(programId !== undefined && { programId }) };
  const { items } = await data(api.GET('/merchants/me/members', { params: { query } }));
  const id = items.find(({ status }) => status === 'active')?.id;
  if (id !== undefined) await putCard(id, bothPhones);
}

const bothPhones: readonly Phone[] = ['iphone', 'android'];

/** The card that a link to this page asks for: words of a search, and the program. */
function useWanted(): { of: string; program: string } | undefined {
  const [hash] = useState(() => new URLSearchParams(window.location.hash.slice(1)));
  const of = hash.get('of');
  return of === null ? undefined : { of, program: hash.get('program') ?? '' };
}

const samples = [
  { phone: 'iphone', firstName: 'Ada' },
  { phone: 'android', firstName: 'Grace' },
] as const;
const typingMs = 200;
const newMembersMs = 3_000;

function Desk() {
  const { state, hops, isGone } = useDesk();
  const wanted = useWanted();
  const show = useAction(async ({ of, program }: { of: string; program: string }) => {
    await order({ do: 'wallets' });
    const query = { q: of, pageSize: 1, ...(program && { programId: program }) };
    const id = await patiently(
      async () => (await data(api.GET('/merchants/me/members', { params: { query } }))).items[0]?.id,
      said.nobody(of),
    );
    await putCard(id, bothPhones);
    window.history.replaceState(null, '', window.location.pathname);
  });
  const wallets = useAction(switchOn);
  const isAsked = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the link is followed, or the phones are switched on, once
  useEffect(() => {
    if (!state || isAsked.current) return;
    isAsked.current = true;
    if (wanted) show.run(wanted);
    else if (!state.hasOwnWallets && !state.phones.iphone && !state.phones.android) wallets.run();
  }, [state]);
  const isStarting = state?.wallets === false && (wallets.isRunning || show.isRunning);

  if (!state) return <p className="hint">{isGone ? said.gone : texts.frame.loading}</p>;
  return (
    <>
      {isGone && <p className="banner failed">{said.gone}</p>}
      {!state.wallets && (
        <Panel title={said.switchOn}>
          <p>{said.switchOnHint}</p>
          <div>
            <Button kind="primary" isDisabled={isStarting} onPress={() => wallets.run()}>
              {isStarting ? said.switchingOn : said.switchOn}
            </Button>
          </div>
          <details>
            <summary>{said.technically}</summary>
            <p className="hint">{said.standIns}</p>
          </details>
        </Panel>
      )}
      <div className="desk">
        <Give state={state} />
        <Phones state={state} isBusy={isStarting} isShowing={show.isRunning || wallets.isRunning} />
        <Log hops={hops} />
        <Breakdown />
      </div>
    </>
  );
}

const press = (body: Record<string, unknown>) => order(body).catch((error: Error) => notify('failed', error.message));

function Give({ state: { wallets, phones } }: { state: DeskState }) {
  const [message, setMessage] = useState(said.firstMessage);
  const [programId, setProgramId] = useState('');
  /** The cards that the last tap has changed. */
  const [undoable, setUndoable] = useState<string[]>([]);
  const ids = [...new Set([phones.iphone, phones.android].flatMap((held) => (held ? [held.memberId] : [])))];
  const held = useRead(['member', 'desk', ...ids], () => Promise.all(ids.map(readMember)), { keep: true });
  // A card that changed elsewhere may have a reward that is ready.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the phones tell of a change
  useEffect(() => {
    void queryClient.invalidateQueries({ queryKey: ['member', 'desk'] }, { cancelRefetch: false });
  }, [phones]);
  const programs = useRead(['programs'], () => data(api.GET('/merchants/me/programs')));
  const open = (programs.data ?? []).filter(({ archived }) => !archived);
  const program = programId || held.data?.[0]?.program._id || open.find(({ style }) => style === 'stamps')?._id || '';
  const styles = new Set(held.data?.map(({ program: { style } }) => (style === 'stamps' ? 'stamp' : 'point')));
  const tap = useKeyedAction(
    async ({ act, members }: { act: keyof typeof taps; members: Detail[] }, keyed) => {
      const tapped = members.map(async (member) => {
        await taps[act](member, { message, header: keyed(...identityOf(act, member), message) });
        await order({ do: 'look', memberIds: [member.id] });
      });
      await Promise.all(tapped);
    },
    {
      changes: ['member'],
      onDone: (_, { act, members }) => setUndoable(act === 'undo' ? [] : members.map(({ id }) => id)),
    },
  );
  const enroll = useKeyedAction(
    async (into: string, keyed) => {
      for (const { phone, firstName } of samples) {
        const body = { programId: into, firstName, lastName: said.sample };
        const params = { header: keyed('enroll', body) };
        const { id } = await data(api.POST('/merchants/me/members', { params, body }));
        await putCard(id, [phone]);
      }
    },
    { changes: ['members'] },
  );
  const [style = 'stamp'] = styles;
  const cards = (held.data ?? []).filter(({ id }) => ids.includes(id));
  const offered = [
    { act: 'earn', title: styles.size > 1 ? said.giveEach : said.giveOne[style], members: cards },
    { act: 'redeem', title: said.redeem, members: cards.filter(isRewardReady) },
    { act: 'undo', title: said.undo, members: cards.filter(({ id }) => undoable.includes(id)) },
  ] as const;
  return (
    <Panel title={said.give} needs={['merchants.members:edit', 'till:use']}>
      <TextInput name="message" label={said.message} value={message} onChange={setMessage} />
      <div className="row">
        {offered.map(({ act, title, members }) => (
          <Button
            key={title}
            kind={act === 'earn' ? 'primary' : 'plain'}
            isDisabled={members.length === 0 || tap.isRunning}
            onPress={() => tap.run({ act, members })}
          >
            {title}
          </Button>
        ))}
      </div>
      {ids.length === 0 && <p className="hint">{wallets ? said.firstCard : said.firstPhones}</p>}
      {may('merchants.members:create') && open.length > 0 && (
        <details>
          <summary>{said.samples}</summary>
          <div className="form">
            <Select
              name="programId"
              label={texts.members.program}
              value={program}
              options={open.map(({ _id, name }) => [_id, name])}
              onChange={setProgramId}
            />
            <div>
              <Button isDisabled={!wallets || enroll.isRunning} onPress={() => enroll.run(program)}>
                {enroll.isRunning ? said.joining : said.join}
              </Button>
            </div>
          </div>
        </details>
      )}
    </Panel>
  );
}

interface PhonesProps {
  state: DeskState;
  /** The service starts again. */
  isBusy: boolean;
  isShowing: boolean;
}

function Phones({ state: { wallets, phones }, isBusy, isShowing }: PhonesProps) {
  const [search, setSearch] = useState('');
  const words = useSettled(search, typingMs).trim();
  const query = { pageSize: 20, ...(words && { q: words }) };
  const members = useRead(
    ['members', 'desk', query],
    () => data(api.GET('/merchants/me/members', { params: { query } })),
    { keep: true, everyMs: isBusy ? false : newMembersMs },
  );
  const put = useAction(({ phone, id }: { phone: Phone; id: string }) => putCard(id, [phone]));
  const choice = (phone: Phone) => {
    const held = phones[phone];
    const found = members.data?.items ?? [];
    const isListed = held === null || found.some(({ id }) => id === held.memberId);
    const options = [
      ...(held === null ? [['', said.choose] as const] : []),
      ...(isListed ? [] : [[held.memberId, held.name] as const]),
      ...found.map((member) => [member.id, said.cardOption(nameOf(member), member.program.name)] as const),
    ];
    return (
      <>
        <Select
          name={`${phone}.memberId`}
          label={said.cardOf[phone]}
          value={held?.memberId ?? ''}
          options={options}
          isDisabled={!wallets || put.isRunning || isShowing}
          onChange={(id) => id && put.run({ phone, id })}
        />
        {held && <Link href={`/members/${held.memberId}`}>{said.openMember(held.name)}</Link>}
      </>
    );
  };
  const { iphone, android } = phones;
  const empty = put.isRunning || isShowing ? said.adding : said.noCard;
  return (
    <Panel title={said.phones}>
      <TextInput
        name="search"
        type="search"
        label={said.find}
        hint={said.findHint}
        value={search}
        onChange={setSearch}
      />
      <div className="phones">
        <div className="stack">
          {choice('iphone')}
          <Iphone pass={iphone?.pass} pictures={iphone?.pictures} empty={empty} />
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
          {choice('android')}
          <Android
            pass={android?.pass}
            pictures={android?.pictures}
            empty={empty}
            message={android?.lockScreen ?? ''}
          />
          <Shown title={android?.pass.class.programName} message={android?.lockScreen} />
        </div>
      </div>
    </Panel>
  );
}

function Shown({ title, message }: { title: string | undefined; message: string | undefined }) {
  return (
    <div className="screen lock-only">
      <LockScreen title={title} message={message} icon={undefined} />
    </div>
  );
}

function Breakdown() {
  return (
    <Panel title={said.breakdown}>
      <p>{said.breakdownHint}</p>
      <div className="row">
        <Button kind="danger" onPress={() => press({ do: 'kill', name: 'worker' })}>
          {said.killWorker}
        </Button>
        <Button kind="danger" onPress={() => press({ do: 'kill', name: 'temporal' })}>
          {said.killTemporal}
        </Button>
      </div>
      <p className="hint">{said.breakdownDetail}</p>
    </Panel>
  );
}

const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'medium' });

function Log({ hops }: { hops: readonly Hop[] }) {
  const changes = changesOf(hops);
  return (
    <Panel title={said.log}>
      {changes.length === 0 && <p className="empty">{said.noHops}</p>}
      <div className="hops">
        {changes.map((change) => (
          <Group key={change.start.id} change={change} />
        ))}
      </div>
      <p className="hint">{said.logHint}</p>
    </Panel>
  );
}

function Group({ change: { start, steps } }: { change: Change }) {
  const title = said.hop(start);
  return (
    <section aria-label={title}>
      <h3>
        <time dateTime={new Date(start.at).toISOString()}>{clock.format(start.at)}</time>{' '}
        {start.mail === undefined ? (
          title
        ) : (
          <a href={`${deskUrl}/mails/${start.mail}`} target="_blank" rel="noreferrer">
            {title}
          </a>
        )}
      </h3>
      {start.what === 'changed' && steps.length === 0 && <p className="hint">{said.underWay}</p>}
      {steps.length > 0 && (
        <ol>
          {steps.map((hop) => (
            <li key={hop.id}>
              <span className="number">{said.after(hop.at - start.at)}</span>
              <span>
                {said.hop(hop)} {technical.includes(hop.what) && <small className="hint">{hop.detail}</small>}
              </span>
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}
