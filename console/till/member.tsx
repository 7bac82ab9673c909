// A customer's card: the balance, and what one touch does to it.

import { type FormEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { locale } from '../language.js';
import { useStore } from '../store.js';
import { feedback } from './feedback.js';
import { Title } from './parts.js';
import { balanceOf, programOf, type Shown, undoableOf } from './state.js';
import { changeOf, deedOf, stateOf } from './tapLists.js';
import {
  type Change,
  costOf,
  minorUnits,
  nameOf,
  type Program,
  pointsFor,
  type Reward,
  rewardsReady,
  roomOf,
  type Tap,
} from './taps.js';
import { agoOf, rewardText, texts } from './texts.js';
import type { Till } from './till.js';

const quantities = [1, 2, 3];

type Deed = Change & { delta: number };
type OnTap = (deed: Deed) => void;

function Stamps({ room, onTap }: { room: number | undefined; onTap: OnTap }) {
  if (room === 0) return <p className="hint">{texts.member.full}</p>;
  return (
    <div className="stamps">
      {quantities.map((quantity) => (
        <button
          key={quantity}
          type="button"
          className="primary huge"
          aria-label={`+${quantity}: ${texts.member.stamps(quantity)}`}
          disabled={room !== undefined && quantity > room}
          onClick={() => onTap({ kind: 'earn', quantity, delta: quantity })}
        >
          +{quantity}
        </button>
      ))}
    </div>
  );
}

function Amount({ program, onTap }: { program: Program; onTap: OnTap }) {
  const [text, setText] = useState('');
  const { currency } = program.earn ?? {};
  if (currency === undefined) return <p className="hint">{texts.member.noEarning(program.name)}</p>;
  const amount = minorUnits(text, currency);
  const add = (event: FormEvent): void => {
    event.preventDefault();
    if (amount !== undefined) onTap({ kind: 'earn', amount, currency, delta: pointsFor(program, amount) });
  };
  return (
    <form onSubmit={add}>
      <label htmlFor="amount">{texts.member.amount(currency)}</label>
      <input
        id="amount"
        inputMode="decimal"
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" className="primary huge" disabled={amount === undefined}>
        {texts.member.add}
        {amount !== undefined && ` +${pointsFor(program, amount)}`}
      </button>
    </form>
  );
}

/** What the last touch did. It covers the buttons of the touch, so that a second touch changes nothing. */
function Done({ tap, till }: { tap: Tap; till: Till }) {
  const state = useStore(till.state);
  const { state: now } = tap;
  useEffect(() => {
    if (now === 'waiting') feedback.noted();
    if (now === 'sent') feedback.sent();
  }, [now]);
  const later = state.line === 'off' ? ` ${texts.tap.later}` : '';
  return (
    <div className={`done ${now} ${tap.kind === 'earn' && tap.amount !== undefined ? 'sale' : ''}`}>
      <strong>{deedOf(tap, state)}</strong>
      <span>{now === 'waiting' ? `${texts.tap.noted}.${later}` : stateOf(tap, state)}</span>
    </div>
  );
}

const settlingMs = 700;

/** For a moment after a touch: a wet finger's second one changes nothing. */
function useSettling(doneId: number | undefined): boolean {
  const [settledId, setSettledId] = useState(doneId);
  useEffect(() => {
    const timer = setTimeout(() => setSettledId(doneId), settlingMs);
    return () => clearTimeout(timer);
  }, [doneId]);
  return doneId !== undefined && doneId !== settledId;
}

/** The side for the customer: nothing but name, balance and what is ready. */
function CustomerFace({ name, balance, goal, rewards, onBack }: CustomerFaceProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} className="customer" aria-label={name} onClose={onBack}>
      <p className="name">{name}</p>
      <p className="balance">{balance}</p>
      {goal !== undefined && <p>{texts.member.of(goal)}</p>}
      {rewards.map(({ id, name: reward }) => (
        <p key={id}>{texts.member.ready(rewardText(reward))}</p>
      ))}
      <button type="button" className="primary" onClick={() => dialog.current?.close()}>
        {texts.member.seen}
      </button>
    </dialog>
  );
}

interface CustomerFaceProps {
  name: string;
  balance: string;
  goal: number | undefined;
  rewards: Reward[];
  onBack: () => void;
}

