// The live desk of the demo: two virtual phones that hold the cards of members, and a log of every hop of a change. The
// phones and the log come from the desk's process (test/rig/phones/desk.ts); changes are calls of the public API.
import { useEffect, useRef, useState } from 'react';
import { queryClient, useAction, useRead } from '../actions.js';
import { api, data } from '../api.js';
import { useKeyedAction } from '../keyedAction.js';
import { Button, Select, TextInput } from '../parts/form.js';
import { Page, Panel } from '../parts/page.js';
import { isOwner, may } from '../session.js';
import { texts } from '../texts.js';
import { Log } from './deskLog.js';
import { Phones } from './deskPhones.js';
import {
  bothPhones,
  type DeskState,
  deskUrl,
  order,
  patiently,
  press,
  putCard,
  switchOn,
  useDesk,
} from './deskProcess.js';
import { identityOf, isRewardReady, taps } from './deskTaps.js';
import { type Detail, readMember } from './memberDetail.js';

const said = texts.desk;

export function LiveDesk() {
  const lead = isOwner() ? said.lead : said.ownersOnly;
  return (
    <Page title={texts.nav.liveDesk} lead={deskUrl === '' ? said.absent : lead}>
      {deskUrl !== '' && isOwner() && <Desk />}
    </Page>
  );
}

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