export function MemberScreen({ till, shown, notice }: { till: Till; shown: Shown; notice: ReactNode }) {
  const state = useStore(till.state);
  const [faces, setFaces] = useState(false);
  const [isTapping, setTapping] = useState(false);
  const { code, programId, known, isFresh, doneId } = shown;
  const program = programOf(state, programId);
  const balance = balanceOf(state);
  const name = known ? nameOf(known.member) : code;
  const done = state.taps.find(({ id }) => id === doneId);
  const undone = undoableOf(state, code, Date.now());
  const status = known?.member.status ?? 'active';
  const isActive = status === 'active';
  const ready = program && balance !== undefined ? rewardsReady(program, balance) : (known?.member.rewards ?? []);
  const rewards = isActive ? ready : [];

  const onTap = async (deed: Deed): Promise<void> => {
    if (isTapping) return;
    setTapping(true);
    const isNoted = await till.tap({ ...deed, code, name, ...(programId !== undefined && { programId }) });
    setTapping(false);
    if (!isNoted) feedback.refused();
  };
  const tap: OnTap = (deed) => void onTap(deed);
  const isSettling = useSettling(doneId);
  const goal = program?.style === 'stamps' ? program.goal : undefined;
  const shownBalance = balance === undefined ? '?' : balance.toLocaleString(locale);
  const ofGoal = goal !== undefined ? ` ${texts.member.of(goal)}` : '';
  const isFull = program !== undefined && balance !== undefined && roomOf(program, balance) === 0;
  const redeems = !done || done.kind === 'earn' ? rewards : [];

  return (
    <div className="member" key={code}>
      <div className="card face" aria-live="polite">
        <Title label={`${name}, ${shownBalance}${ofGoal}`} again={doneId}>
          {name}
        </Title>
        <p className="balance">
          {shownBalance}
          <small>{ofGoal}</small>
        </p>
        <p>
          {program && `${program.fields.primaryLabel} · ${program.name}`}
          {known?.member.tier && ` · ${known.member.tier}`}
        </p>
        {known && !isFresh && !state.isFinding && (
          <p className="hint">{texts.member.age(agoOf(Date.now() - known.at))}</p>
        )}
        {!known && <p className="hint">{texts.member.stranger}</p>}
        {status !== 'active' && <p className="problem">{texts.member[status]}</p>}
        {notice}
      </div>
      <div className={isSettling ? 'card deeds settling' : 'card deeds'}>
        {shown.isNotNoted && !isTapping && (
          <p className="alert problem" role="alert">
            <strong>{texts.store.notNoted}</strong> {texts.store.tryAgain}
          </p>
        )}
        <div role="status">{done && <Done key={done.id} tap={done} till={till} />}</div>
        {!done && !program && (
          <>
            <h2>{texts.choose.which}</h2>
            {state.device?.hello?.programs.map(({ _id, name: title }) => (
              <button key={_id} type="button" onClick={() => till.chooseProgram(_id)}>
                {title}
              </button>
            ))}
          </>
        )}
        {!done &&
          isActive &&
          program &&
          (program.style === 'stamps' ? (
            <Stamps room={balance === undefined ? undefined : roomOf(program, balance)} onTap={tap} />
          ) : (
            <Amount program={program} onTap={tap} />
          ))}
        {program &&
          redeems.map((reward) => (
            <button
              key={reward.id}
              type="button"
              className={isFull ? 'reward primary' : 'reward'}
              onClick={() => {
                const cost = costOf(program, reward, balance ?? 0);
                tap({ kind: 'redeem', rewardId: reward.id, cost, delta: -cost });
              }}
            >
              {texts.member.redeem(rewardText(reward.name))}
            </button>
          ))}
        <div className="row">
          {undone && (
            <button type="button" onClick={() => tap({ kind: 'undo', undoes: undone.sequence, delta: -undone.delta })}>
              {texts.member.undoOf(changeOf(undone, state))}
            </button>
          )}
          {done && (
            <button type="button" onClick={till.again}>
              {texts.member.more}
            </button>
          )}
          {balance !== undefined && (
            <button type="button" onClick={() => setFaces(true)}>
              {texts.member.show}
            </button>
          )}
        </div>
        <button type="button" className={done && !isFull ? 'primary' : ''} onClick={till.leave}>
          {texts.member.back}
        </button>
      </div>
      {faces && (
        <CustomerFace
          name={known?.member.firstName ?? ''}
          balance={shownBalance}
          goal={goal}
          rewards={rewards}
          onBack={() => setFaces(false)}
        />
      )}
    </div>
  );
}
